# SPDX-License-Identifier: Apache-2.0
"""Arrays of a device: CuPy's, torch's and JAX's are used where they lie, and x is of their kind."""
import contextlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import flow, laplace, numbers, residual

import tcsolve

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes most of the memory

pytestmark = pytest.mark.skipif(
    not (tcsolve.has_cuda and len(tcsolve.devices()) > 1), reason="no CUDA device"
)


class CuPy:
    """What the tests ask of a package."""

    def __init__(self):
        self.module = pytest.importorskip("cupy")
        self.sparse = pytest.importorskip("cupyx.scipy.sparse")

    def array(self, a):
        return self.module.asarray(a)

    def csr(self, a):
        return self.sparse.csr_matrix(
            (self.array(a.data), self.array(a.indices), self.array(a.indptr)), shape=a.shape
        )

    def host(self, x):
        assert isinstance(x, self.module.ndarray)
        return x.get()

    def pointer(self, x):
        return x.data.ptr

    def free(self):
        self.module.cuda.runtime.deviceSynchronize()
        return self.module.cuda.runtime.memGetInfo()[0]

    @contextlib.contextmanager
    def busy_stream(self):
        """The current one, not the default, with work in it that takes 50 ms or so."""
        spin = self.module.RawKernel(
            'extern "C" __global__ void spin(long long n) { long long t = clock64();'
            " while (clock64() - t < n); }", "spin")
        # CuPy destroys a stream with its object, and a test may name it afterwards.
        stream = self.stream = self.module.cuda.Stream(non_blocking=True)
        with stream:
            spin((1,), (1,), (np.int64(10**8),))
            yield stream.ptr

    def column_pointer(self, A):
        return A.indices.data.ptr


class Torch:
    def __init__(self):
        self.module = pytest.importorskip("torch")
        if not self.module.cuda.is_available():
            pytest.skip("torch without a device")

    def array(self, a):
        return self.module.as_tensor(a, device="cuda")

    def csr(self, a):
        return self.module.sparse_csr_tensor(
            self.array(a.indptr), self.array(a.indices), self.array(a.data), size=a.shape)

    def host(self, x):
        assert isinstance(x, self.module.Tensor) and x.is_cuda
        return x.cpu().numpy()

    def pointer(self, x):
        return x.data_ptr()

    def free(self):
        self.module.cuda.synchronize()
        return self.module.cuda.mem_get_info()[0]

    @contextlib.contextmanager
    def busy_stream(self):
        stream = self.module.cuda.Stream()
        with self.module.cuda.stream(stream):
            self.module.cuda._sleep(10**8)
            yield stream.cuda_stream

    def column_pointer(self, A):
        return A.col_indices().data_ptr()


class Jax:
    def __init__(self):
        self.module = pytest.importorskip("jax")
        self.module.config.update("jax_enable_x64", True)
        if self.module.default_backend() != "gpu":
            pytest.skip("JAX without a device")

    def array(self, a):
        return self.module.numpy.asarray(a)

    def csr(self, a):
        from jax.experimental.sparse import BCSR

        parts = (self.array(p) for p in (a.data, a.indices, a.indptr))
        return BCSR(tuple(parts), shape=a.shape)

    def host(self, x):
        assert isinstance(x, self.module.Array)
        assert all(d.platform == "gpu" for d in x.devices())
        return np.asarray(x)

    def pointer(self, x):
        return x.unsafe_buffer_pointer()

    def free(self):
        cupy = pytest.importorskip("cupy")
        cupy.cuda.runtime.deviceSynchronize()
        return cupy.cuda.runtime.memGetInfo()[0]

    def column_pointer(self, A):
        return self.pointer(A.indices)


@pytest.fixture(params=[CuPy, Torch, Jax])
def on(request):
    return request.param()


@pytest.fixture(params=[CuPy, Torch])
def streams(request):
    return request.param()


PLAIN = {"method": "cg", "M": "jacobi", "options": {"operator": "csr"}}


