# SPDX-License-Identifier: Apache-2.0
"""solve(A, b): a system that is solved once."""
from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from ._arrays import is_function
from ._options import device_for, is_given_M, place
from ._solver import Solver, _say, _Sized

# One-shot solves of the same options share a Context and what was read of the options, each thread
# by itself. A solve takes it out of here: another one that a callback begins meanwhile gets its own.
_kept = threading.local()
_most_kept = 32


def _forget():
    _kept.__dict__.clear()


os.register_at_fork(after_in_child=_forget)


def _places():
    return _kept.__dict__.setdefault("places", {})


def _put_back(key, where):
    places = _places()
    if len(places) >= _most_kept:
        places.pop(next(iter(places)))
    places[key] = where


def solve(A: Any, b: Any, x0: Any = None, *, rtol: float | None = None, atol: float | None = None,
          maxiter: int | None = None, time_limit: float | None = None,
          method: str | dict[str, Any] | None = "auto", M: Any = None,
          callback: Callable[[int, float], object] | None = None, every: int = 1,
          transpose: bool = False, symmetric: bool | None = None, nullspace: Any = None,
          options: dict[str, Any] | str | None = None, device: str | None = None, threads: int = 0,
          check: bool = False) -> tuple[Any, Any]:
    """x, info: solves A x = b once. `Solver` keeps what is set up, for more than one b.

    Parameters are those of `Solver` and `Solver.solve`; rtol is 1e-8 unless it is given, here or in the
    options. method "auto" goes by the entries of A, and
    tries another method where one fails; `maxiter` counts the iterations of all.
    """
    if options is not None and method == "auto":
        method = None
    if is_function(A):
        A = _Sized(A, len(b))
    plain = options is None and nullspace is None and not isinstance(method, dict)
    shared = plain and not isinstance(M, dict) and not is_given_M(M)
    if device is None:
        device = device_for(A, M, b)
    key = (method, M, symmetric, str(device), threads) if shared else None
    where = _places().pop(key, None) if shared else None
    if where is None:
        where = place(options, method, M, symmetric, nullspace, device, threads, None, {})
    solver = Solver.__new__(Solver)
    solver._M = M if is_given_M(M) else None
    solver._init(where, True)
    try:
        solver.set_matrix(A)
        x, info = solver._solve(b, x0, None, rtol, atol, maxiter, time_limit, transpose, callback,
                                every, None)
    finally:
        solver.close()
        if shared:
            _put_back(key, where)
    if not info.solved:
        _say(x, info, check, 3)
    return x, info
