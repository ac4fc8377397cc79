# SPDX-License-Identifier: Apache-2.0
"""Solves, verdicts, options and errors."""
import inspect
import io
import logging
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import flow, laplace, numbers, residual

import tcsolve


def test_info_is_a_verdict():
    a, b = laplace(6), numbers(216)
    x, info = tcsolve.solve(a, b)
    assert info.solved and info.converged and info.reason == "converged"
    assert info == 0 and int(info) == 0 and not info > 0
    assert info.true_residual == pytest.approx(np.linalg.norm(b - a @ x), rel=1e-3)
    assert info.true_residual <= info.tolerance == pytest.approx(1e-8 * np.linalg.norm(b))
    with pytest.raises(TypeError, match="info.solved"):
        bool(info)
    with pytest.raises(AttributeError):
        info.solved = True
    with pytest.raises(AttributeError):
        info.other = 1
    d = info.to_dict()
    assert d["outcome"] == "converged" and d["iterations"] == info.iterations
    assert len(d["history"]) == len(info.residuals) == info.iterations
    assert info.residuals[-1] == d["history"][-1][1]
    assert repr(info).startswith("<tcsolve.Info: ")


def test_a_failure_is_heard_of():
    a, b = laplace(6), numbers(216)
    with pytest.warns(tcsolve.ConvergenceWarning, match="2 iterations") as heard:
        x, info = tcsolve.solve(a, b, method="cg", maxiter=2)
    assert len(heard) == 1 and heard[0].filename == __file__
    assert not info.solved and info == 2 and info > 0 and info.reason == "max_iterations"
    solver = tcsolve.Solver(a, method="cg", maxiter=2)
    with pytest.warns(tcsolve.ConvergenceWarning) as heard:
        solver.solve(b)
    assert heard[0].filename == __file__
    with pytest.raises(tcsolve.NotConverged) as raised:
        solver.solve(b, check=True)
    assert raised.value.info.iterations == 2 and raised.value.x.shape == (216,)
    with pytest.raises(tcsolve.NotConverged):
        tcsolve.solve(a, b, method="cg", maxiter=2, check=True)
    with pytest.warns(tcsolve.ConvergenceWarning):
        x, infos = solver.solve(np.stack([b, b], 1))
    assert not infos.solved and int(infos) == 2


def test_as_a_number_info_is_scipys():
    a, b = laplace(4), numbers(64)
    solver = tcsolve.Solver(a, method="cg")
    with pytest.warns(tcsolve.ConvergenceWarning):
        x, failed = solver.solve(b, maxiter=3)
    for info, code in ((solver.solve(b)[1], 0), (failed, 3)):
        for n in (-1, 0, 2, 3, 4, 0.5, np.int64(3), np.float64(0)):
            assert (info < n, info <= n, info == n, info != n, info >= n, info > n) == (
                code < n, code <= n, code == n, code != n, code >= n, code > n)
            assert (n < info, n <= info, n >= info, n > info) == (
                n < code, n <= code, n >= code, n > code)
        with pytest.raises(TypeError):
            info < "3"
        assert [0, 1, 2, 3][info] == code and range(5)[info] == code


def test_memory_has_the_factors():
    a = laplace(10)
    plain = tcsolve.Solver(a, method="cg", options={"operator": "csr"}, device="cpu").memory
    assert plain == pytest.approx(a.data.nbytes + a.indices.nbytes, rel=0.2)
    for M in ("ic", "direct"):
        with tcsolve.Solver(a, method="cg", M=M, options={"operator": "csr"}, device="cpu") as s:
            assert s.memory > 1.4 * plain, M