def test_used_where_they_lie(on):
    a, b = laplace(12), numbers(1728)
    A, rhs = on.csr(a), on.array(b)
    solver = tcsolve.Solver(A, **PLAIN)
    assert "host" not in solver.device
    assert solver._core.columns_pointer == on.column_pointer(A) != 0
    x, info = solver.solve(rhs)
    assert info.solved and residual(a, on.host(x), b) <= 1.01e-8
    assert np.array_equal(on.host(rhs), b)
    copied = tcsolve.Solver(A, borrow=False, **PLAIN)
    assert copied._core.columns_pointer not in (0, on.column_pointer(A))
    x, info = tcsolve.solve(A, rhs)  # once, and auto
    assert info.solved and residual(a, on.host(x), b) <= 1.01e-8


def test_triples_and_values_alone(on):
    a, b = flow(8), numbers(512)
    A = tuple(on.array(p) for p in (a.data, a.indices, a.indptr))
    solver = tcsolve.Solver(A, method="gmres", M="ilu")
    assert "host" not in solver.device
    assert residual(a, on.host(solver.solve(on.array(b))[0]), b) <= 1.01e-8
    solver.update_values(on.array(2.0 * a.data))
    assert residual(2 * a, on.host(solver.solve(on.array(b))[0]), b) <= 1.01e-8
    twice = a.copy()
    twice.data = a.data * 3
    solver.update_values(on.csr(twice))
    assert residual(twice, on.host(solver.solve(on.array(b))[0]), b) <= 1.01e-8


def test_entries(on):
    from test_entries import in_parts

    a, b = flow(6), numbers(216)
    i, j, v = in_parts(a)
    solver = tcsolve.Solver(method="gmres", M="jacobi", device="cuda")
    solver.set_coo(on.array(i), on.array(j), on.array(v), a.shape)
    assert residual(a, on.host(solver.solve(on.array(b))[0]), b) <= 1.01e-8
    solver.update_coo(on.array(2 * v))
    assert residual(2 * a, on.host(solver.solve(on.array(b))[0]), b) <= 1.01e-8
    solver.set_coo(on.array(i.astype(np.int64) + 1), on.array(j + 1), on.array(v), base=1)
    assert residual(a, on.host(solver.solve(on.array(b))[0]), b) <= 1.01e-8
    with pytest.raises(tcsolve.MatrixError, match="lies outside"):
        solver.set_coo(on.array(i), on.array(j), on.array(v), (215, 216))


def test_guesses(on):
    a, b = laplace(10), numbers(1000)
    solver = tcsolve.Solver(on.csr(a), **PLAIN)
    x, _ = solver.solve(on.array(b))
    guess = on.host(x).copy()
    for x0 in (x, guess, guess.tolist()):
        y, info = solver.solve(on.array(b), x0)
        assert info.iterations == 0 and np.array_equal(on.host(y), guess)
    assert np.array_equal(on.host(x), guess)  # a guess stays what it is
    with pytest.raises(tcsolve.ShapeError):
        solver.solve(on.array(b), on.array(guess[1:]))


