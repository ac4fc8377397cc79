# SPDX-License-Identifier: Apache-2.0
"""Systems that the tests solve."""
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import tcsolve


@pytest.fixture(autouse=True)
def every_warning_is_meant():
    """A test that expects one says so; any other fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", tcsolve.ConvergenceWarning)
        warnings.simplefilter("error", tcsolve.CopyWarning)
        yield


def laplace(n=6):
    """The 7-point Laplacian of an n^3 grid, canonical CSR of float64 and int32."""
    one = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    eye = sp.eye_array(n)
    a = sp.kron(sp.kron(one, eye), eye) + sp.kron(sp.kron(eye, one), eye) + sp.kron(
        sp.kron(eye, eye), one
    )
    a = sp.csr_array(a)
    a.sum_duplicates()
    a.indptr, a.indices = a.indptr.astype(np.int32), a.indices.astype(np.int32)
    return a


def flow(n=6, seed=3):
    """Nonsymmetric, diagonally dominant."""
    a = laplace(n)
    rng = np.random.default_rng(seed)
    a.data = np.where(a.data < 0, a.data * rng.uniform(0.2, 1.0, a.nnz), a.data + 0.1)
    return a


def numbers(n, seed=1):
    return np.random.default_rng(seed).standard_normal(n)


def residual(a, x, b):
    return np.linalg.norm(b - a @ x) / np.linalg.norm(b)
