# SPDX-License-Identifier: Apache-2.0
"""Keywords as the text of options that the library reads, and where to compute."""
import json

import numpy as np

from . import _arrays, _core, _packages
from ._errors import ShapeError

AUTO = '{"solver": {"type": "auto"}, "preconditioner": {"type": "auto"}}'


def _plain(value):
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (np.generic,)):
        value = value.item()
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    return value


def _block(value, what):
    if value is None:
        return {"type": "none"}
    if isinstance(value, str):
        return {"type": value}
    if isinstance(value, dict):
        if "type" not in value:
            raise TypeError(f"{what}: a dict with 'type'")
        return dict(value)
    raise TypeError(f"{what}: a name, a dict with 'type', or None")


def is_given_M(M):
    return M is not None and not isinstance(M, (str, dict))


def _options_text(options, method, M, symmetric, device, threads, keys):
    """The options as the library reads them, and the ordinal of the device."""
    if isinstance(options, str):
        if keys or method is not None or M is not None or symmetric is not None:
            raise TypeError("options as text stand alone: the other keywords have their place in it")
        return options, ordinal(device)[1]
    tree = dict(options or {})
    if method is not None or "solver" not in tree:
        tree["solver"] = _block("auto" if method is None else method, "method")
    elif isinstance(tree["solver"], str):
        tree["solver"] = _block(tree["solver"], "solver")
    if is_given_M(M):
        tree["preconditioner"] = {"type": "none"}
    elif M is not None or "preconditioner" not in tree:
        auto = tree["solver"].get("type") == "auto"
        tree["preconditioner"] = _block(
            ("auto" if auto else None) if M is None else M, "M"
        )
    elif not isinstance(tree["preconditioner"], dict):
        tree["preconditioner"] = _block(tree["preconditioner"], "preconditioner")
    if isinstance(tree.get("operator"), str):
        tree["operator"] = {"format": tree["operator"]}
    if keys:
        solver = dict(tree["solver"])
        if "maxiter" in keys:
            keys["max_iters"] = keys.pop("maxiter")
        solver.update((k, v) for k, v in keys.items() if v is not None)
        tree["solver"] = solver
    if symmetric is not None:
        tree["symmetric"] = "true" if symmetric else "false"
    if threads:
        tree["threads"] = int(threads)
    backend, number = ordinal(device)
    if backend is not None:
        tree["backend"] = backend
    return json.dumps(_plain(tree)), number


def ordinal(device):
    if device is None:
        return None, 0
    name, _, number = str(device).partition(":")
    if name in ("cpu", "host"):
        return "host", 0
    if name in ("cuda", "gpu"):
        return "cuda", int(number or 0)
    raise ValueError(f"device={device!r}: 'cpu', 'cuda' or 'cuda:1'")


def device_for(A, M, b=None):
    """Where to compute if nobody says: where A lies, or else b; and what it is that has the host
    taken wherever they lie, functions being for the host."""
    why = None
    if is_given_M(M):
        why = "M is a Solver" if hasattr(M, "aslinearoperator") else "M is a function"
    elif _arrays.is_operator(A):
        why = "A is a function"
    return ("cpu", why) if why else (_arrays.device_of(A) or _packages.device_of(b), None)


def _nullspace(nullspace):
    """The vectors that are given, and whether the vector of ones is one."""
    if nullspace is None:
        return [], False
    if isinstance(nullspace, str):
        if nullspace != "constant":
            raise ValueError("nullspace: 'constant', or vectors as an array of (n,) or (n, k)")
        return [], True
    return vectors(nullspace).tolist(), False


def vectors(z):
    """An array of (n,) or (n, k), or None, as (k, n)."""
    z = np.zeros((0, 0)) if z is None else np.asarray(z, dtype=np.float64)
    if z.ndim not in (1, 2):
        raise ShapeError(f"vectors as an array of {z.shape}; (n,) or (n, k)")
    return np.ascontiguousarray((z[:, None] if z.ndim == 1 else z).T)


def points(coordinates):
    """An array of (nodes, 2) or (nodes, 3), or None."""
    p = np.zeros((0, 2)) if coordinates is None else np.asarray(coordinates, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] not in (2, 3):
        raise ShapeError(f"coordinates as an array of {p.shape}; (nodes, 2) or (nodes, 3)")
    return np.ascontiguousarray(p)


def place(options, method, M, symmetric, nullspace, device, threads, stream, keys):
    given, constant = _nullspace(nullspace)
    if constant:
        if isinstance(options, str):
            raise TypeError("options as text: give the nullspace there")
        options = dict(options or {})
        options["nullspace"] = {"constant": True}
    text, number = _options_text(options, method, M, symmetric, device, threads, keys)
    return _core.Place(text, number, int(stream or 0), given)
