# SPDX-License-Identifier: Apache-2.0
"""What SciPy asks of its own cg, minres, bicgstab and gmres, for real systems."""
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import laplace, numbers, residual

import tcsolve


def canonical(a, kind=np.float64):
    a = sp.csr_array(a).astype(kind)
    a.sum_duplicates()
    a.indptr, a.indices = a.indptr.astype(np.int32), a.indices.astype(np.int32)
    return a


def chain(n):
    return sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))


def plane(n):
    eye = sp.eye_array(n)
    return sp.kron(chain(n), eye) + sp.kron(eye, chain(n))


RANDOM = np.random.default_rng(20).uniform(-1, 1, (24, 24))
DEFINITE = ("cg", "minres", "bicgstab", "gmres")
SYMMETRIC, ANY = ("minres", "gmres"), ("bicgstab", "gmres")
SYSTEMS = {
    "poisson of one dimension": (chain(40), DEFINITE),
    "its negative": (-chain(40), ANY + ("minres",)),
    "poisson of two dimensions": (plane(12), DEFINITE),
    "diagonal": (np.diag(1 + np.arange(24.0) ** 2), DEFINITE),
    "symmetric": (RANDOM + RANDOM.T, SYMMETRIC),
    "symmetric positive definite": (RANDOM @ RANDOM.T + 0.2 * np.eye(24), DEFINITE),
    "convection": (sp.diags_array([-1.4, 2.0, -0.6], offsets=[-1, 0, 1], shape=(40, 40)), ANY),
    "rows that outweigh": (RANDOM + 9 * np.diag(np.sign(numbers(24))), ("gmres",)),
}
CASES = [(name, method) for name, (_, methods) in SYSTEMS.items() for method in methods]


@pytest.fixture(params=CASES, ids=[f"{m}-{n.replace(' ', '_')}" for n, m in CASES])
def case(request):
    """f, keywords that give it time enough, A, b."""
    name, method = request.param
    a = canonical(SYSTEMS[name][0])
    more = {"restart": a.shape[0]} if method == "gmres" else {}
    return getattr(tcsolve, method), more, a, numbers(a.shape[0], 5)


def test_answers_are_scipys(case):
    f, more, a, b = case
    kept_a, kept_b, x0 = a.copy(), b.copy(), numbers(len(b), 6)
    kept_x0 = x0.copy()
    for rtol in (1e-5, 1e-9):
        for guess in ({}, {"x0": x0}):
            x, info = f(a, b, rtol=rtol, **guess, **more)
            assert info == 0 and residual(a, x, b) <= 1.01 * rtol
    y, code = getattr(sla, f.__name__)(a, b, rtol=1e-9, **more)
    if code == 0:
        far = np.linalg.cond(a.toarray()) * 1e-8 * np.linalg.norm(y)
        assert np.linalg.norm(x - y) <= far
    assert (a != kept_a).nnz == 0 and (b == kept_b).all() and (x0 == kept_x0).all()


def test_one_iteration(case):
    f, more, a, b = case
    if more:
        more = {"restart": 1}
    norms = []
    with pytest.warns(tcsolve.ConvergenceWarning):
        x, info = f(a, b, rtol=1e-12, maxiter=1, callback=norms.append, **more)
    assert info == 1 and len(norms) == 1 and info.reason == "max_iterations"


def test_the_identity_as_M(case):
    f, more, a, b = case
    eye = sla.LinearOperator(a.shape, matvec=lambda v: v, rmatvec=lambda v: v)
    x, plain = f(a, b, rtol=1e-8, **more)
    y, info = f(a, b, rtol=1e-8, M=eye, **more)
    assert info == 0 and abs(info.iterations - plain.iterations) <= 1 + plain.iterations // 10
    z, info = f(sla.aslinearoperator(a), b, rtol=1e-8, M=eye, **more)
    assert info == 0 and residual(a, z, b) <= 1.01e-8


def test_the_inverse_as_M(case):
    f, more, a, b = case
    dense = a.toarray()
    if f.__name__ in ("cg", "minres") and np.linalg.eigvalsh(dense)[0] < 0:
        pytest.skip("M has to be definite")
    x, info = f(a, b, rtol=1e-8, M=sla.aslinearoperator(np.linalg.inv(dense)), **more)
    assert info == 0 and info.iterations <= 3 and residual(a, x, b) <= 1.01e-8


def test_the_answer_as_x0(case):
    f, more, a, b = case
    x, info = f(a, b, rtol=1e-9, **more)
    y, info = f(a, b, x, rtol=1e-8, **more)
    assert info == 0 and info.iterations == 0 and (x == y).all()
    y, info = f(a, b[:, None], x[:, None], rtol=1e-8, **more)
    assert info.iterations == 0 and y.shape == b.shape


