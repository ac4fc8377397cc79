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

import functools
import json
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import Csr
from ._solver import Solver

_most_kept = 8
_kept: list[Any] = []  # (options, indptr, indices, data, Solver), the last used last
_lock = threading.Lock()


def forget() -> None:
    """Frees the set-ups that are kept for later solves: those of the last 8 patterns and options."""
    with _lock:
        _kept.clear()


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


def _on_host(options, check, transpose, indptr, indices, data, b):
    # What XLA lends is gone after the call; what is kept is a copy.
    indptr, indices = np.array(indptr, np.int64), np.array(indices, np.int32)
    given = np.asarray(b)
    with _lock:
        solver = _solver_of(options, indptr, indices, np.array(data, np.float64), given.shape[0])
        x, _ = solver.solve(np.asarray(given, np.float64), transpose=transpose, check=check)
    return x.astype(given.dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _solve(options, check, transpose, indptr, indices, data, b):
    call = functools.partial(_on_host, options, check, transpose)
    shape = jax.ShapeDtypeStruct(b.shape, b.dtype)
    return jax.pure_callback(call, shape, indptr, indices, data, b, vmap_method="sequential")


def _forward(options, check, transpose, indptr, indices, data, b):
    x = _solve(options, check, transpose, indptr, indices, data, b)
    return x, (indptr, indices, data, x)


def _backward(options, check, transpose, kept, g):
    indptr, indices, data, x = kept
    adjoint = _solve(options, check, not transpose, indptr, indices, data, g)
    rows = jnp.searchsorted(indptr, jnp.arange(indices.shape[0]), side="right") - 1
    left, right = (x, adjoint) if transpose else (adjoint, x)
    of_data = -left[rows] * right[indices]
    zeros = [np.zeros(i.shape, jax.dtypes.float0) for i in (indptr, indices)]
    return (*zeros, of_data.astype(data.dtype), adjoint)


_solve.defvjp(_forward, _backward)


def solve(indptr: Any, indices: Any, data: Any, b: Any, *, transpose: bool = False,
          check: bool = True, **options: Any) -> jax.Array:
    """x with A x = b (A^T x = b), of b's shape (n,) and type; differentiable in data and b.

    indptr (n + 1), indices, data: a square A in canonical CSR. options are those of
    `tcsolve.Solver`: names, numbers and dicts. float32 arrays are solved for in float64 and rounded;
    tolerances below 1e-6 then ask for more than x can say, and gradients need them tight.

    check=True: a solve that is not solved, forward or backward, ends the computation with the text
    of its verdict, since gradients of an x that has not converged are wrong without a sign of it;
    False: a ConvergenceWarning.
    """
    text = json.dumps(options, sort_keys=True)
    indptr, indices, data, b = (jnp.asarray(v) for v in (indptr, indices, data, b))
    return _solve(text, bool(check), bool(transpose), indptr, indices, data, b)
