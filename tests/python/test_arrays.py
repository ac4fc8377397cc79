# SPDX-License-Identifier: Apache-2.0
"""What A and b may be, and what is copied of them."""
import gc
import subprocess
import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import flow, laplace, numbers, residual

import tcsolve

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_every_format_and_type(make, format, dtype):
    a = make(laplace(4)).astype(dtype).asformat(format)
    b = numbers(64)
    if format == "csr" and dtype == np.float64:
        x, info = tcsolve.solve(a, b)
    else:
        with pytest.warns(tcsolve.CopyWarning):
            x, info = tcsolve.solve(a, b)
    assert info.solved
    assert residual(a.tocsr().astype(float), x, b) <= 1.01e-8


@pytest.mark.parametrize("indptr", [np.int32, np.int64])
@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_widths_of_indices(indptr, indices):
    a, b = laplace(4), numbers(64)
    arrays = (a.data, a.indices.astype(indices), a.indptr.astype(indptr))
    solver = tcsolve.Solver(method="cg", options={"operator": "csr"}, device="cpu")
    if indices == np.int32:
        solver.set_matrix(arrays)
        assert solver._core.columns_pointer == arrays[1].ctypes.data
    else:
        with pytest.warns(tcsolve.CopyWarning, match="int64, not int32"):
            solver.set_matrix(arrays)
    assert residual(a, solver.solve(b)[0], b) <= 1.01e-8


class Spied:
    """A compiled part that notes the arrays it is given."""

    def __init__(self, core):
        self.core, self.given = core, []

    def __getattr__(self, name):
        return getattr(self.core, name)

    def solve(self, b, x, *asked):
        self.given.append((b, x))
        return self.core.solve(b, x, *asked)

    def solve_columns(self, b, x, *asked):
        self.given.append((b, x))
        return self.core.solve_columns(b, x, *asked)


def test_arrays_are_used_where_they_lie():
    a = laplace(8)
    columns, values = a.indices.ctypes.data, a.data.ctypes.data
    plain = {"method": "cg", "options": {"operator": "csr"}, "device": "cpu"}
    solver = tcsolve.Solver(a, **plain)
    assert solver._core.columns_pointer == columns and solver._core.values_pointer == values
    again = a.data * 2
    solver.update_values(again)
    assert solver._core.columns_pointer == columns
    assert solver._core.values_pointer == again.ctypes.data
    copied = tcsolve.Solver(a, borrow=False, **plain)
    assert copied._core.columns_pointer not in (0, columns)
    assert copied._core.values_pointer not in (0, values)
    b, out = numbers(512), np.empty(512)
    spied = solver._core = Spied(solver._core)
    x, _ = solver.solve(b, out=out)
    assert x is out and spied.given[-1][0] is b and spied.given[-1][1] is out
    x, _ = solver.solve(b)
    assert spied.given[-1][0] is b and spied.given[-1][1] is x
    for order in "CF":
        block = np.asarray(numbers(1024).reshape(512, 2), order=order)
        x, _ = solver.solve(block)
        assert spied.given[-1][0] is block and spied.given[-1][1] is x


LARGE = """
import sys, numpy as np, scipy.sparse as sp, tcsolve
n, each = 50_000, 120
indptr = np.arange(0, n * each + 1, each, dtype=np.int32)
indices = ((np.arange(n, dtype=np.int32)[:, None] + np.arange(each, dtype=np.int32)) % n)
indices = np.sort(indices, axis=1).ravel()
data = np.full(n * each, 1e-3)
data[np.flatnonzero(indices == np.repeat(np.arange(n, dtype=np.int32), each))] = 1.0
b = np.ones(n)

def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096

keywords = dict(method="bicgstab", M="jacobi", options={"operator": "csr"}, device="cpu")
small = tcsolve.Solver((np.ones(1), np.zeros(1, np.int32), np.arange(2)), **keywords)
small.solve(np.ones(1))
before = resident()
solver = tcsolve.Solver((data, indices, indptr), borrow=sys.argv[1] == "True", **keywords)
x, info = solver.solve(b)
assert info.solved, info.message
print(resident() - before)
"""


