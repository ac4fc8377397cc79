# SPDX-License-Identifier: Apache-2.0
"""What a later solve asks of a package of arrays on a device: counted on a CuPy that counts.

The compiled part gets addresses of vectors that lie as it takes them: no kernel, no DLPack, no
context of a device is CuPy's share of such a call.
"""
import sys
import types

import numpy as np
import pytest

import tcsolve
from tcsolve import _options


class Report:
    solved = True


class CountingCore:
    """In the place of the compiled part: what is asked of it."""

    def __init__(self, calls, rows=8, cols=8):
        self.calls, self.shape, self.ready, self.on_host = calls, (rows, cols), True, False

    def solve_at(self, *asked):
        self.calls.append("solve_at")
        self.asked = asked
        return Report()

    def solve(self, b, x, *asked):
        self.calls.append("solve")
        self.given = b, x
        return Report()


@pytest.fixture
def cupy(monkeypatch):
    """A module whose every call to the driver is written down."""
    module = types.ModuleType("cupy")
    calls = module.calls = []
    addresses = iter(range(0x1000, 0x100000, 0x1000))

    class Device:
        def __init__(self, ordinal):
            self.id = ordinal

        def __enter__(self):
            calls.append("device")
            self.before, module.here = module.here, self.id

        def __exit__(self, *_):
            module.here = self.before

    class ndarray:
        def __init__(self, n, dtype="float64", device=0, c=True):
            self.ndim, self.shape, self.size, self.dtype = 1, (n,), n, np.dtype(dtype)
            self.flags = types.SimpleNamespace(c_contiguous=c, f_contiguous=c)
            self.data = types.SimpleNamespace(ptr=next(addresses), device_id=device)
            self.device = Device(device)

        def __len__(self):
            return self.size

        def __dlpack_device__(self):
            calls.append("dlpack_device")
            return (2, self.device.id)

        def __dlpack__(self, **_):
            calls.append("dlpack")

        def __setitem__(self, where, what):
            calls.append("kernel")

        def astype(self, dtype, copy=True):
            calls.append("cast")
            return ndarray(self.size, dtype, self.device.id)

        def get(self):
            calls.append("to host")
            return np.zeros(self.size, self.dtype)

    ndarray.__module__ = "cupy"
    module.ndarray = ndarray

    def empty(n):
        calls.append("empty")
        return ndarray(n, device=module.here)

    def dense(a):
        calls.append("kernel")
        return ndarray(a.size, a.dtype, a.device.id)

    def current(ordinal):
        calls.append("stream")
        return types.SimpleNamespace(ptr=0x77, is_capturing=lambda: module.captured)

    module.here, module.captured = 0, False
    module.empty, module.ascontiguousarray = empty, dense
    module.asarray = lambda a: ndarray(a.size, a.dtype, module.here) if type(a) is np.ndarray else a
    module.cuda = types.SimpleNamespace(
        get_current_stream=current, runtime=types.SimpleNamespace(getDevice=lambda: module.here))
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def solver_on(calls, rows=8, cols=8):
    s = tcsolve.Solver.__new__(tcsolve.Solver)
    s._core = CountingCore(calls, rows, cols)
    s._kept = s._pattern = s._M = s._why_host = None
    return s


def identity(n):
    import scipy.sparse as sp

    a = sp.csr_array(sp.eye_array(n))
    a.indptr, a.indices = a.indptr.astype(np.int32), a.indices.astype(np.int32)
    return a


def test_a_warm_call_makes_x_asks_for_the_stream_and_solves(cupy):
    s = solver_on(cupy.calls)
    b, x0 = cupy.ndarray(8), cupy.ndarray(8)
    x, info = s.solve(b, x0, rtol=1e-6)
    assert cupy.calls == ["empty", "stream", "solve_at"]
    assert info.solved and type(x) is cupy.ndarray
    (at_b, rows, at_x, cols, guess, device, rtol, atol, maxiter, limit, transpose, callback, every,
     stream) = s._core.asked
    assert (at_b, at_x, guess) == (b.data.ptr, x.data.ptr, x0.data.ptr)
    assert (rows, cols, device, rtol, transpose, stream) == (8, 8, 0, 1e-6, False, 0x77)
    assert atol is maxiter is limit is callback is None and every == 1


def test_without_a_guess_and_into_out(cupy):
    s = solver_on(cupy.calls)
    b, out = cupy.ndarray(8), cupy.ndarray(8)
    x, _ = s.solve(b, out=out, stream=5)
    assert cupy.calls == ["solve_at"] and x is out
    assert s._core.asked[2] == out.data.ptr and s._core.asked[4] == 0
    assert s._core.asked[-1] == 5


def test_the_transpose_has_the_other_lengths(cupy):
    s = solver_on(cupy.calls, rows=8, cols=6)
    x, _ = s.solve(cupy.ndarray(6), transpose=True)
    assert s._core.asked[1] == 6 and s._core.asked[3] == 8 == x.size
    with pytest.raises(tcsolve.ShapeError, match="b has shape"):
        s.solve(cupy.ndarray(8), transpose=True)