def test_out(on):
    a, b = laplace(10), numbers(1000)
    solver = tcsolve.Solver(on.csr(a), **PLAIN)
    rhs, out = on.array(b), on.array(np.full(1000, np.nan))
    if isinstance(on, Jax):
        with pytest.raises(tcsolve.ShapeError, match="JAX"):
            solver.solve(rhs, out=out)
        return
    pointer = on.pointer(out)
    x, _ = solver.solve(rhs, out=out)
    assert x is out and on.pointer(x) == pointer and residual(a, on.host(x), b) <= 1.01e-8
    on_host = np.empty(1000)
    x, _ = solver.solve(rhs, out=on_host)
    assert x is on_host and residual(a, x, b) <= 1.01e-8
    with pytest.raises(tcsolve.ShapeError):
        solver.solve(rhs, out=on.array(np.empty(2000))[::2])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_types(on, dtype):
    a, b = laplace(6), np.ones(216, dtype)
    x, _ = tcsolve.solve(on.csr(a), on.array(b))
    x = on.host(x)
    assert x.dtype == (dtype if np.dtype(dtype).kind == "f" else np.float64)
    assert residual(a, x.astype(float), np.ones(216)) <= (1e-2 if dtype == np.float16 else 1e-5)
    with pytest.warns(tcsolve.CopyWarning, match="float32"):
        x, _ = tcsolve.solve(on.csr(a.astype(np.float32)), on.array(np.ones(216)))
    assert on.host(x).dtype == np.float64
    wide = a.copy()
    wide.indices, wide.indptr = a.indices.astype(np.int64), a.indptr.astype(np.int64)
    if not isinstance(on, CuPy):  # which has int32 alone
        with pytest.warns(tcsolve.CopyWarning, match="int64, not int32"):
            x, _ = tcsolve.solve(on.csr(wide), on.array(np.ones(216)))
        assert residual(a, on.host(x), np.ones(216)) <= 1.01e-8
    with pytest.raises(TypeError, match="complex"):
        tcsolve.solve(on.csr(a), on.array(np.ones(216, complex)))


def test_jax_without_64_bits():
    """JAX's default: b and A are float32, and only x is rounded."""
    code = """
import numpy as np, jax, jax.numpy as jnp, warnings, tcsolve
from conftest import laplace
if jax.default_backend() != "gpu": print("skip"); raise SystemExit
a = laplace(6)
b = jnp.ones(216)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", tcsolve.CopyWarning)
    A = tuple(jnp.asarray(p) for p in (a.data, a.indices, a.indptr))
    x, info = tcsolve.solve(A, b)
    assert info.solved and x.dtype == jnp.float32 and x.devices() == b.devices()
    y, info = tcsolve.solve(A, b, x0=x)
    assert np.linalg.norm(a @ np.asarray(y, float) - 1) < 1e-4
print("solved")
"""
    pytest.importorskip("jax")
    told = _run(code)
    if "skip" in told:
        pytest.skip("JAX without a device")
    assert "solved" in told


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("method", ["gmres", "block_gmres"])
def test_columns(on, order, method):
    a = flow(6)
    b = numbers(216 * 3).reshape(216, 3)
    rhs = on.array(np.ascontiguousarray(b.T)).T if order == "F" else on.array(b)
    solver = tcsolve.Solver(on.csr(a), method=method)
    x, infos = solver.solve(rhs)
    assert infos.solved and np.allclose(a @ on.host(x), b, atol=1e-6)
    y, infos = solver.solve(rhs, transpose=True)
    assert infos.solved and np.allclose(a.T @ on.host(y), b, atol=1e-6)
    y, infos = solver.solve(rhs, x)
    assert all(info.iterations == 0 for info in infos)


def test_gaps(on):
    a, b = laplace(6), numbers(432)
    x, _ = tcsolve.solve(on.csr(a), on.array(b)[::2])
    assert residual(a, on.host(x), b[::2]) <= 1.01e-8


def test_places_may_differ(on):
    a, b = laplace(6), numbers(216)
    x, _ = tcsolve.solve(a, on.array(b))
    assert residual(a, on.host(x), b) <= 1.01e-8
    x, _ = tcsolve.solve(on.csr(a), b)
    assert isinstance(x, np.ndarray) and residual(a, x, b) <= 1.01e-8
    solver = tcsolve.Solver(a, device="cpu", method="cg")
    x, _ = solver.solve(on.array(b))
    assert residual(a, on.host(x), b) <= 1.01e-8


def test_streams(streams):
    """Neither A nor b is there yet when it is given, and x is used at once, in another stream."""
    on, a, b = streams, laplace(10), numbers(1000)
    A, before = on.csr(a), on.array(np.full(1000, np.nan))
    for _ in range(3):
        with on.busy_stream():
            rhs = on.array(b) + 0.0
            before[...] = rhs
            solver = tcsolve.Solver(A, **PLAIN)
            x, info = solver.solve(before)
        before[...] = np.nan
        with on.busy_stream():
            pass
        assert info.solved and residual(a, on.host(x + 0.0), b) <= 1.01e-8


