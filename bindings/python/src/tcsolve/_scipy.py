# SPDX-License-Identifier: Apache-2.0
"""The names and defaults of scipy.sparse.linalg, with a verdict in the place of its number."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import is_function
from ._info import Info
from ._packages import is_array
from ._solver import Solver, _say, _Sized


def _run(method, A, b, x0, rtol, atol, maxiter, M, callback, keys):
    if is_function(A):
        A = _Sized(A, len(b))
    b = b if is_array(b) else np.asarray(b)
    column = b.ndim == 2 and b.shape[1] == 1  # SciPy takes (n, 1), and returns (n,)
    if column:
        b = b.reshape(-1)
    n = b.shape[0]
    if maxiter is None:
        maxiter = 10 * n
    each = None if callback is None else (lambda iteration, norm: callback(norm) is not False)
    with Solver(A, method={"type": method, **keys}, M=M) as solver:
        if x0 is not None:
            x0 = (x0 if is_array(x0) else np.asarray(x0)).reshape(-1)
        x, info = solver._solve(b, x0, None, rtol, atol, maxiter,
                                None, False, each, 1, None)
    if not info.solved:
        _say(x, info, False, 4)
    return x, info


_doc = """{what}

    Signature, defaults and stopping rule, ||b - A x|| <= max(rtol ||b||, atol), are those of
    scipy.sparse.linalg.{name}, but for `info`, which is 0 or greater as a number and a verdict
    (`info.solved`, `info.message`), and for `callback`, which is given the norm of the residual by
    the method's account. M approximates A^-1: a LinearOperator, a function, a Solver, or the name
    of a preconditioner as "jacobi" or "ilu".

    Returns
    -------
    x : array of b's type
    info : Info
    """


def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
       maxiter: int | None = None, M: Any = None,
       callback: Callable[[float], object] | None = None) -> tuple[Any, Info]:
    return _run("cg", A, b, x0, rtol, atol, maxiter, M, callback, {})


def minres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
           maxiter: int | None = None, M: Any = None,
           callback: Callable[[float], object] | None = None) -> tuple[Any, Info]:
    return _run("minres", A, b, x0, rtol, atol, maxiter, M, callback, {})


def bicgstab(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
             maxiter: int | None = None, M: Any = None,
             callback: Callable[[float], object] | None = None) -> tuple[Any, Info]:
    return _run("bicgstab", A, b, x0, rtol, atol, maxiter, M, callback, {})


def gmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
          restart: int | None = None, maxiter: int | None = None, M: Any = None,
          callback: Callable[[float], object] | None = None) -> tuple[Any, Info]:
    restart = min(20 if restart is None else restart, max(1, len(b)))
    # SciPy counts restarts.
    inner = None if maxiter is None else maxiter * restart
    return _run("gmres", A, b, x0, rtol, atol, inner, M, callback, {"restart": restart})


def lsmr(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-6, atol: float = 0.0,
         maxiter: int | None = None, M: Any = None,
         callback: Callable[[float], object] | None = None) -> tuple[Any, Info]:
    return _run("lsmr", A, b, x0, rtol, atol, maxiter, M, callback, {"least_squares": True})


for _f, _what in (
    (cg, "Conjugate gradients: A symmetric positive definite."),
    (minres, "MINRES: A symmetric."),
    (bicgstab, "BiCGStab: any square A."),
    (gmres, "Restarted GMRES: any square A. `maxiter` counts restarts, as SciPy's does."),
    (lsmr, "LSMR: least squares, A of any shape. atol is the tolerance of the residual's norm."),
):
    _f.__doc__ = _doc.format(what=_what, name=_f.__name__)
__all__ = ["cg", "minres", "bicgstab", "gmres", "lsmr"]