def test_info_has_the_set_up_of_its_time():
    a, b = flow(5), numbers(125)
    solver = tcsolve.Solver(a, method="gmres", M="ilu", device="cpu")
    x, first = solver.solve(b)
    before = solver.setup
    assert first.setup == before and before["updates"] == 0 and "ilu" in str(solver.options)
    assert first.memory == solver.memory > 8 * a.nnz
    y, second = solver.solve(b, transpose=True)
    assert second.setup["transposed"].startswith("a second set-up") and first.setup == before
    x, third = solver.update_values(2 * a.data).solve(b)
    assert third.setup["updates"] == 1 and first.setup["updates"] == second.setup["updates"] == 0
    solver.close()
    assert third.to_dict()["setup"] == third.setup and third.to_dict()["memory"] == third.memory
    x, once = tcsolve.solve(a, b)
    assert once.setup["format"] and once.memory > 0
    x, infos = tcsolve.solve(a, np.stack([b, 2 * b], 1), method="gmres")
    assert len(infos) == 2 and all(info.setup == infos[0].setup for info in infos)
    assert infos[0].setup["format"] and infos[1].memory > 0


def test_signatures():
    """As documents show them."""
    once = inspect.signature(tcsolve.solve).parameters
    shown = {"x0": None, "rtol": 1e-8, "atol": 0.0, "maxiter": None, "method": "auto", "M": "auto",
             "callback": None, "transpose": False, "symmetric": None, "nullspace": None,
             "options": None, "device": None, "check": False}
    assert {k: once[k].default for k in shown} == shown
    assert list(once)[:3] == ["A", "b", "x0"]
    solve = inspect.signature(tcsolve.Solver.solve).parameters
    assert list(solve)[1:10] == ["b", "x0", "out", "rtol", "atol", "maxiter", "transpose",
                                 "callback", "stream"]
    a, b, out, seen = flow(4), numbers(64), np.empty(64), []
    solver = tcsolve.Solver(a, method="gmres", device="cpu")
    x, info = solver.solve(b, None, out, 1e-4, 1e-3, 50, True, lambda i, r: seen.append(i), 0)
    assert x is out and residual(a.T, x, b) <= 1e-3 and len(seen) == info.iterations
    assert info.tolerance == max(1e-4 * info.rhs_norm, 1e-3)


def test_defaults_of_one_shot_solves():
    a, b = laplace(12), numbers(1728)
    x, plain = tcsolve.solve(a, b, method="cg", M=None)
    x, named = tcsolve.solve(a, b, method="cg")
    assert plain.iterations == tcsolve.Solver(a, method="cg").solve(b)[1].iterations
    assert named.iterations < plain.iterations / 2 and named.setup["preconditioner"]
    x, op = tcsolve.solve(lambda v: a @ v, b, method="cg")
    assert abs(op.iterations - plain.iterations) <= 1
    loose = {"solver": {"type": "cg", "rtol": 1e-3, "atol": 1.0}, "preconditioner": "jacobi"}
    x, info = tcsolve.solve(a, b, options=loose)
    assert info.tolerance == 1.0 and not info.setup["preconditioner"]
    x, info = tcsolve.solve(a, b, options=loose, rtol=1e-8, atol=0.0)
    assert info.tolerance == pytest.approx(1e-8 * info.rhs_norm)
    text = "solver: {type: cg, rtol: 1e-3}\npreconditioner: {type: none}\n"
    x, info = tcsolve.solve(a, b, options=text, M=None)
    assert info.tolerance == pytest.approx(1e-3 * info.rhs_norm)
    x, info = tcsolve.solve(a, b, options=text, rtol=1e-6)
    assert info.tolerance == pytest.approx(1e-6 * info.rhs_norm)


def test_limits_of_a_call():
    a, b = laplace(6), numbers(216)
    solver = tcsolve.Solver(a, method="cg", rtol=1e-10)
    x, info = solver.solve(b, rtol=1e-2)
    assert info.tolerance == pytest.approx(1e-2 * info.rhs_norm)
    x, info = solver.solve(b, rtol=0.0, atol=0.5)
    assert info.tolerance == 0.5
    x, info = solver.solve(b)
    assert info.tolerance == pytest.approx(1e-10 * info.rhs_norm)
    with pytest.raises(tcsolve.ConfigError, match="rtol"):
        solver.solve(b, rtol=7.0)
    again, info = solver.solve(b, x)  # from the answer
    assert info.iterations == 0 and info.reason.startswith("converged")


