# SPDX-License-Identifier: Apache-2.0
"""The names and defaults of scipy.sparse.linalg, with a verdict in the place of its number."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import is_function
from ._errors import Unsupported
from ._info import Info
from ._packages import is_array
from ._solver import Solver, _say, _Sized

_log = 'see logging.getLogger("tcsolve"), or give a callback'


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
    if isinstance(x0, str):
        raise Unsupported(f"x0={x0!r}; give an array, as M @ b")
    each = None if callback is None else (lambda iteration, norm: callback(norm) is not False)
    with Solver(A, method={"type": method, **keys}, M=M) as solver:
        if x0 is not None:
            x0 = (x0 if is_array(x0) else np.asarray(x0)).reshape(-1)
        x, info = solver._solve(b, x0, None, rtol, atol, maxiter,
                                None, False, each, 1, None)
    if not info.solved:
        _say(x, info, False, 4)
    return x, info


def _refuse(name, **given):
    """What SciPy's function can and this one cannot: {keyword: (value, default, remedy)}."""
    for keyword, (value, default, remedy) in given.items():
        if value != default:
            raise Unsupported(f"{name}: {keyword}={value!r}; {remedy}")


_doc = """{what}

    Signature, defaults and stopping rule, ||b - A x|| <= max(rtol ||b||, atol), are those of
    scipy.sparse.linalg.{name}, but for `info`, which is 0 or greater as a number and a verdict
    (`info.solved`, `info.message`), and for `callback`, which is given the norm of the residual by
    the method's account in the place of x: that stays with the method, on a device or in a basis,
    until the solve ends. A callback that returns False ends it. M approximates A^-1: a
    LinearOperator, a function, a Solver, or the name of a preconditioner as "jacobi" or "ilu".

    Returns
    -------
    x : array of b's type
    info : Info
    """


def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
       maxiter: int | None = None, M: Any = None,
       callback: Callable[[float], object] | None = None) -> tuple[Any, Info]:
    return _run("cg", A, b, x0, rtol, atol, maxiter, M, callback, {})


def minres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, shift: float = 0.0,
           maxiter: int | None = None, M: Any = None,
           callback: Callable[[float], object] | None = None, show: bool = False,
           check: bool = False, atol: float = 0.0) -> tuple[Any, Info]:
    _refuse("minres", shift=(shift, 0, "give A - shift I"), show=(show, False, _log),
            check=(check, False, "compare A with A.T before"))
    return _run("minres", A, b, x0, rtol, atol, maxiter, M, callback, {})


def bicgstab(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
             maxiter: int | None = None, M: Any = None,
             callback: Callable[[float], object] | None = None) -> tuple[Any, Info]:
    return _run("bicgstab", A, b, x0, rtol, atol, maxiter, M, callback, {})


def gmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
          restart: int | None = None, maxiter: int | None = None, M: Any = None,
          callback: Callable[[float], object] | None = None,
          callback_type: str | None = None) -> tuple[Any, Info]:
    restart = min(20 if restart is None else restart, max(1, len(b)))
    # SciPy counts restarts, but in its legacy callbacks.
    inner = maxiter
    if maxiter is not None and (callback is None or callback_type != "legacy"):
        inner = maxiter * restart
    if callback_type not in (None, "pr_norm", "legacy"):
        if callback_type != "x":
            raise ValueError(f"callback_type={callback_type!r}: 'pr_norm' or 'legacy'")
        raise Unsupported("gmres: callback_type='x'; there is no x until a restart ends")
    each = callback
    if callback is not None and callback_type is not None:
        given = b if is_array(b) else np.asarray(b)
        whole = float((given * given).sum()) ** 0.5 or 1.0

        def each(norm):
            return callback(norm / whole)

    return _run("gmres", A, b, x0, rtol, atol, inner, M, each, {"restart": restart})


def lsmr(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-6, atol: float = 0.0,
         maxiter: int | None = None, M: Any = None,
         callback: Callable[[float], object] | None = None, damp: float = 0.0, btol: float = 1e-6,
         conlim: float = 1e8, show: bool = False) -> tuple[Any, Info]:
    _refuse("lsmr", damp=(damp, 0, "give [A; damp I] and [b; 0]"), btol=(btol, 1e-6, "give rtol"),
            conlim=(conlim, 1e8, "there is no limit of the condition"), show=(show, False, _log))
    return _run("lsmr", A, b, x0, rtol, atol, maxiter, M, callback, {"least_squares": True})


for _f, _what in (
    (cg, "Conjugate gradients: A symmetric positive definite."),
    (minres, "MINRES: A symmetric. Of `shift`, `show` and `check` the defaults alone are taken."),
    (bicgstab, "BiCGStab: any square A."),
    (gmres, """Restarted GMRES: any square A. `maxiter` counts restarts, as SciPy's does. With
    callback_type 'pr_norm' the norm is divided by that of b, with 'legacy' `maxiter` counts
    iterations, too; 'x' is Unsupported."""),
    (lsmr, """LSMR: least squares, A of any shape. rtol is SciPy's btol; atol, which is another one
    than SciPy's, is the tolerance of the residual's norm. Of `damp`, `btol`, `conlim` and `show`
    the defaults alone are taken; x0 comes third."""),
):
    _f.__doc__ = _doc.format(what=_what, name=_f.__name__)
__all__ = ["cg", "minres", "bicgstab", "gmres", "lsmr"]
