# SPDX-License-Identifier: Apache-2.0
"""Iterative solvers for large sparse linear systems, with a verdict on every solve.

    x, info = tcsolve.solve(A, b)          # method, preconditioner and format by what A is
    assert info.solved, info.message

    solver = tcsolve.Solver(A, method="cg", M="jacobi", rtol=1e-10)
    x, info = solver.solve(b)              # as often as you like
    solver.update_values(A2)               # the same pattern

`converged` means that the true residual ||b - A x||, recomputed from A in twice FP64, meets the
tolerance.
"""
from __future__ import annotations

from os import PathLike
from typing import Any, TextIO

from . import _core
from ._arrays import csr
from ._arrays import csr_of as _csr_of
from ._errors import (
    BusyError,
    Cancelled,
    ConfigError,
    ConvergenceWarning,
    CopyWarning,
    DeviceError,
    Error,
    MatrixError,
    NotConverged,
    OutOfMemory,
    SetupError,
    ShapeError,
    Unsupported,
)
from ._info import Info, Infos
from ._once import solve
from ._scipy import bicgstab, cg, gmres, lsmr, minres
from ._solver import Solver

MemoryError = OutOfMemory  # by the name that Python has for it; a builtins.MemoryError, too

__version__: str = _core.version
has_cuda: bool = _core.has_cuda


def _name_cudss() -> None:
    """The cuDSS of a package nvidia-cudss-cu13 or -cu12, which the loader does not look for; a file
    that TCSOLVE_CUDSS names comes first. It is loaded where a solver asks for it."""
    import os
    import sys

    for folder in sys.path:
        packages = os.path.join(folder, "nvidia")
        if not os.path.isdir(packages):
            continue
        for part in (f"cu{_core.cuda_version.partition('.')[0]}", "cudss"):
            for name in ("libcudss.so.1", "libcudss.so.0"):
                file = os.path.join(packages, part, "lib", name)
                if os.path.exists(file):
                    os.environ.setdefault("TCSOLVE_CUDSS", file)
                    return


if has_cuda:
    _name_cudss()


def read(path: str | PathLike[str]) -> Any:
    """The matrix in a file: Matrix Market, SciPy's .npz, PETSc's binary form, also compressed.

    Returns a SciPy csr_array where SciPy is installed, else (data, indices, indptr, shape).
    Raises MatrixError with the line that is at fault.
    """
    rows, cols, indptr, indices, data = _core.read(str(path))
    try:
        from scipy.sparse import csr_array
    except ImportError:
        return data, indices, indptr, (rows, cols)
    if indptr[-1] < 2**31:
        indptr = indptr.astype("int32")  # SciPy wants one type for both
    return csr_array((data, indices, indptr), shape=(rows, cols))


def advise(A: Any, b: Any, *, seconds: float = 10.0, rtol: float = 1e-8,
           device: str | None = None) -> list[dict[str, Any]]:
    """Methods and preconditioners raced on A x = b, the fastest first: a list of dicts.

    Each has `solver` and `preconditioner` as a config writes them, `standing`, `outcome`, the
    seconds of `setup` and `solve`, and what is `predicted` in all. It takes `seconds`, and up to
    twice as long.
    """
    import numpy as np

    from ._options import AUTO, ordinal

    matrix = _csr_of(A)
    if matrix is None:
        raise TypeError("advise looks at the entries of A, and an operator has none to be seen")
    backend, number = ordinal(device)
    text = AUTO if backend is None else AUTO[:-1] + f', "backend": "{backend}"}}'
    place = _core.Place(text, number, 0, [])
    csr, b = matrix.to_host(), np.ascontiguousarray(b, dtype=np.float64)
    found: Any = _core.race(place, csr.rows, csr.cols, csr.indptr, csr.indices, csr.data, b, seconds,
                            rtol)
    return found


def solver_skfem(check: bool = True, **keywords: Any) -> Any:
    """`tcsolve.skfem.solver`: a function for the `solver` of `skfem.solve`."""
    from .skfem import solver

    return solver(check, **keywords)


def devices() -> list[str]:
    """Where can be computed: "host", and the CUDA devices that there are."""
    return ["host", *_core.devices()]


def show(file: TextIO | None = None) -> None:
    """Prints versions, the libraries and packages that tcsolve finds, and what it keeps in memory:
    the contexts of one-shot solves, and the set-ups of `tcsolve.jax` and `tcsolve.torch`."""
    import importlib.metadata  # takes longer to import than the rest
    import sys

    from . import _once

    lines = [
        f"tcsolve {__version__} ({_core.revision}), {_core.compiler}",
        f"CUDA: {_core.cuda_version if has_cuda else 'built without'}",
        f"devices: {', '.join(devices())}",
        *(f"{name}: {what.partition(';')[0]}" for name, what in _core.libraries()),
    ]
    # A package for a CUDA version has it in its name.
    cupy = [f"cupy-cuda{n}x" for n in (13, 12)]
    for package, *others in (["numpy"], ["scipy"], ["cupy", *cupy], ["torch"], ["jax"], ["petsc4py"],
                             ["scikit-fem"]):
        for name in (package, *others):
            try:
                lines.append(f"{name} {importlib.metadata.version(name)}")
                break
            except importlib.metadata.PackageNotFoundError:
                pass
        else:
            lines.append(f"{package}: not installed")
    keeping: dict[str, Any] = {"solve": _once}
    keeping |= {name: sys.modules.get(f"tcsolve.{name}") for name in ("jax", "torch")}
    for name, module in keeping.items():
        if module is not None:
            count, size = module.kept()
            lines.append(f"kept for tcsolve.{name}: {count}, {size / 1e6:.1f} MB")
    print("\n".join(lines), file=file or sys.stdout)


__all__ = [
    "BusyError", "Cancelled", "ConfigError", "ConvergenceWarning", "CopyWarning", "DeviceError",
    "Error", "Info", "Infos", "MatrixError", "NotConverged", "OutOfMemory", "SetupError",
    "ShapeError", "Solver", "Unsupported", "advise", "bicgstab", "cg", "csr", "devices", "gmres",
    "has_cuda", "lsmr", "minres", "read", "show", "solve", "solver_skfem",
]
