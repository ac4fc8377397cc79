# SPDX-License-Identifier: Apache-2.0
"""solve(A, b): a system that is solved once."""
from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ._arrays import is_function, is_operator
from ._options import device_for, is_given_M, place
from ._solver import Solver, _say, _Sized

# One-shot solves of the same options share a Context and what was read of the options, each thread
# by itself. A solve takes it out of here: another one that a callback begins gets its own.
_kept = threading.local()
_most_kept = 32


class _Places(dict[Any, Any]):
    """Of one thread."""

    __hash__ = object.__hash__  # type: ignore[assignment]


_of_threads: weakref.WeakSet[_Places] = weakref.WeakSet()


def _places():
    places = _kept.__dict__.get("places")
    if places is None:
        places = _kept.places = _Places()
        with _lock:
            _of_threads.add(places)
    return places


def _put_back(key, where):
    places = _places()
    if len(places) >= _most_kept:
        places.pop(next(iter(places)))
    places[key] = where


def _all():
    with _lock:
        return list(_of_threads)


def _forget():
    """All that is not at work, of every thread: a Context is not to outlive what it stands on."""
    for places in _all():
        places.clear()


def _after_fork():
    global _lock
    _lock = threading.Lock()
    _kept.__dict__.clear()


def kept():
    """How many Contexts are kept, and the bytes of their workspaces."""
    count, total = 0, 0
    for places in _all():
        for key in list(places):
            where = places.pop(key, None)  # so that no solve takes it meanwhile
            if where is not None:
                count, total = count + 1, total + where.memory
                places[key] = where
    return count, total


_lock = threading.Lock()
os.register_at_fork(after_in_child=_after_fork)
atexit.register(_forget)


# Told from what a caller gives by being these objects: options may say otherwise.
_rtol, _atol = 1e-8, 0.0


def solve(A: Any, b: Any, x0: Any = None, *, rtol: float | None = _rtol,
          atol: float | None = _atol, maxiter: int | None = None, time_limit: float | None = None,
          method: str | dict[str, Any] | None = "auto", M: Any = "auto",
          callback: Callable[[int, float], object] | None = None, every: int = 1,
          transpose: bool = False, symmetric: bool | None = None, nullspace: Any = None,
          options: dict[str, Any] | str | None = None, device: str | None = None, threads: int = 0,
          check: bool = False) -> tuple[Any, Any]:
    """x, info: solves A x = b once. `Solver` keeps what is set up, for more than one b.

    Parameters are those of `Solver` and `Solver.solve`. The defaults of rtol, atol, method and M
    give way to what `options` say. method "auto" goes by the entries of A, and tries another
    method where one fails; `maxiter` counts the iterations of all. M "auto" does so beside a method
    that is named, too; where A is a function or a LinearOperator, which has no entries to be seen,
    it is no preconditioner. M=None is none in any case (of a `Solver`, it is the default).
    """
    if rtol is _rtol:
        rtol = None
    if atol is _atol:
        atol = None
    if options is not None and method == "auto":
        method = None
    if isinstance(M, str) and M == "auto":
        told = isinstance(options, str) or (options is not None and "preconditioner" in options)
        M = None if told else "none" if is_operator(A) else "auto"
    elif M is None and not isinstance(options, str):
        M = "none"
    if is_function(A):
        A = _Sized(A, len(b))
    plain = options is None and nullspace is None and not isinstance(method, dict)
    shared = plain and not isinstance(M, dict) and not is_given_M(M)
    why = None
    if device is None:
        device, why = device_for(A, M, b)
    key = (method, M, symmetric, str(device), threads) if shared else None
    where = _places().pop(key, None) if shared else None
    if where is None:
        where = place(options, method, M, symmetric, nullspace, device, threads, None, {})
    solver = Solver.__new__(Solver)
    solver._M = M if is_given_M(M) else None
    solver._init(where, True, why)
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