def test_x_lies_on_the_device_of_b(cupy):
    s = solver_on(cupy.calls)
    cupy.here = 1  # and CuPy's current device is another one
    s.solve(cupy.ndarray(8, device=0))
    assert cupy.calls == ["device", "empty", "stream", "solve_at"] and s._core.asked[5] == 0
    assert cupy.here == 1
    cupy.calls.clear()
    s.solve(cupy.ndarray(8, device=1))
    assert cupy.calls == ["empty", "stream", "solve_at"] and s._core.asked[5] == 1


@pytest.mark.parametrize("x0", [dict(dtype="float32"), dict(device=1), dict(c=False)])
def test_a_guess_of_another_kind_is_converted(cupy, x0):
    s = solver_on(cupy.calls)
    s.solve(cupy.ndarray(8), cupy.ndarray(8, **x0))
    assert "kernel" in cupy.calls and cupy.calls[-1] == "solve"
    assert "solve_at" not in cupy.calls


@pytest.mark.parametrize("b", [dict(dtype="float32"), dict(c=False)])
def test_b_of_another_kind_is_converted(cupy, b):
    s = solver_on(cupy.calls)
    s.solve(cupy.ndarray(8, **b))
    assert "solve" in cupy.calls and "solve_at" not in cupy.calls


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_a_solver_on_the_host_gets_copies(cupy, kind):
    """It reads no memory of a device; x is of b's kind, on b's device."""
    s = solver_on(cupy.calls)
    s._core.on_host = True
    x, _ = s.solve(cupy.ndarray(8, kind, device=1), cupy.ndarray(8))
    assert cupy.calls[:1] == ["to host"] and "solve" in cupy.calls and "solve_at" not in cupy.calls
    assert all(type(a) is np.ndarray and a.dtype == np.float64 for a in s._core.given)
    assert type(x) is cupy.ndarray and x.device.id == 1 and x.dtype == kind


def test_lengths_are_told_as_before(cupy):
    s = solver_on(cupy.calls)
    with pytest.raises(tcsolve.ShapeError, match="b has shape"):
        s.solve(cupy.ndarray(7))
    with pytest.raises(tcsolve.ShapeError, match="x0 has shape"):
        s.solve(cupy.ndarray(8), cupy.ndarray(7))
    with pytest.raises(tcsolve.ShapeError, match="out has shape"):
        s.solve(cupy.ndarray(8), out=cupy.ndarray(7))


def test_a_stream_that_is_captured_is_refused(cupy):
    s = solver_on(cupy.calls)
    cupy.captured = True
    with pytest.raises(tcsolve.Unsupported, match="being captured"):
        s.solve(cupy.ndarray(8))
    assert "solve_at" not in cupy.calls


def test_the_compiled_part_takes_addresses_of_devices_alone():
    """A solver on the host says so before it reads them."""
    a = identity(4)
    s = tcsolve.Solver(a, method="cg", device="cpu")
    for guess in (0, 0x3000):
        with pytest.raises((tcsolve.ShapeError, tcsolve.Unsupported)):
            s._core.solve_at(0x1000, 4, 0x2000, 4, guess, 0, None, None, None, None, False, None, 1, 0)


@pytest.mark.parametrize("A, M, why", [
    (identity(8), lambda r: r, "M is a function"),
    (identity(8), tcsolve.Solver(identity(8), method="cg", device="cpu"), "M is a Solver"),
    (lambda v: v, None, "A is a function")])
def test_the_host_because_of_a_function_is_said_once(cupy, A, M, why):
    b = cupy.ndarray(8)
    with pytest.warns(tcsolve.CopyWarning, match=f"{why}.*: b is copied") as heard:
        x, info = tcsolve.solve(A, b, method="cg", M=M)
    assert len(heard) == 1 and heard[0].filename == __file__
    assert type(x) is cupy.ndarray and info.solved
    with pytest.warns(tcsolve.CopyWarning, match=why) as heard:
        tcsolve.cg(A, b, M=M)
    assert len(heard) == 1 and heard[0].filename == __file__
    tcsolve.solve(A, b, method="cg", M=M, device="cpu")  # it is meant
    tcsolve.solve(A, np.ones(8), method="cg", M=M)
    tcsolve.solve(identity(8), b, method="cg", device="cpu")
    if why.startswith("M"):
        solver = tcsolve.Solver(A, method="cg", M=M)
        with pytest.warns(tcsolve.CopyWarning, match=why) as heard:
            solver.solve(b)
            solver.solve(b)
        assert len(heard) == 1 and heard[0].filename == __file__


def test_a_matrix_of_a_device_with_a_function_as_M(cupy):
    s = solver_on(cupy.calls)
    s._core.on_host, s._M, s._borrow = True, lambda r: r, True
    s._why_host = _options.device_for(None, s._M)[1]
    s._core.set_csr_and_M = lambda *args: cupy.calls.append("set_csr_and_M")
    with pytest.warns(tcsolve.CopyWarning, match="M is a function.*: A is copied") as heard:
        s.set_matrix((cupy.ndarray(8), cupy.ndarray(8, "int32"), cupy.ndarray(9, "int32"), (8, 8)))
    assert len(heard) == 1 and heard[0].filename == __file__
    assert cupy.calls[-1] == "set_csr_and_M"
    s.solve(cupy.ndarray(8))  # once