@pytest.mark.parametrize("borrow", [True, False])
def test_a_large_matrix_is_not_copied(borrow):
    """72 MB: the memory of the process shows a copy."""
    p = subprocess.run([sys.executable, "-c", LARGE, str(borrow)], capture_output=True, text=True)
    grown = int(p.stdout or -1)
    assert (0 < grown < 4e6) if borrow else grown > 40e6, p.stdout + p.stderr


def test_what_is_borrowed_stays():
    """The solver holds the arrays that it reads; nobody else has to."""
    a = laplace(12)
    b = numbers(a.shape[0])
    with tcsolve.Solver(a.copy(), method="cg", options={"operator": "csr"}, device="cpu") as solver:
        gc.collect()
        waste = [np.full(a.nnz, np.nan) for _ in range(20)]
        assert residual(a, solver.solve(b)[0], b) <= 1.01e-8
        twice = a.copy()
        twice.data *= 2
        solver.update_values(twice)
        del twice
        gc.collect()
        waste += [np.full(a.nnz, np.nan) for _ in range(20)]
        assert residual(2 * a, solver.solve(b)[0], b) <= 1.01e-8


def test_references_and_memory_do_not_grow():
    a, b = laplace(4), numbers(64)
    counts = [sys.getrefcount(o) for o in (a, a.data, a.indices, a.indptr, b)]

    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * 4096

    solver = tcsolve.Solver(a, method="cg", M="jacobi", device="cpu")
    for k in range(10000):
        solver.solve(b)
        if k % 10 == 0:
            tcsolve.solve(a, b, device="cpu")
            solver.update_values(a)
        if k == 1000:
            before = resident()
    assert resident() - before < 4 << 20
    del solver
    gc.collect()
    assert [sys.getrefcount(o) for o in (a, a.data, a.indices, a.indptr, b)] == counts


def test_unsorted_columns_and_duplicates():
    data = np.array([1.0, 4.0, 5.0, -1.0, 0.5, 0.5])
    indices = np.array([1, 0, 1, 0, 1, 1], np.int32)
    a = sp.csr_array((data, indices, np.array([0, 2, 6], np.int32)), shape=(2, 2))
    b = np.array([1.0, 2.0])
    with pytest.warns(tcsolve.CopyWarning, match="sorted"):
        x, info = tcsolve.solve(a, b)
    assert np.allclose(a.toarray() @ x, b)
    assert a.nnz == 6  # the caller's matrix is as it was
    with pytest.raises(tcsolve.MatrixError, match="row 1"):
        tcsolve.solve((data, indices, a.indptr), b)


def test_dense():
    a = np.array([[4.0, 1, 0], [0, 3, 1], [1, 0, 5]])
    with pytest.warns(tcsolve.CopyWarning, match="dense"):
        x, info = tcsolve.solve(a, np.ones(3))
    assert np.allclose(a @ x, 1)


def test_by_the_names_of_the_arrays():
    """JAX BCSR and DOLFINx MatrixCSR, by what they have."""
    a, b = flow(4), numbers(64)
    bcsr = types.SimpleNamespace(indptr=a.indptr, indices=a.indices, data=a.data, shape=a.shape)
    maps = types.SimpleNamespace(num_ghosts=0, size_local=64)
    dolfinx = types.SimpleNamespace(indptr=a.indptr, indices=a.indices, data=a.data,
                                    block_size=(1, 1), index_map=lambda k: maps)
    mat = types.SimpleNamespace(getValuesCSR=lambda: (a.indptr, a.indices, a.data),
                                getSize=lambda: a.shape)
    for other in (bcsr, dolfinx, mat, (a.data, a.indices, a.indptr, a.shape)):
        assert residual(a, tcsolve.solve(other, b)[0], b) <= 1.01e-8
    maps.num_ghosts = 3
    with pytest.raises(tcsolve.ShapeError, match="several processes"):
        tcsolve.solve(dolfinx, b)


