# SPDX-License-Identifier: Apache-2.0
"""JAX: solves that can be differentiated, in jit and vmap, on the host and on devices.

    x = tcsolve.jax.solve(indptr, indices, data, b, method="gmres", M="ilu", rtol=1e-10)
    jax.grad(lambda data: loss(tcsolve.jax.solve(indptr, indices, data, b)))(data)

With A x = b and the gradient g of x, lambda = A^-T g is that of b, and -lambda_i x_j that of a_ij, on
the pattern of A alone. The backward solve has the set-up of the forward one; of an A that is not
symmetric A^T is set up beside it, once. Derivatives of any order in reverse mode.

A solve is a custom call of XLA, which has the buffers where they lie: on a device nothing passes
through the host but numbers of the size of a verdict. The computation's thread waits for it.
"""
from __future__ import annotations

import atexit
import functools
import itertools
import json
import math
import threading
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import _core
from ._errors import ConvergenceWarning, ShapeError
from ._info import Info, Infos
from ._solver import Solver, _say

_most_kept = 8
_kept: list[Any] = []  # (options, indptr, indices, data, Solver), the last used last
_lock = threading.Lock()
_as_the_options_say = (None, None, None, None)

jax.ffi.register_ffi_target("tcsolve_solve", _core.xla_handler(False), platform="cpu")
if _core.has_cuda:
    jax.ffi.register_ffi_target("tcsolve_solve", _core.xla_handler(True), platform="CUDA")


def forget() -> None:
    """Frees the set-ups that are kept for later solves: those of the last 8 patterns and options."""
    with _lock:
        _kept.clear()


atexit.register(forget)