def test_values_made_in_a_stream(streams):
    on, a, b = streams, laplace(10), numbers(1000)
    data = on.array(np.full(a.nnz, np.nan))
    pattern = (on.array(a.indices), on.array(a.indptr))
    right = on.array(a.data)
    with on.busy_stream():
        data[...] = right
        solver = tcsolve.Solver((data, *pattern), **PLAIN)
        assert residual(a, on.host(solver.solve(on.array(b))[0]), b) <= 1.01e-8
    with on.busy_stream():
        data[...] = right * 2
        solver.update_values(data)
        assert residual(2 * a, on.host(solver.solve(on.array(b))[0]), b) <= 1.01e-8


def test_a_stream_by_its_number(streams):
    on, a, b = streams, laplace(10), numbers(1000)
    solver = tcsolve.Solver(on.csr(a), **PLAIN)
    rhs, right = on.array(np.full(1000, np.nan)), on.array(b)
    with on.busy_stream() as stream:
        rhs[...] = right
    x, info = solver.solve(rhs, stream=stream)
    assert info.solved and residual(a, on.host(x), b) <= 1.01e-8


def through_the_host(f, tmp_path):
    """Bytes that f() moves between host and device."""
    torch = pytest.importorskip("torch")
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        f()
        torch.cuda.synchronize()
    profile.export_chrome_trace(str(tmp_path / "trace"))
    events = json.loads((tmp_path / "trace").read_text())["traceEvents"]
    if not any(e.get("cat") == "kernel" for e in events):
        pytest.skip("CUPTI tells nothing here")
    return sum(e["args"]["bytes"] for e in events
               if e.get("cat") == "gpu_memcpy" and "DtoD" not in e["name"])


def test_no_copy_through_the_host(tmp_path, on):
    """What passes between host and device in a solve is scalars and histories, no vector."""
    a = laplace(48)
    b = numbers(a.shape[0])
    A, rhs = on.csr(a), on.array(b)
    solver = tcsolve.Solver(A, **PLAIN)
    solver.solve(rhs, transpose=True)

    def solves():
        for _ in range(3):
            x, info = solver.solve(rhs)
            assert info.solved
            solver.solve(rhs, x, transpose=True)

    assert through_the_host(solves, tmp_path) < b.nbytes / 2


@pytest.mark.parametrize("real", ["float64", "float32"])
def test_no_gradient_of_jax_passes_through_the_host(tmp_path, real):
    """A solve and its adjoint with new values on a pattern that is known."""
    on = Jax()
    import tcsolve.jax

    jax, a = on.module, laplace(48)
    b = on.array(numbers(a.shape[0]).astype(real))
    indptr, indices = on.array(a.indptr), on.array(a.indices)
    first, second = on.array(a.data.astype(real)), on.array((1.5 * a.data).astype(real))

    @jax.jit
    def slope(data, b):
        return jax.grad(lambda data, b: (tcsolve.jax.solve(
            indptr, indices, data, b, method="cg", M="jacobi", rtol=1e-8) ** 2).sum(), (0, 1))(data, b)

    jax.block_until_ready(slope(first, b))
    found = []
    moved = through_the_host(lambda: found.append(jax.block_until_ready(slope(second, b))), tmp_path)
    assert moved < b.nbytes / 2 and all(g.dtype == real for g in found[0])
    solver = tcsolve.Solver(1.5 * a, method="cg", M="jacobi", rtol=1e-10, device="cpu")
    x = solver.solve(np.asarray(b, float))[0]
    exact = solver.solve(2 * x)[0]
    assert np.allclose(found[0][1], exact, rtol=1e-4, atol=1e-4 * abs(exact).max())


