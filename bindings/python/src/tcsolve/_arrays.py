# SPDX-License-Identifier: Apache-2.0
"""Matrices and vectors of other packages, by the names of their arrays.

A matrix that has the form that tcsolve works on (CSR with sorted columns, float64 values, int32
columns) is used where it lies, on the host or on a device. What is something else is copied into
that form, and a CopyWarning says what the copy is for.
"""
import warnings

import numpy as np

from ._errors import CopyWarning, MatrixError, ShapeError

_int32_most = 2**31 - 1


def copied(why):
    warnings.warn(f"the matrix is copied: {why}", CopyWarning, stacklevel=6)


class Csr:
    """rows, cols and three arrays; `owner` keeps alive what these may borrow from."""

    __slots__ = ("rows", "cols", "indptr", "indices", "data", "owner", "dtype")

    def __init__(self, shape, indptr, indices, data, owner):
        self.rows, self.cols = (int(n) for n in shape)
        self.indptr, self.indices, self.data, self.owner = indptr, indices, data, owner
        self.dtype = getattr(data, "dtype", None)

    def args(self):
        return self.rows, self.cols, self.indptr, self.indices, self.data


def _plain(a, what):
    """An array of a device, as it is; one of the host as NumPy's, without a copy."""
    if _on_host(a):
        return np.asarray(a)
    if isinstance(a, np.ndarray) or hasattr(a, "__cuda_array_interface__") or (
        hasattr(a, "__dlpack__") and not isinstance(a, (list, tuple))
    ):
        return a
    copied(f"{what} is no array")
    return np.asarray(a)


def _as_form(csr):
    """The arrays in types that are taken where they lie."""
    kind = np.dtype(str(csr.data.dtype).split(".")[-1])
    if kind.kind == "c":
        raise MatrixError(
            "complex values; (A + iB)(x + iy) = f + ig is the real system [A -B; B A] of twice the "
            "size"
        )
    if kind != np.float64:
        copied(f"its values are {kind}, not float64")
        csr.data = csr.data.astype(np.float64) if hasattr(csr.data, "astype") else csr.data.double()
    for name in ("indptr", "indices"):
        array = getattr(csr, name)
        kind = str(array.dtype).split(".")[-1]
        if kind == "int32" or (kind == "int64" and name == "indptr"):
            continue
        if name == "indices":
            if csr.cols > _int32_most:
                raise MatrixError(f"{csr.cols} columns do not fit 32 bits")
            if isinstance(array, np.ndarray) and array.size:
                # What a narrower type would wrap around is to be named by its row.
                array = np.clip(array, -1, _int32_most)
            copied(f"its column numbers are {kind}, not int32")
            array = array.astype(np.int32) if hasattr(array, "astype") else array.int()
        else:
            array = array.astype(np.int64) if hasattr(array, "astype") else array.long()
        setattr(csr, name, array)
    for name in ("indptr", "indices", "data"):
        array = getattr(csr, name)
        if isinstance(array, np.ndarray) and not array.flags.c_contiguous:
            copied(f"its {name} have gaps")
            setattr(csr, name, np.ascontiguousarray(array))
    return csr


