# SPDX-License-Identifier: Apache-2.0
"""solve(A, b): a system that is solved once."""
import os
import threading

from ._solver import Solver, _device_for, _is_given_M, _place, _say, _Sized

# One-shot solves of the same options share a Context and what was read of the options, each thread
# by itself. A solve takes it out of here: another one that a callback begins meanwhile gets its own.
_kept = threading.local()
_most_kept = 32


def _forget():
    _kept.__dict__.clear()


os.register_at_fork(after_in_child=_forget)


def _places():
    return _kept.__dict__.setdefault("places", {})


def _put_back(key, place):
    places = _places()
    if len(places) >= _most_kept:
        places.pop(next(iter(places)))
    places[key] = place


def solve(A, b, x0=None, *, rtol=1e-8, atol=0.0, maxiter=None, time_limit=None, method="auto",
          M=None, callback=None, every=1, transpose=False, symmetric=None, nullspace=None,
          options=None, device=None, threads=0, check=False):
    """x, info: solves A x = b once. `Solver` keeps what is set up, for more than one b.

    Parameters are those of `Solver` and `Solver.solve`. method "auto" goes by the entries of A, and
    tries another method where one fails; `maxiter` counts the iterations of all.
    """
    if options is not None and method == "auto":
        method = None
    if not hasattr(A, "matvec") and not hasattr(A, "shape") and callable(A):
        A = _Sized(A, len(b))
    plain = options is None and nullspace is None and not isinstance(method, dict)
    shared = plain and not isinstance(M, dict) and not _is_given_M(M)
    if device is None:
        device = _device_for(A, M, b)
    key = (method, M, symmetric, str(device), threads) if shared else None
    place = _places().pop(key, None) if shared else None
    if place is None:
        place = _place(options, method, M, symmetric, nullspace, device, threads, None, {})
    solver = Solver.__new__(Solver)
    solver._M = M if _is_given_M(M) else None
    solver._init(place, True)
    try:
        solver.set_matrix(A)
        x, info = solver._solve(b, x0, None, rtol, atol, maxiter, time_limit, transpose, callback,
                                every, None)
    finally:
        solver.close()
        if shared:
            _put_back(key, place)
    if not info.solved:
        _say(x, info, check, 3)
    return x, info