def test_vmap_of_jax_is_one_solve_on_the_device():
    on = Jax()
    import tcsolve.jax

    a, bs = flow(8), numbers(4 * 512).reshape(4, 512)
    f = on.module.jit(on.module.vmap(lambda b: tcsolve.jax.solve(
        a.indptr, a.indices, a.data, b, method="gmres", M="jacobi", rtol=1e-10)))
    x = f(on.array(bs))
    assert np.allclose(on.host(x) @ a.toarray().T, bs, atol=1e-7)
    solver = tcsolve.jax._kept[-1][-1]
    assert "host" not in solver.device


def test_1000_solves_take_no_memory(on):
    a, b = laplace(24), numbers(24**3)
    A, rhs = on.csr(a), on.array(b)
    solver = tcsolve.Solver(A, **PLAIN)

    def once(k):
        solver.solve(rhs, transpose=k % 2 == 0)
        if k % 10 == 0:
            solver.update_values(A)
        if k % 50 == 0:
            tcsolve.solve(A, rhs, method="cg")

    for k in range(100):
        once(k)
    before = on.free()
    for k in range(1000):
        once(k)
    assert before - on.free() < 1 << 20


@pytest.mark.parametrize("M", [None, "jacobi", "block_jacobi", "ilu"])
def test_adjoints(on, M):
    a, b, g = flow(8), numbers(512), numbers(512, 2)
    solver = tcsolve.Solver(on.csr(a), method="gmres", M=M, rtol=1e-11)
    x, _ = solver.solve(on.array(b))
    y, info = solver.solve(on.array(g), transpose=True)
    assert info.solved and residual(a.T, on.host(y), g) <= 1.01e-11
    # <A^-1 b, g> = <b, A^-T g>
    assert on.host(x) @ g == pytest.approx(b @ on.host(y), rel=1e-8)
    solver.update_values(on.array(2 * a.data))
    y, _ = solver.solve(on.array(g), transpose=True)
    assert residual(2 * a.T, on.host(y), g) <= 1.01e-11


def test_arrays_that_are_known_by_address():
    """`__cuda_array_interface__` without DLPack."""
    on, a, b = CuPy(), laplace(6), numbers(216)

    class Bare:
        def __init__(self, array):
            self.array = array

        @property
        def __cuda_array_interface__(self):
            return self.array.__cuda_array_interface__

    A = tuple(Bare(on.array(p)) for p in (a.data, a.indices, a.indptr))
    solver = tcsolve.Solver((*A, a.shape), device="cuda", **PLAIN)
    assert solver._core.columns_pointer == A[1].array.data.ptr
    x, info = solver.solve(Bare(on.array(b)))
    assert residual(a, on.module.from_dlpack(x).get(), b) <= 1.01e-8
    out = on.array(np.zeros(216))
    solver.solve(Bare(on.array(b)), out=out)
    assert residual(a, out.get(), b) <= 1.01e-8


def test_operators_of_cupy():
    on, a, b = CuPy(), laplace(10), numbers(1000)
    from cupyx.scipy.sparse.linalg import cg

    A, rhs = on.csr(a), on.array(b)
    solver = tcsolve.Solver(A, method="cg", M="ic", rtol=1e-10)
    x = solver.aslinearoperator() @ rhs
    assert residual(a, on.host(x), b) <= 1.01e-10
    x, code = cg(A, rhs, M=solver.preconditioner())
    assert code == 0 and residual(a, on.host(x), b) <= 1e-4
    inverse = tcsolve.Solver(a, method="cg", M="ic").preconditioner()  # SciPy's, on host vectors
    assert isinstance(inverse @ b, np.ndarray)


def test_functions_are_for_the_host():
    a, b = laplace(6), numbers(216)
    x, info = tcsolve.solve(lambda v: a @ v, b, method="cg")
    assert residual(a, x, b) <= 1.01e-8
    d = a.diagonal()
    x, info = tcsolve.solve(a, b, method="cg", M=lambda r: r / d)
    assert residual(a, x, b) <= 1.01e-8
    with pytest.raises(tcsolve.Unsupported, match="device='cpu'"):
        tcsolve.solve(lambda v: a @ v, b, method="cg", device="cuda")