def csr_of(A):
    """A as Csr; None where A has no entries to be seen (an operator)."""
    if isinstance(A, Csr):
        return A
    if hasattr(A, "tocsr"):  # SciPy and CuPy
        if A.ndim != 2:
            raise ShapeError(f"A has {A.ndim} dimensions; it needs two")
        if A.format != "csr":
            copied(f"it is in {A.format}, not csr")
            A = A.tocsr()
        if not A.has_canonical_format:
            if not A.has_sorted_indices or A.nnz:
                copied("its columns are not sorted and unique in each row")
            A = A.copy()
            A.sum_duplicates()
        return _as_form(Csr(A.shape, A.indptr, A.indices, A.data, A))
    if hasattr(A, "crow_indices"):  # torch
        return _as_form(
            Csr(A.shape, A.crow_indices(), A.col_indices(), A.values().detach(), A)
        )
    if hasattr(A, "getValuesCSR"):  # petsc4py, a copy that PETSc makes
        indptr, indices, data = A.getValuesCSR()
        return _as_form(Csr(A.getSize(), indptr, indices, data, A))
    if all(hasattr(A, name) for name in ("indptr", "indices", "data")):  # JAX BCSR, DOLFINx
        if hasattr(A, "shape"):
            shape = A.shape
        else:
            maps = [A.index_map(k) for k in (0, 1)]
            if any(m.num_ghosts for m in maps):
                raise ShapeError("a matrix of several processes; tcsolve works in one")
            shape = [m.size_local * b for m, b in zip(maps, A.block_size)]
            if tuple(A.block_size) != (1, 1):
                return csr_of(A.to_scipy())
        arrays = [_plain(getattr(A, name), name) for name in ("indptr", "indices", "data")]
        return _as_form(Csr(shape, *arrays, A))
    if isinstance(A, tuple) and len(A) in (3, 4):  # SciPy's order: (data, indices, indptr[, shape])
        data, indices, indptr = (_plain(a, n) for a, n in zip(A, ("data", "indices", "indptr")))
        shape = A[3] if len(A) == 4 else (len(indptr) - 1, len(indptr) - 1)
        return _as_form(Csr(shape, indptr, indices, data, A))
    if isinstance(A, np.ndarray):
        if A.ndim != 2:
            raise ShapeError(f"A has {A.ndim} dimensions; it needs two")
        copied("it is dense")
        rows, columns = np.nonzero(A)
        indptr = np.zeros(A.shape[0] + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=A.shape[0]), out=indptr[1:])
        return _as_form(Csr(A.shape, indptr, columns.astype(np.int32), A[rows, columns], A))
    return None


def with_values(csr, data):
    """The matrix of csr's pattern with other values."""
    data = _plain(data, "data")
    if data.shape != csr.data.shape:
        raise ShapeError(f"{data.shape[0]} values; the matrix has {csr.data.shape[0]} entries")
    return _as_form(Csr((csr.rows, csr.cols), csr.indptr, csr.indices, data, (csr.owner, data)))


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


def _on_host(a):
    """An array of another package whose memory NumPy can read."""
    if isinstance(a, np.ndarray) or not hasattr(a, "__dlpack_device__"):
        return False
    return a.__dlpack_device__()[0] == 1


def vector(b):
    """b as tcsolve takes it, what its type was, and how to make arrays like it.

    What lies on the host is NumPy's from here on, whatever package it comes from.
    """
    if _on_host(b):
        b = np.asarray(b)
    if isinstance(b, np.ndarray) or not hasattr(b, "__dlpack__"):
        given = b
        b = np.asarray(b)
        if b.dtype.kind not in "fiub":
            raise TypeError(f"b of {b.dtype}; real numbers are taken")
        kind = b.dtype if b.dtype.kind == "f" and b.dtype.itemsize < 8 else np.dtype(np.float64)
        if b.dtype != np.float64:
            b = b.astype(np.float64)
        if b.ndim == 1 and not b.flags.c_contiguous:
            b = np.ascontiguousarray(b)
        if b.ndim == 2 and not (b.flags.c_contiguous or b.flags.f_contiguous):
            b = np.asfortranarray(b)
        return b, kind, given
    kind = np.dtype(str(b.dtype).split(".")[-1])
    if kind != np.float64:
        b = b.astype("float64") if hasattr(b, "astype") else b.double()
    return b, kind, b


def empty(like, rows):
    """A vector, or a block with the columns of `like`, of float64 where `like` lies."""
    if isinstance(like, np.ndarray):
        if like.ndim == 1:
            return np.empty(rows)
        order = "C" if like.flags.c_contiguous else "F"
        return np.empty((rows, like.shape[1]), order=order)
    shape = (rows, *like.shape[1:])
    if hasattr(like, "new_empty"):  # torch
        return like.new_empty(shape)
    import cupy

    return cupy.empty(shape)


def current_stream(b):
    """The number of the stream that the package of b works in; 0 for the host."""
    package = type(b).__module__.split(".")[0]
    if package == "cupy":
        import cupy

        return cupy.cuda.get_current_stream().ptr
    if package == "torch" and b.is_cuda:
        import torch

        return torch.cuda.current_stream(b.device).cuda_stream
    return 0