def test_operators_and_functions():
    from scipy.sparse.linalg import LinearOperator

    a, b = laplace(5), numbers(125)
    x, info = tcsolve.solve(lambda v: a @ v, b, method="cg")
    assert residual(a, x, b) <= 1.01e-8
    op = LinearOperator(a.shape, matvec=lambda v: a @ v)
    x, info = tcsolve.solve(op, b, method="cg")
    assert residual(a, x, b) <= 1.01e-8
    with pytest.raises(tcsolve.Unsupported):
        tcsolve.solve(op, b)  # auto looks at entries
    with pytest.raises(tcsolve.Unsupported):
        tcsolve.solve(op, b, method="lsmr")  # no A^T
    f = flow(5)
    both = LinearOperator(f.shape, matvec=lambda v: f @ v, rmatvec=lambda v: f.T @ v)
    x, info = tcsolve.solve(both, b, method="lsmr", maxiter=5000)
    assert residual(f, x, b) <= 1.01e-8
    x, info = tcsolve.solve(both, b, method="gmres", transpose=True)
    assert residual(f.T, x, b) <= 1.01e-8
    with pytest.raises(TypeError):
        tcsolve.solve("A.mtx", b)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, bool])
def test_types_of_b(dtype):
    a = laplace(4)
    b = np.ones(64, dtype)
    x, info = tcsolve.solve(a, b)
    assert x.dtype == (dtype if np.dtype(dtype).kind == "f" else np.float64)
    assert residual(a, x.astype(float), np.ones(64)) <= (1e-2 if dtype == np.float16 else 1e-5)
    with pytest.raises(TypeError, match="complex"):
        tcsolve.solve(a, np.ones(64, complex))
    with pytest.raises(tcsolve.MatrixError, match="complex"):
        tcsolve.solve(a.astype(complex), np.ones(64))


def test_b_with_gaps_and_of_lists():
    a = laplace(4)
    b = numbers(128)[::2]
    assert residual(a, tcsolve.solve(a, b)[0], b) <= 1.01e-8
    assert residual(a, tcsolve.solve(a, list(b))[0], b) <= 1.01e-8
    b.flags.writeable = False
    assert residual(a, tcsolve.solve(a, b)[0], b) <= 1.01e-8


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("method", ["gmres", "block_gmres"])
def test_columns(order, method):
    a = flow(5)
    b = np.asarray(numbers(375).reshape(125, 3), order=order)
    b[:, 1] = 0
    x, infos = tcsolve.Solver(a, method=method).solve(b)
    assert infos.solved and len(infos) == 3
    assert np.allclose(a @ x, b, atol=1e-6) and x.shape == b.shape
    assert not x[:, 1].any()
    y, _ = tcsolve.Solver(a, method=method).solve(b, transpose=True)
    assert np.allclose(a.T @ y, b, atol=1e-6)


def test_shapes_that_do_not_fit():
    a = laplace(4)
    solver = tcsolve.Solver(a)
    for b in (np.ones(63), np.ones((63, 2)), np.ones((64, 2, 2)), np.float64(3)):
        with pytest.raises(tcsolve.ShapeError):
            solver.solve(b)
    b = np.ones(64)
    with pytest.raises(tcsolve.ShapeError):
        solver.solve(b, np.ones(65))
    with pytest.raises(tcsolve.ShapeError):
        solver.solve(b, out=np.ones(64, np.float32))
    with pytest.raises(tcsolve.ShapeError):
        solver.solve(b, out=np.ones(128)[::2])
    with pytest.raises(tcsolve.ShapeError):
        tcsolve.Solver().solve(b)
    with pytest.raises(tcsolve.ShapeError):
        tcsolve.Solver().update_values(a)


def test_int64_columns_that_do_not_fit():
    a = laplace(3)
    wide = a.indices.astype(np.int64)
    wide[5] = 2**40
    with pytest.warns(tcsolve.CopyWarning), pytest.raises(tcsolve.MatrixError):
        tcsolve.solve((a.data, wide, a.indptr), np.ones(27))