def test_options_in_every_form():
    a, b = laplace(6), numbers(216)
    text = "solver: {type: gmres, restart: 40}\npreconditioner: {type: jacobi}\n"
    for solver in (
        tcsolve.Solver(a, method="gmres", M="jacobi", restart=40),
        tcsolve.Solver(a, method={"type": "gmres", "restart": 40}, M={"type": "jacobi"}),
        tcsolve.Solver(a, options={"solver": {"type": "gmres", "restart": 40},
                                   "preconditioner": "jacobi"}),
        tcsolve.Solver(a, options=text),
    ):
        assert solver.options["solver"]["restart"] == 40
        assert solver.options["preconditioner"]["type"] == "jacobi"
        assert solver.solve(b)[1].solved
    with pytest.raises(tcsolve.ConfigError, match="did you mean 'restart'"):
        tcsolve.Solver(a, method="gmres", restrat=40)
    with pytest.raises(ValueError):
        tcsolve.Solver(a, method="cq")
    with pytest.raises(TypeError):
        tcsolve.Solver(a, options=text, method="cg")
    solver = tcsolve.Solver(a, method="cg", threads=1, device="cpu", time_limit=float("inf"))
    assert solver.device == "host, 1 thread" and solver.shape == (216, 216)
    assert solver.format and solver.setup["format"] == solver.format and solver.memory > 0


def test_new_values():
    a, b = flow(6), numbers(216)
    solver = tcsolve.Solver(a, method="gmres", M="ilu")
    for step in range(3):
        a = a.copy()
        a.data = a.data * (1 + 0.1 * np.cos(np.arange(a.nnz) + step))
        x, _ = solver.update_values(a).solve(b)
        assert residual(a, x, b) <= 1.01e-8
        y, _ = solver.solve(b, transpose=True)
        assert residual(a.T, y, b) <= 1.01e-8
    solver.update_values(a.data * 2)  # the values alone
    assert residual(2 * a, solver.solve(b)[0], b) <= 1.01e-8
    with pytest.raises(tcsolve.ShapeError, match="entries"):
        solver.update_values(a.data[1:])
    solver.update_values(a)
    assert solver.setup["updates"] == 5
    assert solver.setup["transposed"].startswith("a second set-up")
    with pytest.raises(tcsolve.ShapeError):
        solver.update_values(laplace(5))
    assert residual(a, solver.solve(b)[0], b) <= 1.01e-8


def test_functions_that_have_changed():
    a, b, scale = laplace(6), numbers(216), 1.0
    with pytest.raises(tcsolve.ShapeError, match="refresh"):
        tcsolve.Solver().refresh()
    solver = tcsolve.Solver(sla.LinearOperator(a.shape, matvec=lambda v: scale * (a @ v)),
                            method="cg", M=lambda r: r / (6 * scale))
    x, info = solver.solve(b)
    for scale in (3.0, 5.0):
        assert solver.refresh() is solver
        y, info = solver.solve(b)
        assert info.solved and np.allclose(scale * y, x, atol=1e-6)
    solver = tcsolve.Solver(flow(5), method="gmres", M="ilu")
    x, _ = solver.solve(b[:125], transpose=True)
    y, _ = solver.refresh().solve(b[:125], transpose=True)
    assert residual(flow(5).T, y, b[:125]) <= 1.01e-8


def test_a_stream_means_nothing_on_the_host():
    a, b = laplace(4), numbers(64)
    solver = tcsolve.Solver(a, method="cg", stream=0x1234, device="cpu")
    assert residual(a, solver.solve(b)[0], b) <= 1.01e-8
    assert residual(a, solver.solve(b, stream=0x5678)[0], b) <= 1.01e-8


def test_symmetric_adjoints_are_free():
    a, b = laplace(6), numbers(216)
    solver = tcsolve.Solver(a, method="cg", M="ic")
    x, _ = solver.solve(b)
    y, info = solver.solve(b, transpose=True)
    assert (x == y).all() and "symmetric" in solver.setup["transposed"]


