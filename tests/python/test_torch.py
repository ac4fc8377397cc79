# SPDX-License-Identifier: Apache-2.0
"""torch: gradients against finite differences and dense algebra, on the host and on a device."""
import warnings

import numpy as np
import pytest
from conftest import flow, laplace, numbers

torch = pytest.importorskip("torch")

import tcsolve  # noqa: E402
import tcsolve.torch  # noqa: E402

CASES = [
    ("spd", laplace, {"method": "cg", "M": "jacobi"}),
    ("nonsymmetric", flow, {"method": "gmres"}),
    ("block_jacobi", flow, {"method": "bicgstab", "M": "block_jacobi"}),
    ("ilu", flow, {"method": "gmres", "M": "ilu"}),
]
OPTIONS = {"method": "gmres", "M": "jacobi", "rtol": 1e-13, "maxiter": 300}


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    if request.param == "cuda" and not (
        torch.cuda.is_available() and len(tcsolve.devices()) > 1
    ):
        pytest.skip("no CUDA device")
    return request.param


@pytest.fixture(autouse=True)
def nothing_is_kept():
    tcsolve.torch.forget()


def tensors(a, b, device, dtype=torch.float64, grad=True):
    values = torch.tensor(a.data, device=device, dtype=dtype, requires_grad=grad)
    col = torch.tensor(a.indices, device=device, dtype=torch.int64)  # as torch has them
    crow = torch.tensor(a.indptr, device=device, dtype=torch.int64)
    return values, col, crow, torch.tensor(b, device=device, dtype=dtype, requires_grad=grad)


def plain(t):
    return t.detach().cpu().numpy()


