# SPDX-License-Identifier: Apache-2.0
"""JAX: solves that can be differentiated, in jit and vmap, on the host.

    x = tcsolve.jax.solve(indptr, indices, data, b, method="gmres", M="ilu", rtol=1e-10)
    jax.grad(lambda data: loss(tcsolve.jax.solve(indptr, indices, data, b)))(data)

With A x = b and the gradient g of x, lambda = A^-T g is that of b, and -lambda_i x_j that of a_ij, on
the pattern of A alone. The backward solve has the set-up of the forward one; of an A that is not
symmetric A^T is set up beside it, once. Derivatives of any order in reverse mode.

Arrays pass through the host: a call waits for them, and copies them from and to a device.
"""
from __future__ import annotations

import atexit
import functools
import json
import threading
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import Csr
from ._errors import ConvergenceWarning, ShapeError
from ._solver import Solver

_most_kept = 8
_kept: list[Any] = []  # (options, indptr, indices, data, Solver), the last used last
_lock = threading.Lock()


def forget() -> None:
    """Frees the set-ups that are kept for later solves: those of the last 8 patterns and options."""
    with _lock:
        _kept.clear()


atexit.register(forget)


def kept():
    """How many set-ups are kept, and their bytes."""
    with _lock:
        return len(_kept), sum(
            solver.memory + sum(a.nbytes for a in arrays if a is not None)
            for _, *arrays, solver in _kept)


def _solver_of(options, indptr, indices, data, n):
    """The set-up for this matrix; that of another one on its pattern takes the values."""
    same = next((k for k, (o, p, c, _, _) in enumerate(_kept)
                 if o == options and np.array_equal(p, indptr) and np.array_equal(c, indices)), None)
    if same is None:
        solver, values = Solver(**json.loads(options)), None
    else:
        _, indptr, indices, values, solver = _kept.pop(same)
    csr = Csr((n, n), indptr, indices, data, None)
    if values is None:
        solver.set_matrix(csr)
    elif not np.array_equal(values, data):
        solver.update_values(csr)
        values = None
    else:
        data = values
    _kept.append((options, indptr, indices, data, solver))
    del _kept[:-_most_kept]
    return solver


def _columns(solver, b, transpose, check):
    """x and what is solved, for b of (several, n, k): one solve of all columns."""
    several, n, k = b.shape
    columns = b.transpose(1, 0, 2).reshape(n, several * k)
    if columns.shape[1] == 0:
        return b, np.ones(several, bool)
    if columns.shape[1] == 1:
        one = np.ascontiguousarray(columns[:, 0])
        x, info = solver.solve(one, transpose=transpose, check=check)
        infos = (info,)
    else:
        x, infos = solver.solve(columns, transpose=transpose, check=check)
    solved = np.array([info.solved for info in infos]).reshape(several, k).all(1)
    return x.reshape(n, several, k).transpose(1, 0, 2), solved


def _on_host(options, check, transpose, columns, indptr, indices, data, b, good):
    """x, and whether it is solved. In a vmap each array has an axis in front of its own, of length
    1 where it is the same for all: b of one matrix are columns of one solve."""
    if not np.all(good):
        warnings.warn("the gradient of an x that is not solved", ConvergenceWarning, stacklevel=2)
    # What XLA lends is gone after the call; what is kept is a copy.
    indptr, indices = np.array(indptr, np.int64), np.array(indices, np.int32)
    data, b, kind = np.array(data, np.float64), np.asarray(b, np.float64), np.asarray(b).dtype
    own = 2 if columns else 1
    n = b.shape[-own]
    front = np.broadcast_shapes(*(a.shape[:-1] for a in (indptr, indices, data)))
    batch = np.broadcast_shapes(front, b.shape[:-own], np.shape(good))
    b = np.broadcast_to(b, batch + b.shape[-own:])
    x, solved = np.empty(b.shape, kind), np.empty(batch, bool)
    with _lock:
        for matrix in np.ndindex(front):
            of_matrix = (np.broadcast_to(a, front + a.shape[-1:])[matrix]
                         for a in (indptr, indices, data))
            solver = _solver_of(options, *(np.ascontiguousarray(a) for a in of_matrix), n)
            here = tuple(slice(None) if front[k] == 1 else i for k, i in enumerate(matrix))
            of_b = b[here]
            several = of_b.shape[: of_b.ndim - own]
            y, well = _columns(solver, of_b.reshape(int(np.prod(several)), n, -1), transpose, check)
            x[here], solved[here] = y.reshape(of_b.shape), well.reshape(several)
    return x, solved


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _solve(options, check, transpose, indptr, indices, data, b, good):
    """x, and whether it is solved. good: the same of what b is made of."""
    call = functools.partial(_on_host, options, check, transpose, b.ndim == 2)
    told = (jax.ShapeDtypeStruct(b.shape, b.dtype), jax.ShapeDtypeStruct((), np.bool_))
    return jax.pure_callback(call, told, indptr, indices, data, b, good, vmap_method="expand_dims")


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
    n = indptr.shape[0] - 1 if indptr.ndim == 1 else -1
    if n < 0 or indices.ndim != 1 or data.shape != indices.shape:
        raise ShapeError(f"indptr, indices, data have shapes {indptr.shape}, {indices.shape}, "
                         f"{data.shape}; they are (n + 1,), (entries,), (entries,)")
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise ShapeError(f"b has shape {b.shape}; A has {n} rows")
    return _solve(text, bool(check), bool(transpose), indptr, indices, data, b, np.True_)[0]