def test_rectangular():
    rng = np.random.default_rng(0)
    a = sp.random_array((60, 20), density=0.3, rng=rng, format="csr")
    a.sort_indices()
    a.indptr, a.indices = a.indptr.astype(np.int32), a.indices.astype(np.int32)
    b = rng.standard_normal(60)
    x, info = tcsolve.solve(a, b)
    assert info.solved and info.reason == "least_squares"
    assert np.allclose(x, np.linalg.lstsq(a.toarray(), b, rcond=None)[0], atol=1e-6)


def test_nullspace():
    n = 30
    a = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tolil()
    a[0, 0] = a[-1, -1] = 1
    a = sp.csr_array(a)
    a.indptr, a.indices = a.indptr.astype(np.int32), a.indices.astype(np.int32)
    b = numbers(n)
    b -= b.mean()
    for z in ("constant", np.ones(n), np.ones((n, 1))):
        x, info = tcsolve.solve(a, b, method="cg", nullspace=z)
        assert info.solved and abs(x.mean()) < 1e-12
    with pytest.raises(ValueError):
        tcsolve.solve(a, b, nullspace="ones")


def test_callbacks():
    a, b = laplace(8), numbers(512)
    solver = tcsolve.Solver(a, method="cg")
    seen = []
    x, info = solver.solve(b, callback=lambda i, r: seen.append((i, r)))
    assert [i for i, _ in seen] == list(range(1, info.iterations + 1))
    assert np.allclose([r for _, r in seen], info.residuals)
    with pytest.warns(tcsolve.ConvergenceWarning):
        x, info = solver.solve(b, callback=lambda i, r: i < 5)
    assert info.reason == "cancelled"

    class Mine(Exception):
        pass

    def stop(i, r):
        raise Mine(i)

    with pytest.raises(Mine):
        solver.solve(b, callback=stop)
    with pytest.raises(ZeroDivisionError):
        tcsolve.solve(lambda v: 1 / 0, b, method="cg")
    assert solver.solve(b)[1].solved


def test_errors_are_pythons_too():
    a = laplace(3)
    bad = a.copy()
    bad.indices[4] = 99
    bad.has_canonical_format = True
    with pytest.raises(tcsolve.MatrixError, match="row 2"):
        tcsolve.Solver(bad)
    assert issubclass(tcsolve.ConfigError, ValueError)
    assert issubclass(tcsolve.Unsupported, NotImplementedError)
    assert issubclass(tcsolve.OutOfMemory, MemoryError)
    assert tcsolve.MemoryError is tcsolve.OutOfMemory
    assert "MemoryError" not in tcsolve.__all__  # import * leaves Python's
    for name in ("ConfigError", "MatrixError", "ShapeError", "DeviceError", "NotConverged"):
        assert issubclass(getattr(tcsolve, name), tcsolve.Error)
    negative = -laplace(4)
    with pytest.raises(tcsolve.Error):
        x, info = tcsolve.Solver(negative, method="cg", M="ic").solve(np.ones(64), check=True)
    if not tcsolve.has_cuda or tcsolve.devices() == ["host"]:
        with pytest.raises((tcsolve.DeviceError, tcsolve.Unsupported)):
            tcsolve.Solver(a, device="cuda")


def test_log_goes_to_logging(caplog):
    with caplog.at_level(logging.DEBUG, "tcsolve"):
        tcsolve.Solver(laplace(4))
    assert any(r.name == "tcsolve" for r in caplog.records)


def test_preconditioners_of_the_caller():
    a, b = laplace(8), numbers(512)
    plain = tcsolve.Solver(a, method="cg").solve(b)[1]
    diagonal = a.diagonal()
    bad = a.copy()
    scale = np.exp(3 * numbers(512, 7))
    bad = sp.csr_array(sp.diags_array(scale) @ a @ sp.diags_array(scale))
    bad.indptr, bad.indices = bad.indptr.astype(np.int32), bad.indices.astype(np.int32)
    d = bad.diagonal()
    calls = []

    def M(r):
        calls.append(1)
        return r / d

    x, info = tcsolve.Solver(bad, method="cg", M=M, maxiter=5000).solve(b)
    named = tcsolve.Solver(bad, method="cg", M="jacobi", maxiter=5000).solve(b)[1]
    assert len(calls) >= info.iterations and abs(info.iterations - named.iterations) <= 2
    inner = tcsolve.Solver(a, method="cg", rtol=1e-2)
    x, info = tcsolve.Solver(a, method="fgmres", M=inner).solve(b)
    assert info.iterations < plain.iterations / 3
    solver = tcsolve.Solver(a, method="cg", M=lambda r: r / diagonal)
    twice = a.copy()
    twice.data *= 2
    assert residual(twice, solver.update_values(twice).solve(b)[0], b) <= 1.01e-8


