# SPDX-License-Identifier: Apache-2.0
"""Matrices of other packages, by the names of their arrays.

A matrix that has the form that tcsolve works on (CSR with sorted columns, float64 values, int32
columns) is used where it lies, on the host or on a device. What is something else is copied into
that form, where it lies, and a CopyWarning says what the copy is for.
"""
from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from . import _packages
from ._errors import CopyWarning, MatrixError, ShapeError
from ._packages import NumPy, dtype_name, package_of

_int32_most = 2**31 - 1


def _copied(whys):
    """One warning at the caller's line: of _as_form, of csr_of, of what takes A."""
    warnings.warn(f"the matrix is copied: {' and '.join(whys)}", CopyWarning, stacklevel=6)


class Csr:
    """rows, cols and three arrays; `owner` keeps alive what these may borrow from."""

    __slots__ = ("rows", "cols", "indptr", "indices", "data", "owner")

    def __init__(self, shape, indptr, indices, data, owner):
        self.rows, self.cols = (int(n) for n in shape)
        self.indptr, self.indices, self.data, self.owner = indptr, indices, data, owner

    def args(self):
        return self.rows, self.cols, self.indptr, self.indices, self.data

    def stream(self):
        """What reading the arrays has to begin after; 0 on the host."""
        return 0 if type(self.data) is np.ndarray else package_of(self.data).stream(self.data)

    def device(self):
        return _packages.device_of(self.data)

    def to_host(self):
        """The same with NumPy's arrays."""
        arrays = (package_of(a).to_numpy(a) for a in (self.indptr, self.indices, self.data))
        return Csr((self.rows, self.cols), *arrays, self.owner)


def _plain(a, what, whys):
    if not _packages.is_array(a):
        whys.append(f"{what} is no array")
        return np.asarray(a)
    return _packages.plain(a)


def numbers(a, base):
    """Numbers of rows or columns, counted from `base`, as int32 from 0; those of int32 from 0 are
    used where they lie."""
    if base not in (0, 1):
        raise ValueError(f"base={base}: 0, or 1 as in Fortran")
    a = _packages.plain(a if _packages.is_array(a) else np.asarray(a))
    package = package_of(a)
    if base:
        a = a - base  # before it is narrowed, so that nothing wraps around
    if dtype_name(a) != "int32":
        if package is NumPy and a.size:
            if a.dtype.kind not in "iu":
                raise ShapeError(f"numbers of rows and columns of {a.dtype}")
            a = np.clip(a, -1, _int32_most)
        a = package.cast(a, "int32")
    return a if package.gapless(a) else package.dense(a)


def csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int] | None = None, *,
        base: int = 0) -> Any:
    """A matrix of arrays in compressed rows, for whatever takes A.

    indptr of rows + 1 numbers, int32 or int64; indices, sorted and unique in each row; data. Arrays
    of one package. base=1: numbers count from 1, as in Fortran and MATLAB; int64 columns or base 1 are
    narrowed into a copy, without a warning. What is float64, int32 and base 0 is used where it lies.
    shape: by default square.
    """
    columns = numbers(indices, base)
    starts = _packages.plain(indptr if _packages.is_array(indptr) else np.asarray(indptr))
    if base:
        starts = starts - base
    rows = starts.shape[0] - 1
    return csr_of((data, columns, starts, shape or (rows, rows)))


def _as_form(csr, whys=()):
    """The arrays in types that are taken where they lie; `whys`: what has been copied before."""
    whys = list(whys)
    kind = dtype_name(csr.data)
    if kind.startswith("complex"):
        raise MatrixError(
            "complex values; (A + iB)(x + iy) = f + ig is the real system [A -B; B A] of twice the "
            "size"
        )
    if kind != "float64":
        whys.append(f"its values are {kind}, not float64")
        csr.data = package_of(csr.data).cast(csr.data, "float64")
    for name in ("indptr", "indices"):
        array = getattr(csr, name)
        kind = dtype_name(array)
        if kind == "int32" or (kind == "int64" and name == "indptr"):
            continue
        if name == "indices":
            if csr.cols > _int32_most:
                raise MatrixError(f"{csr.cols} columns do not fit 32 bits")
            if isinstance(array, np.ndarray) and array.size:
                # What a narrower type would wrap around is to be named by its row.
                array = np.clip(array, -1, _int32_most)
            whys.append(f"its column numbers are {kind}, not int32")
        wanted = "int32" if name == "indices" else "int64"
        setattr(csr, name, package_of(array).cast(array, wanted))
    for name in ("indptr", "indices", "data"):
        array = getattr(csr, name)
        package = package_of(array)
        if not package.gapless(array):
            whys.append(f"its {name} have gaps")
            setattr(csr, name, package.dense(array))
    if whys:
        _copied(whys)
    return csr


def _processes():
    """Those of the MPI program that this one is of, as far as mpi4py has been imported."""
    mpi = sys.modules.get("mpi4py.MPI")
    return mpi.COMM_WORLD.size if mpi is not None and mpi.Is_initialized() else 1


