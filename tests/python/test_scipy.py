# SPDX-License-Identifier: Apache-2.0
"""SciPy's names, and SciPy's own methods with what tcsolve has."""
import inspect

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from conftest import flow, laplace, numbers, residual

import tcsolve


@pytest.mark.parametrize("name", ["cg", "minres", "bicgstab", "gmres", "lsmr"])
@pytest.mark.parametrize("rtol", [1e-3, 1e-9])
def test_stops_where_scipy_does(name, rtol):
    a = laplace(6) if name in ("cg", "minres") else flow(6)
    b = numbers(216)
    x, info = getattr(tcsolve, name)(a, b, rtol=rtol)
    assert info == 0 and info.solved and residual(a, x, b) <= 1.01 * rtol
    if name in ("cg", "bicgstab", "gmres"):
        y, code = getattr(sla, name)(a, b, rtol=rtol)
        assert code == 0
        assert np.linalg.norm(x - y) <= 20 * rtol * np.linalg.norm(y)


@pytest.mark.parametrize("name, more", [("cg", set()), ("bicgstab", set()), ("gmres", set()),
                                        ("minres", {"atol"}), ("lsmr", {"rtol", "M", "callback"})])
def test_takes_the_keywords_of_scipy(name, more):
    mine, theirs = (inspect.signature(getattr(m, name)).parameters for m in (tcsolve, sla))
    assert set(mine) == set(theirs) | more
    for key, parameter in theirs.items():
        if name == "lsmr" and key == "atol":  # another one
            continue
        assert mine[key].default == parameter.default, key
        if name != "lsmr":
            assert mine[key].kind == parameter.kind, key
    a, b = laplace(4), numbers(64)
    by_keyword = {k: p.default for k, p in theirs.items() if k not in ("A", "b")}
    assert getattr(tcsolve, name)(a, b, **by_keyword)[1] == 0  # SciPy's defaults, all of them


def test_systems_of_scipys_tests():
    """Real, symmetric, definite or not: scipy/sparse/linalg/_isolve/tests/test_iterative.py."""
    n = 40
    poisson = laplace(4)
    rand = np.random.default_rng(1234).random((n, n))
    spd = rand @ rand.T + n * np.eye(n)
    nonsymmetric = rand + n * np.eye(n)
    scaled = np.diag(np.linspace(1, 9, n)) + 0.05 * (rand + rand.T)
    for name, a in (("cg", poisson), ("cg", spd), ("minres", spd), ("minres", scaled),
                    ("bicgstab", nonsymmetric), ("gmres", nonsymmetric), ("gmres", spd)):
        b = np.arange(a.shape[0], dtype=float)
        if isinstance(a, np.ndarray):
            with pytest.warns(tcsolve.CopyWarning):
                x, info = getattr(tcsolve, name)(a, b, rtol=1e-8)
        else:
            x, info = getattr(tcsolve, name)(a, b, rtol=1e-8)
        assert info == 0 and residual(a, x, b) <= 1.01e-8, name


def test_callback_maxiter_and_guess():
    a, b = laplace(6), numbers(216)
    norms = []
    x, info = tcsolve.cg(a, b, callback=norms.append)
    assert len(norms) == info.iterations
    with pytest.warns(tcsolve.ConvergenceWarning) as heard:
        y, info = tcsolve.cg(a, b, maxiter=3)
    assert info == 3 and heard[0].filename == __file__
    z, info = tcsolve.cg(a, b, x)
    assert info == 0 and info.iterations == 0
    x, info = tcsolve.gmres(flow(6), b[:, None], restart=5)
    assert x.shape == (216,) and info == 0
    x, info = tcsolve.cg(sla.aslinearoperator(a), b, M=sla.aslinearoperator(laplace(6) * 0.1))
    assert residual(a, x, b) <= 1.01e-5


def test_scipys_methods_with_our_preconditioner():
    a, b = laplace(10), numbers(1000)
    solver = tcsolve.Solver(a, method="cg", M="ic", device="cpu")
    count = []
    x, code = sla.cg(a, b, M=solver.preconditioner(), callback=count.append, rtol=1e-8)
    plain = []
    sla.cg(a, b, callback=plain.append, rtol=1e-8)
    assert code == 0 and len(count) < 0.7 * len(plain)
    f = flow(8)
    M = tcsolve.Solver(f, method="gmres", M="ilu", device="cpu").preconditioner()
    u, v = numbers(512, 1), numbers(512, 2)
    assert np.dot(M @ u, v) == pytest.approx(np.dot(u, M.rmatvec(v)), rel=1e-10)
    none = tcsolve.Solver(f, method="gmres").preconditioner()
    assert ((none @ u) == u).all()


def test_a_solver_as_an_operator():
    a, b = flow(6), numbers(216)
    inverse = tcsolve.Solver(a, method="gmres", rtol=1e-12).aslinearoperator()
    assert np.allclose(a @ (inverse @ b), b)
    assert np.allclose(a.T @ inverse.rmatvec(b), b)
    hopeless = tcsolve.Solver(a, method="gmres", maxiter=1).aslinearoperator()
    with pytest.raises(tcsolve.NotConverged):
        hopeless @ b
