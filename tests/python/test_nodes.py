# SPDX-License-Identifier: Apache-2.0
"""What is known of the unknowns besides A."""
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import numbers

import tcsolve


def solid(n):
    """Springs between neighbours of a grid of n^3 nodes, which one face holds: moving and turning
    the body takes no force elsewhere."""
    at = np.arange(n**3).reshape(n, n, n)
    node = np.array(list(np.ndindex(n, n, n)))
    blocks = []
    for d in itertools.product((-1, 0, 1), repeat=3):
        if d <= (0, 0, 0):
            continue
        to = node + d
        inside = ((to >= 0) & (to < n)).all(1)
        i, j = at[tuple(node[inside].T)], at[tuple(to[inside].T)]
        one = np.array(d) / np.linalg.norm(d)
        pull = sp.csr_matrix(np.outer(one, one))
        m = len(i)
        B = sp.csr_matrix((np.r_[np.ones(m), -np.ones(m)], (np.r_[0:m, 0:m], np.r_[i, j])),
                          shape=(m, n**3))
        blocks.append(sp.kron(B.T @ B, pull))
    held = sp.kron(sp.diags((node[:, 0] == 0).astype(float)), sp.eye(3))
    A = (sum(blocks) + held).tocsr()
    A.sort_indices()
    return A


def test_what_is_known_of_the_unknowns():
    """Coordinates make rigid body modes, which multigrid of a solid needs."""
    n = 8
    a, nodes = solid(n), np.array(list(np.ndindex(n, n, n)), float)
    b = numbers(a.shape[0])
    plain = tcsolve.Solver(a, method="cg", M="amg", device="cpu", block=3)
    known = tcsolve.Solver(a, method="cg", M="amg", device="cpu", block=3, coordinates=nodes)
    (x, told), (y, better) = plain.solve(b), known.solve(b)
    assert told.solved and better.solved and better.iterations < told.iterations
    assert np.allclose(a @ y, b, atol=1e-6 * np.linalg.norm(b))
    z = np.tile(np.eye(3), (n**3, 1))  # translations, as what would be taken anyway
    same = tcsolve.Solver(a, method="cg", M="amg", device="cpu", block=3, near_nullspace=z)
    assert same.solve(b)[1].iterations == told.iterations
    with pytest.raises(tcsolve.SetupError, match="vector 1 of 1 has 3 entries"):
        tcsolve.Solver(a, method="cg", M="amg", device="cpu", near_nullspace=[1.0, 2.0, 3.0])
    with pytest.raises(tcsolve.ShapeError, match="coordinates"):
        tcsolve.Solver(a, method="cg", M="amg", device="cpu", coordinates=np.ones(7))