@pytest.mark.parametrize("name", DEFINITE)
def test_b_of_zeros(name):
    a, f = canonical(plane(6)), getattr(tcsolve, name)
    for more in ({}, {"atol": 0.1}, {"x0": np.zeros(36)}, {"x0": numbers(36), "atol": 1e-10}):
        x, info = f(a, np.zeros(36), **more)
        assert info == 0 and np.linalg.norm(a @ x) <= more.get("atol", 0.0)


@pytest.mark.parametrize("name", DEFINITE)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_both_tolerances(name, scale):
    a, b = canonical(plane(8)), scale * numbers(64)
    for rtol in (0.0, 1e-9, 1e-4, 0.5):
        for atol in (0.0, 1e-6, 1e-2, 1.0):
            wanted = max(rtol * np.linalg.norm(b), atol)
            if wanted < 1e-12 * np.linalg.norm(b):
                continue
            x, info = getattr(tcsolve, name)(a, b, rtol=rtol, atol=atol)
            assert info == 0 and np.linalg.norm(b - a @ x) <= 1.01 * wanted


@pytest.mark.parametrize("name", DEFINITE)
def test_float32(name):
    a, b = canonical(plane(8), np.float32), numbers(64).astype(np.float32)
    with pytest.warns(tcsolve.CopyWarning, match="float32"):
        x, info = getattr(tcsolve, name)(a, b, rtol=1e-5)
    assert info == 0 and x.dtype == np.float32
    assert residual(a.astype(float), x.astype(float), b.astype(float)) <= 2e-5


@pytest.mark.parametrize("name", DEFINITE)
def test_what_is_refused(name):
    a, b, f = canonical(plane(4)), numbers(16), getattr(tcsolve, name)
    with pytest.raises(TypeError):
        f(a, b, None, 1e-5)  # SciPy's tolerances are keywords
    for atol in (-1.0, np.nan):
        with pytest.raises(ValueError):
            f(a, b, atol=atol)
    with pytest.raises(tcsolve.Unsupported, match="M @ b"):
        f(a, b, "Mb")


def test_matrices_on_which_a_method_breaks_down():
    """They are told, and x is finite."""
    defective, swap = canonical([[0.0, 1.0], [0.0, 0.0]]), canonical([[0.0, 1.0], [1.0, 0.0]])
    b = np.array([1.0, 0.0])
    for a, name in (*((defective, name) for name in DEFINITE), (swap, "cg")):
        with pytest.warns(tcsolve.ConvergenceWarning):
            x, info = getattr(tcsolve, name)(a, b)
        assert info > 0 and np.isfinite(x).all()
    for name in ("minres", "bicgstab", "gmres"):
        x, info = getattr(tcsolve, name)(swap, b)
        assert info == 0 and np.allclose(x, [0, 1])
    with pytest.warns(tcsolve.ConvergenceWarning):
        x, info = tcsolve.cg(canonical(-chain(20).toarray()), np.ones(20))
    assert info > 0 and "indefinite" in info.reason


def test_callbacks_of_gmres():
    a, b, norms = canonical(chain(40)), 7 * numbers(40), {}
    for kind in (None, "pr_norm", "legacy"):
        norms[kind] = []
        with pytest.warns(tcsolve.ConvergenceWarning):
            x, info = tcsolve.gmres(a, b, restart=5, maxiter=4, rtol=1e-10, callback_type=kind,
                                    callback=norms[kind].append)
        assert info.iterations == len(norms[kind]) == (4 if kind == "legacy" else 20)
    assert np.allclose(norms["pr_norm"], np.array(norms[None]) / np.linalg.norm(b))
    theirs = []
    sla.gmres(a, b, restart=5, maxiter=4, rtol=1e-10, callback_type="pr_norm",
              callback=theirs.append)
    assert np.allclose(theirs, norms["pr_norm"], rtol=1e-6)
    with pytest.raises(tcsolve.Unsupported, match="callback_type='x'"):
        tcsolve.gmres(a, b, callback=print, callback_type="x")
    with pytest.raises(ValueError):
        tcsolve.gmres(a, b, callback=print, callback_type="y")


@pytest.mark.parametrize("name, keywords", [
    ("minres", {"shift": 0.5}), ("minres", {"show": True}), ("minres", {"check": True}),
    ("lsmr", {"damp": 0.1}), ("lsmr", {"btol": 1e-9}), ("lsmr", {"conlim": 0}),
    ("lsmr", {"show": True})])
def test_keywords_that_are_scipys_alone(name, keywords):
    a, b = laplace(3), numbers(27)
    (keyword,) = keywords
    with pytest.raises(tcsolve.Unsupported, match=f"{name}: {keyword}="):
        getattr(tcsolve, name)(a, b, **keywords)