def csr_of(A):
    """A as Csr; None where A has no entries to be seen (an operator)."""
    if isinstance(A, Csr):
        return A
    if hasattr(A, "tocsr"):  # SciPy and CuPy
        if A.ndim != 2:
            raise ShapeError(f"A has {A.ndim} dimensions; it needs two")
        whys = []
        if A.format != "csr":
            whys.append(f"it is in {A.format}, not csr")
            A = A.tocsr()
        if not A.has_canonical_format:
            if not A.has_sorted_indices or A.nnz:
                whys.append("its columns are not sorted and unique in each row")
            A = A.copy()
            A.sum_duplicates()
        return _as_form(Csr(A.shape, A.indptr, A.indices, A.data, A), whys)
    if hasattr(A, "crow_indices"):  # torch, whose every tensor has the method
        whys = []
        if str(A.layout) != "torch.sparse_csr":
            if A.ndim != 2:
                raise ShapeError(f"A has {A.ndim} dimensions; it needs two")
            whys.append(f"it is in {str(A.layout).rpartition('.')[2]}, not sparse_csr")
            A = A.detach().to_sparse_csr()
        parts = (A.crow_indices(), A.col_indices(), A.values())
        return _as_form(Csr(A.shape, *(_packages.plain(part) for part in parts), A), whys)
    if hasattr(A, "getValuesCSR"):  # petsc4py, a copy that PETSc makes
        indptr, indices, data = A.getValuesCSR()
        if len(indptr) != A.getSize()[0] + 1:
            raise ShapeError("a matrix of several processes; tcsolve works in one")
        return _as_form(Csr(A.getSize(), indptr, indices, data, A))
    if all(hasattr(A, name) for name in ("indptr", "indices", "data")):  # JAX BCSR, DOLFINx
        if hasattr(A, "shape"):
            shape = A.shape
        elif not hasattr(A, "index_map"):  # DOLFINx before 0.6: square, a number an entry
            if _processes() > 1:
                raise ShapeError("it does not say whether its rows are all here; tcsolve works in one process")
            shape = (A.indptr.shape[0] - 1,) * 2
        else:
            maps = [A.index_map(k) for k in (0, 1)]
            if any(m.num_ghosts for m in maps):
                raise ShapeError("a matrix of several processes; tcsolve works in one")
            shape = [m.size_local * b for m, b in zip(maps, A.block_size)]
            if tuple(A.block_size) != (1, 1):
                return csr_of(A.to_scipy())
        whys = []
        arrays = [_plain(getattr(A, name), name, whys) for name in ("indptr", "indices", "data")]
        return _as_form(Csr(shape, *arrays, A), whys)
    if isinstance(A, tuple) and len(A) in (3, 4):  # SciPy's order: (data, indices, indptr[, shape])
        names, whys = ("data", "indices", "indptr"), []
        data, indices, indptr = (_plain(a, name, whys) for a, name in zip(A, names))
        rows = indptr.shape[0] - 1
        shape = A[3] if len(A) == 4 else (rows, rows)
        return _as_form(Csr(shape, indptr, indices, data, A), whys)
    if isinstance(A, np.ndarray):
        if A.ndim != 2:
            raise ShapeError(f"A has {A.ndim} dimensions; it needs two")
        rows, columns = np.nonzero(A)
        indptr = np.zeros(A.shape[0] + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=A.shape[0]), out=indptr[1:])
        columns = columns.astype(np.int32)
        return _as_form(Csr(A.shape, indptr, columns, A[rows, columns], A), ["it is dense"])
    return None


def is_function(A):
    """A function as A; matrices of PETSc can be called, too."""
    return callable(A) and not any(hasattr(A, n) for n in ("matvec", "shape", "getValuesCSR"))


def is_operator(A):
    """Whether csr_of has no entries of it to see, only products."""
    return hasattr(A, "matvec") or is_function(A)


def device_of(A):
    """Where A's values lie: "cuda:1"; None on the host."""
    if isinstance(A, Csr):
        return A.device()
    if isinstance(A, tuple):
        return _packages.device_of(A[0])
    if hasattr(A, "getValuesCSR"):  # what petsc4py gives are arrays of the host
        return None
    return _packages.device_of(A if _packages.is_array(A) else getattr(A, "data", None))


def with_values(csr, data):
    """The matrix of csr's pattern with other values."""
    whys = []
    data = _plain(data, "data", whys)
    if tuple(data.shape) != tuple(csr.data.shape):
        raise ShapeError(f"{data.shape[0]} values; the matrix has {csr.data.shape[0]} entries")
    owner = (csr.owner, data)
    return _as_form(Csr((csr.rows, csr.cols), csr.indptr, csr.indices, data, owner), whys)


class Operator:
    """Products with A and A^T by functions of NumPy vectors, which write into y."""

    __slots__ = ("shape", "apply", "transposed")

    def __init__(self, A, rows=None):
        if hasattr(A, "matvec"):
            self.shape = tuple(int(n) for n in A.shape)
            self.apply = _writing(A.matvec)
            self.transposed = _writing(A.rmatvec) if _has_rmatvec(A) else None
        elif callable(A):
            if rows is None:
                raise ShapeError("a function as A: its extents are those of b, which is not given")
            self.shape, self.apply, self.transposed = (rows, rows), _writing(A), None
        else:
            raise TypeError(
                f"A of type {type(A).__name__}: neither a sparse matrix, (data, indices, indptr), "
                "a LinearOperator nor a function"
            )


def _has_rmatvec(A):
    """A LinearOperator of SciPy has the method in any case; whether there is one behind it..."""
    inner = getattr(A, "_CustomLinearOperator__rmatvec_impl", A)
    if inner is None:
        return False
    method = getattr(type(A), "_rmatvec", None)
    base = next((c for c in type(A).__mro__ if c.__name__ == "LinearOperator"), None)
    adjoint = getattr(type(A), "_adjoint", None)
    if base is not None and method is getattr(base, "_rmatvec", None):
        return adjoint is not getattr(base, "_adjoint", None)
    return hasattr(A, "rmatvec")


def _writing(f):
    def write(x, y):
        # A function may keep what it is given, and x is the library's.
        y[:] = np.asarray(f(np.array(x))).reshape(-1)

    return write