def kept():
    """How many set-ups are kept, and their bytes."""
    with _lock:
        return len(_kept), sum(solver.memory + sum(a.size * a.bits // 8 for a in arrays)
                               for _, *arrays, solver in _kept)


class _Memory:
    """Numbers by their address: a buffer of XLA's for the time of a call, or an array of ours."""

    def __init__(self, address, shape, kind, bits, device, owner=None):
        self.address, self.shape, self.kind, self.bits = address, tuple(shape), kind, bits
        self.device, self.owner, self.size = device, owner, math.prod(self.shape)

    @classmethod
    def of(cls, array, size, kind, bits, device):
        """An array of the compiled part."""
        return cls(_core.address_of(array), (size,), kind, bits, device, array)

    def part(self, index, own):
        """What lies behind an index of the axes before the last `own`. In a vmap each array has an
        axis in front of its own, of length 1 where it is the same for all."""
        at = 0
        for i, extent in zip(index, self.shape[:-own]):
            at = at * extent + (i if extent > 1 else 0)
        return self.slice(at * math.prod(self.shape[-own:]), self.shape[-own:])

    def slice(self, begin, shape):
        return _Memory(self.address + begin * self.bits // 8, shape, self.kind, self.bits,
                       self.device, self.owner)

    def array(self, shape=None, read_only=True):
        """What the compiled part takes: all numbers in a row, or columns one after another."""
        return _core.by_address(self.address, shape or (self.size,), self.kind, self.bits,
                                read_only, self.owner or self, self.device, True)

    def room(self, shape=None):
        return self.array(shape, read_only=False)


def _solver_of(options, indptr, indices, data, stream):
    """The set-up for this matrix; that of another one on its pattern takes the values."""
    device, n = indptr.device, indptr.size - 1
    given = [a.array() for a in (indptr, indices, data)]
    for at, (text, p, c, v, solver) in enumerate(_kept):
        if (text, p.device, p.size, c.size) != (options, device, n + 1, indices.size):
            continue
        core = solver._core
        if not (core.same(p.array(), given[0], stream) and core.same(c.array(), given[1], stream)):
            continue
        entry = _kept.pop(at)  # what fails on the way is not kept
        values = given[2] if data.bits == 64 else core.owned(given[2], "float64", stream)
        if not core.same(v.array(), values, stream):
            core.convert(values, v.room(), stream)
            core.update(n, n, p.array(), c.array(), v.array(), 0)
        _kept.append(entry)
        return solver
    solver = Solver(device="cpu" if device < 0 else f"cuda:{device}", **json.loads(options))
    core = solver._core
    # What XLA lends is gone after the call; what is kept is a copy.
    types = (("i", indptr.bits), ("i", 32), ("f", 64))
    own = [_Memory.of(core.owned(a.array(), f"{'int' if kind == 'i' else 'float'}{bits}", stream),
                      a.size, kind, bits, device)
           for a, (kind, bits) in zip((indptr, indices, data), types)]
    core.set_csr(n, n, *(a.array() for a in own), True, 0)
    _kept.append((options, *own, solver))
    del _kept[:-_most_kept]
    return solver


def _in_a_row(core, parts, stream, read):
    """The parts as FP64 numbers in a row: where they lie, or in memory of ours, filled if `read`."""
    first = parts[0]
    if first.bits == 64 and all(part.address == first.address + 8 * k * first.size
                                for k, part in enumerate(parts)):
        return first.slice(0, (len(parts) * first.size,)), False
    size = len(parts) * first.size
    row = _Memory.of(core.empty(size, -1), size, "f", 64, first.device)
    if read:
        for k, part in enumerate(parts):
            core.convert(part.array(), row.slice(k * part.size, (part.size,)).room(), stream)
    return row, True


def _solved(core, b, x, n, columns, transpose, stream):
    """The verdict on x, for `columns` vectors b of n numbers, one behind another."""
    asked = (*_as_the_options_say, transpose, True, None, 1, stream)
    if columns == 1:
        return Info(core.solve(b.array(), x.room(), *asked))
    shape = (n, columns)
    return Infos(Info(t) for t in core.solve_columns(b.array(shape), x.room(shape), *asked))


def _on_buffers(device, stream, asked, buffers):
    """A call of XLA's: b and x are (n,), or (k, n) with `columns`; b of one matrix are columns of
    one solve."""
    indptr, indices, data, b, good, x, solved = (_Memory(*buffer, device) for buffer in buffers)
    own = 2 if asked["columns"] else 1
    n, of_one = b.shape[-1], math.prod(b.shape[-own:-1])
    front = np.broadcast_shapes(*(a.shape[:-1] for a in (indptr, indices, data)))
    well = np.ones(solved.shape, np.uint8)
    with _lock:
        for matrix in np.ndindex(front):
            solver = _solver_of(asked["options"],
                                *(a.part(matrix, 1) for a in (indptr, indices, data)), stream)
            core = solver._core
            places = list(itertools.product(*(
                range(extent) if front[k] == 1 else (matrix[k],)
                for k, extent in enumerate(solved.shape))))
            if of_one == 0:
                continue
            rhs, _ = _in_a_row(core, [b.part(place, own) for place in places], stream, True)
            parts = [x.part(place, own) for place in places]
            answer, ours = _in_a_row(core, parts, stream, False)
            info = _solved(core, rhs, answer, n, of_one * len(places), bool(asked["transpose"]),
                           stream)
            if ours:
                for k, part in enumerate(parts):
                    core.convert(answer.slice(k * part.size, (part.size,)).array(), part.room(), 0)
            if not info.solved:
                _say(None, info, asked["check"], 2)
            told = [i.solved for i in info] if isinstance(info, Infos) else [info.solved]
            for k, place in enumerate(places):
                well[place] = all(told[k * of_one:(k + 1) * of_one])
        was_good = np.empty(good.size, np.uint8)
        core.convert(good.array(), was_good, stream)
        core.convert(well.reshape(-1), solved.room(), 0)
    if not was_good.all():
        warnings.warn("the gradient of an x that is not solved", ConvergenceWarning, stacklevel=2)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _solve(options, check, transpose, indptr, indices, data, b, good):
    """x, and whether it is solved. good: the same of what b is made of."""
    rows = b.T  # each column of b in a row of its own
    told = (jax.ShapeDtypeStruct(rows.shape, b.dtype), jax.ShapeDtypeStruct((), np.bool_))
    call = jax.ffi.ffi_call("tcsolve_solve", told, vmap_method="expand_dims")
    x, solved = call(indptr, indices, data, rows, good, options=options, check=np.int64(check),
                     transpose=np.int64(transpose), columns=np.int64(b.ndim == 2))
    return x.T, solved


def _forward(options, check, transpose, indptr, indices, data, b, good):
    x, solved = _solve(options, check, transpose, indptr, indices, data, b, good)
    return (x, solved), (indptr, indices, data, x, solved)


def _backward(options, check, transpose, kept, g):
    indptr, indices, data, x, solved = kept
    adjoint, _ = _solve(options, check, not transpose, indptr, indices, data, g[0], solved)
    rows = jnp.searchsorted(indptr, jnp.arange(indices.shape[0]), side="right") - 1
    left, right = (x, adjoint) if transpose else (adjoint, x)
    of_data = -left[rows] * right[indices]
    if x.ndim == 2:
        of_data = of_data.sum(1)
    none = [np.zeros(a.shape, jax.dtypes.float0) for a in (indptr, indices, solved)]
    return (*none[:2], of_data.astype(data.dtype), adjoint, none[2])


_solve.defvjp(_forward, _backward)


def solve(indptr: Any, indices: Any, data: Any, b: Any, *, transpose: bool = False,
          check: bool = True, **options: Any) -> jax.Array:
    """x with A x = b (A^T x = b), of b's shape (n,) or (n, k) and type; differentiable in data, b.

    indptr (n + 1), indices, data: a square A in canonical CSR. options are those of
    `tcsolve.Solver`: names, numbers and dicts. float32 arrays are solved for in float64 and rounded;
    tolerances below 1e-6 then ask for more than x can say, and gradients need them tight.

    check=True: a solve that is not solved, forward or backward, ends the computation with the text
    of its verdict, since gradients of an x that has not converged are wrong without a sign of it;
    False: a ConvergenceWarning, and another one when the gradient of such an x is asked for.

    In a vmap over b alone all b are columns of one solve; matrices come one after another. Raises
    ShapeError where the shapes do not fit.
    """
    text = json.dumps(options, sort_keys=True)
    indptr, indices, data, b = (jnp.asarray(v) for v in (indptr, indices, data, b))
    if "device" in options:
        raise TypeError("device: a solve of tcsolve.jax is where JAX has its arrays")
    n = indptr.shape[0] - 1 if indptr.ndim == 1 else -1
    if n < 0 or indices.ndim != 1 or data.shape != indices.shape:
        raise ShapeError(f"indptr, indices, data have shapes {indptr.shape}, {indices.shape}, "
                         f"{data.shape}; they are (n + 1,), (entries,), (entries,)")
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise ShapeError(f"b has shape {b.shape}; A has {n} rows")
    if indptr.dtype not in (np.int32, np.int64):
        indptr = indptr.astype(np.int32)
    x: jax.Array = _solve(text, bool(check), bool(transpose), indptr, indices.astype(np.int32),
                          _real(data), _real(b), np.True_)[0]
    return x.astype(b.dtype) if jnp.issubdtype(b.dtype, jnp.floating) else x


def _real(a: jax.Array) -> jax.Array:
    """a in float64 or float32."""
    if a.dtype in (np.float64, np.float32):
        return a
    if jnp.issubdtype(a.dtype, jnp.complexfloating):
        raise ShapeError("complex numbers; (A + iB)(x + iy) = f + ig is the real system "
                         "[A -B; B A] of twice the size")
    return a.astype(jnp.promote_types(a.dtype, np.float32))