@pytest.mark.parametrize("make, options", [c[1:] for c in CASES], ids=[c[0] for c in CASES])
@pytest.mark.parametrize("columns", [0, 3])
def test_gradients(device, make, options, columns):
    a = make(4)
    b, w = (numbers(64 * max(1, columns), k) for k in (1, 2))
    if columns:
        b, w = b.reshape(64, columns), w.reshape(64, columns)
    values, col, crow, rhs = tensors(a, b, device)
    weights = torch.tensor(w, device=device)

    def loss(values, rhs):
        x = tcsolve.torch.solve((values, col, crow), rhs, rtol=1e-13, **options)
        assert x.device == rhs.device and x.dtype == rhs.dtype and x.shape == rhs.shape
        return (weights * x).sum() + x.square().sum()

    loss(values, rhs).backward()
    dense = a.toarray()
    x = np.linalg.solve(dense, b)
    adjoint = np.linalg.solve(dense.T, w + 2 * x)
    rows = np.repeat(np.arange(64), np.diff(a.indptr))
    exact = -(adjoint[rows] * x[a.indices])
    exact = exact.sum(1) if columns else exact
    assert np.allclose(plain(rhs.grad), adjoint, rtol=1e-6, atol=1e-6 * abs(adjoint).max())
    assert np.allclose(plain(values.grad), exact, rtol=1e-6, atol=1e-6 * abs(exact).max())
    for k in (0, 7, a.nnz // 2):  # central differences
        step = torch.zeros_like(values)
        step[k] = 1e-5
        with torch.no_grad():
            slope = (loss(values + step, rhs) - loss(values - step, rhs)) / 2e-5
        assert abs(float(slope) - float(values.grad[k])) <= 1e-6 * max(1, abs(exact).max())


@pytest.mark.parametrize("transpose", [False, True])
def test_derivatives_of_both_orders(device, transpose):
    values, col, crow, b = tensors(flow(2), numbers(8), device)

    def solve(values, b):
        return tcsolve.torch.solve((values, col, crow), b, transpose=transpose, **OPTIONS)

    a = flow(2).toarray().T if transpose else flow(2).toarray()
    assert np.allclose(a @ plain(solve(values, b)), plain(b))
    assert torch.autograd.gradcheck(solve, (values, b), eps=1e-6, atol=1e-6, nondet_tol=1e-9)
    assert torch.autograd.gradgradcheck(solve, (values, b), eps=1e-6, atol=1e-5, nondet_tol=1e-9)


def test_a_sparse_tensor_has_a_sparse_gradient(device):
    a, b = flow(3), numbers(27)
    values, col, crow, rhs = tensors(a, b, device)
    A = torch.sparse_csr_tensor(crow, col, values.detach(), size=a.shape).requires_grad_()
    tcsolve.torch.solve(A, rhs, **OPTIONS).sum().backward()
    tcsolve.torch.solve((values, col, crow), rhs.detach(), **OPTIONS).sum().backward()
    assert A.grad.layout == torch.sparse_csr and A.grad.shape == A.shape
    assert torch.equal(A.grad.crow_indices(), crow)
    assert np.allclose(plain(A.grad.values()), plain(values.grad), rtol=1e-9)
    with pytest.raises(TypeError):
        tcsolve.torch.solve(A.detach().to_dense(), rhs)
    with pytest.raises(tcsolve.ShapeError):
        tcsolve.torch.solve(A, rhs[1:])


def test_float32(device):
    a = laplace(4)
    values, col, crow, b = tensors(a, np.ones(64), device, torch.float32)
    x = tcsolve.torch.solve((values, col, crow), b, method="cg", rtol=1e-7)
    x.sum().backward()
    assert x.dtype == values.grad.dtype == b.grad.dtype == torch.float32
    assert np.allclose(a @ plain(x).astype(float), 1, atol=1e-4)
    assert np.allclose(a @ plain(b.grad).astype(float), 1, atol=1e-4)


def test_set_ups_are_kept(device):
    a, b = flow(4), numbers(64)
    values, col, crow, rhs = tensors(a, b, device)
    solver = tcsolve.Solver(method="gmres", M="ilu", device=device)
    for step in range(3):
        x = tcsolve.torch.solve((values, col, crow), rhs, solver)
        x.square().sum().backward()
        with torch.no_grad():
            values += 0.01 * values.abs()  # in place, as an optimiser does it
    assert solver.setup["updates"] == 2 and solver.setup["transposed"].startswith("a second")
    for k in range(12):
        tcsolve.torch.solve((values, col, crow), rhs, method="gmres", restart=10 + k)
    assert len(tcsolve.torch._kept) == tcsolve.torch.kept()[0] == 8
    assert tcsolve.torch.kept()[1] > 8 * 12 * a.nnz
    with pytest.raises(TypeError):
        tcsolve.torch.solve((values, col, crow), rhs, solver, method="cg")


def test_what_is_not_solved_is_no_gradient(device):
    values, col, crow, b = tensors(laplace(5), numbers(125), device)
    A, few = (values, col, crow), {"method": "cg", "maxiter": 2}
    with pytest.raises(tcsolve.NotConverged):
        tcsolve.torch.solve(A, b, **few)
    with pytest.warns(tcsolve.ConvergenceWarning):
        x = tcsolve.torch.solve(A, b, check=False, **few)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        x.sum().backward()
    assert any("gradient of an x that is not solved" in str(w.message) for w in heard)
    # Solved forward, not backward.
    b = torch.zeros_like(b).requires_grad_()
    x = tcsolve.torch.solve(A, b, **few)
    with pytest.raises(tcsolve.NotConverged):
        (x * torch.tensor(numbers(125), device=device)).sum().backward()


def test_training_reaches_what_it_should(device):
    """Gradient descent on the diagonal of A, until x is as it is wanted."""
    a = laplace(3)
    values, col, crow, b = tensors(a, np.ones(27), device)
    values, b = values.detach(), b.detach()
    diagonal = torch.tensor(a.indices == np.repeat(np.arange(27), np.diff(a.indptr)), device=device)
    shift = torch.zeros(27, dtype=torch.float64, device=device, requires_grad=True)
    wanted = tcsolve.torch.solve((values + 2.0 * diagonal, col, crow), b, method="cg", rtol=1e-12)
    optimiser = torch.optim.Adam([shift], lr=0.1)
    for _ in range(200):
        optimiser.zero_grad()
        shifted = values.clone()
        shifted[diagonal] = values[diagonal] + shift
        x = tcsolve.torch.solve((shifted, col, crow), b, method="cg", M="jacobi", rtol=1e-12)
        loss = (x - wanted).square().sum()
        loss.backward()
        optimiser.step()
    assert float(loss.detach()) < 1e-6


def test_tensors_in_and_out(device):
    a, b = flow(4), numbers(64)
    values, col, crow, rhs = tensors(a, b, device)
    A = torch.sparse_csr_tensor(crow.int(), col.int(), values.detach(), size=a.shape)
    solver = tcsolve.Solver(A, method="gmres", options={"operator": "csr"}, device=device)
    assert solver._core.columns_pointer == A.col_indices().data_ptr()
    for b_, tight in ((rhs, 1e-6), (rhs.float(), 1e-4), (rhs.bfloat16(), 1e-1)):
        x, info = solver.solve(b_)
        assert isinstance(x, torch.Tensor) and (x.device, x.dtype) == (b_.device, b_.dtype)
        assert np.allclose(a @ plain(x.double()), plain(b_.double()), atol=tight)
    out = torch.empty(64, dtype=torch.float64, device=device)
    x, info = solver.solve(rhs, out=out)
    assert x is out and np.allclose(a @ plain(out), b, atol=1e-6)
    x, info = solver.solve(rhs, x0=out)
    assert info.iterations == 0
    with pytest.warns(tcsolve.CopyWarning, match="int64, not int32"):
        solver.set_matrix(torch.sparse_csr_tensor(crow, col, values.detach(), size=a.shape))
    with pytest.warns(tcsolve.CopyWarning, match="not sparse_csr"):
        x, info = tcsolve.solve(A.to_dense(), rhs, device=device)  # and int64 columns
    assert np.allclose(a @ plain(x), b, atol=1e-6)