def test_reads_files(tmp_path):
    from scipy.io import mmwrite

    a = flow(3)
    mmwrite(tmp_path / "a.mtx", a)
    b = tcsolve.read(tmp_path / "a.mtx")
    assert abs(a - b).max() <= 1e-15 and b.indices.dtype == np.int32
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n")
    with pytest.raises(tcsolve.MatrixError, match="bad.mtx"):
        tcsolve.read(tmp_path / "bad.mtx")


def test_advice():
    found = tcsolve.advise(laplace(6), numbers(216), seconds=0.5, device="cpu")
    assert found[0]["standing"] == "solved" and "type" in found[0]["solver"]
    with pytest.raises(tcsolve.ShapeError):
        tcsolve.advise(laplace(6), numbers(5), seconds=0.5)


def test_shows_what_there_is():
    out = io.StringIO()
    tcsolve.show(out)
    assert tcsolve.__version__ in out.getvalue() and "numpy" in out.getvalue()
    told = dict(line.split(": ", 1) for line in out.getvalue().splitlines() if ": " in line)
    assert told["METIS"].startswith("built with") and ("cuDSS" in told) == tcsolve.has_cuda
    count = int(told["kept for tcsolve.solve"].split(",")[0])
    tcsolve.solve(laplace(3), np.ones(27), method={"type": "cg"})  # options of dicts are not kept
    tcsolve.solve(laplace(3), np.ones(27), threads=count + 40)
    tcsolve.show(out := io.StringIO())
    assert f"kept for tcsolve.solve: {min(32, count + 1)}, " in out.getvalue()
    assert tcsolve.devices()[0] == "host"


def test_closed():
    solver = tcsolve.Solver(laplace(3))
    with solver as same:
        assert same is solver and "27 x 27" in repr(solver)
    assert "closed" in repr(solver)
    with pytest.raises(tcsolve.Error, match="closed"):
        solver.solve(np.ones(27))
    with pytest.raises(TypeError):
        pickle.dumps(tcsolve.Solver())


def test_every_public_name_has_a_docstring():
    for name in tcsolve.__all__:
        thing = getattr(tcsolve, name)
        if not isinstance(thing, bool):
            assert thing.__doc__, name
    for name, thing in vars(tcsolve.Solver).items():
        if not name.startswith("_"):
            assert thing.__doc__, name


def test_least_squares_with_a_function_as_M():
    """M of A^T A, which has the columns of A."""
    rng = np.random.default_rng(7)
    dense = rng.standard_normal((40, 6)) * 10.0 ** np.arange(6)
    a, b = sp.csr_array(dense), rng.standard_normal(40)
    d = 1 / (dense**2).sum(0)
    best = np.linalg.lstsq(dense, b, rcond=None)[0]
    product = sla.LinearOperator(a.shape, matvec=lambda v: a @ v, rmatvec=lambda v: a.T @ v)
    scaling = sla.LinearOperator((6, 6), matvec=lambda v: d * v, rmatvec=lambda v: d * v)
    for A in (a, product):
        x, info = tcsolve.solve(A, b, method="lsmr", M=scaling, rtol=1e-12, device="cpu")
        assert info.solved, info.message
        assert np.allclose(x * np.abs(dense).max(0), best * np.abs(dense).max(0), atol=1e-6)
    with pytest.raises(tcsolve.Unsupported, match="transpose"):
        tcsolve.solve(a, b, method="lsmr", M=lambda v: d * v, device="cpu")