def test_a_capture_is_refused():
    torch = Torch().module
    on, a, b = Torch(), laplace(6), numbers(216)
    solver, rhs = tcsolve.Solver(on.csr(a), **PLAIN), on.array(b)
    solver.solve(rhs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with pytest.raises(tcsolve.Unsupported, match="CUDA graph"):
            solver.solve(rhs)
        twice = rhs * 2
    graph.replay()
    assert np.array_equal(on.host(twice), 2 * b)
    assert residual(a, on.host(solver.solve(rhs)[0]), b) <= 1.01e-8


def test_ctrl_c_on_a_device():
    """The main thread is interrupted a second into a solve of tens of seconds."""
    code = """
import _thread, threading, time, warnings, numpy as np, scipy.sparse as sp, tcsolve
n = 2_000_000
a = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
solver = tcsolve.Solver(a, method="cg", device="cuda", maxiter=10**9, stagnation_window=0)
solver.solve(np.ones(n), maxiter=10, atol=1e9)
began = time.perf_counter()
threading.Timer(1.0, _thread.interrupt_main).start()
try:
    solver.solve(np.ones(n))
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - began - 1.0)
"""
    told = _run(code).split()
    assert told[0] == "interrupted" and float(told[1]) <= 0.2


def _run(code):
    """In an interpreter of its own; what it prints."""
    from pathlib import Path

    path = [*sys.path, str(Path(__file__).parent)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}\n" + code],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


ORDERS = ["tcsolve cupy torch", "torch cupy tcsolve", "cupy tcsolve torch", "tcsolve torch cupy",
          "jax tcsolve", "tcsolve jax"]


@pytest.mark.parametrize("order", ORDERS)
def test_imports_in_any_order(order):
    for name in order.split():
        pytest.importorskip(name)
    code = f"""
import {order.replace(" ", ", ")}
from conftest import laplace
import sys, numpy as np, tcsolve
a = laplace(8)
if "cupy" in sys.modules:
    import cupy, cupyx.scipy.sparse
    x, info = tcsolve.solve(cupyx.scipy.sparse.csr_matrix(a), cupy.ones(512))
    assert info.solved and float(abs(cupyx.scipy.sparse.csr_matrix(a) @ x - 1).max()) < 1e-6
if "torch" in sys.modules:
    import torch
    x, info = tcsolve.solve(a, torch.ones(512, dtype=torch.float64, device="cuda"))
    assert info.solved and x.is_cuda
    assert torch.linalg.norm(x) > 0  # torch's own libraries work beside
if "jax" in sys.modules:
    import jax.numpy as jnp
    x, info = tcsolve.solve(a, jnp.ones(512))
    assert info.solved and float(jnp.linalg.norm(x)) > 0
print("done")
"""
    assert "done" in _run(code)


def test_import_calls_no_cuda():
    code = """
import time, numpy
start = time.perf_counter()
import tcsolve
took = time.perf_counter() - start
print(took, any("libcuda.so" in line for line in open("/proc/self/maps")))
"""
    took, loaded = _run(code).split()
    assert loaded == "False" and float(took) < 0.1


def test_another_thread_and_device_stay():
    """The current device of CuPy is what it was; solves of two threads do not meet."""
    from concurrent.futures import ThreadPoolExecutor

    on, a = CuPy(), laplace(10)
    A, bs = on.csr(a), [numbers(1000, k) for k in range(16)]
    solver = tcsolve.Solver(A, **PLAIN)
    device = on.module.cuda.Device().id
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda b: solver.solve(on.array(b)), bs))
    for b, (x, info) in zip(bs, told):
        assert info.solved and residual(a, on.host(x), b) <= 1.01e-8
    assert on.module.cuda.Device().id == device
