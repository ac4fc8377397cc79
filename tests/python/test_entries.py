# SPDX-License-Identifier: Apache-2.0
"""Entries as element loops leave them, and arrays that count from 1."""
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import flow, laplace, numbers, residual

import tcsolve


def in_parts(a, seed=0):
    """Every entry in two unequal parts, shuffled, and some that are left out."""
    coo = sp.coo_array(a)
    rng = np.random.default_rng(seed)
    part = rng.uniform(0.1, 0.9, coo.nnz)
    i, j = (np.concatenate([n, n, n[:5]]) for n in (coo.row, coo.col))
    v = np.concatenate([part * coo.data, (1 - part) * coo.data, np.full(5, 1e9)])
    i[-3:], j[-5:-3] = -1, -7
    order = rng.permutation(len(v))
    return i[order].astype(np.int32), j[order].astype(np.int32), v[order]


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("base", [0, 1])
def test_entries(kind, base):
    a, b = flow(5), numbers(125)
    i, j, v = in_parts(a)
    if kind == np.uint64:  # none is below 0
        kept = (i >= 0) & (j >= 0)
        i, j, v = i[kept], j[kept], v[kept]
    i, j = (n.astype(kind) + kind(base) for n in (i, j))
    solver = tcsolve.Solver(method="gmres", M="ilu", device="cpu").set_coo(i, j, v, base=base)
    assert solver.shape == (125, 125)
    assert residual(a, solver.solve(b)[0], b) <= 1.01e-8
    solver.update_coo(3 * v)
    assert residual(3 * a, solver.solve(b)[0], b) <= 1.01e-8
    assert residual(3 * a.T, solver.solve(b, transpose=True)[0], b) <= 1.01e-8
    assert solver.setup["updates"] == 1
    with pytest.raises(tcsolve.ShapeError, match="entries"):
        solver.update_coo(v[1:])
    solver.set_matrix(a)
    with pytest.raises(tcsolve.ShapeError, match="set_coo"):
        solver.update_coo(v)


def test_entries_that_are_wrong():
    i, j, v = in_parts(laplace(3))
    solver = tcsolve.Solver(method="cg", device="cpu")
    with pytest.raises(tcsolve.MatrixError, match="lies outside"):
        solver.set_coo(i, j, v, shape=(26, 27))
    with pytest.raises(tcsolve.MatrixError, match="lies outside"):
        solver.set_coo(np.where(i == 3, np.int64(2**40), i), j, v, shape=(27, 27))
    with pytest.raises(tcsolve.ShapeError):
        solver.set_coo(i[1:], j, v)
    with pytest.raises(ValueError):
        solver.set_coo(i, j, v, base=2)
    with pytest.raises(tcsolve.ShapeError):
        solver.set_coo(i + 0.5, j, v)
    assert solver.set_coo(i, j, v.tolist(), (27, 27)).solve(np.ones(27))[1].solved


def test_a_rectangular_matrix_of_entries():
    rng = np.random.default_rng(0)
    a = sp.csr_array(rng.uniform(size=(40, 12)) * (rng.uniform(size=(40, 12)) < 0.4))
    b = a @ numbers(12)
    solver = tcsolve.Solver(method="lsmr", device="cpu").set_coo(*in_parts(a), shape=a.shape)
    x, info = solver.solve(b)
    assert info.solved and np.allclose(a @ x, b, atol=1e-6)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("base", [0, 1])
def test_rows_from_1(kind, base):
    a, b = flow(4), numbers(64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        A = tcsolve.csr(a.data, (a.indices + base).astype(kind), (a.indptr + base).astype(kind),
                        base=base)
        solver = tcsolve.Solver(A, method="gmres", options={"operator": "csr"}, device="cpu")
    assert residual(a, solver.solve(b)[0], b) <= 1.01e-8
    x, info = tcsolve.solve(A, b)
    assert residual(a, x, b) <= 1.01e-8
    wide = tcsolve.csr(a.data, a.indices[: a.nnz], a.indptr, (64, 70))
    assert (wide.rows, wide.cols) == (64, 70)
