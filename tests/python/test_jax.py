# SPDX-License-Identifier: Apache-2.0
"""Gradients against finite differences."""
import io
import warnings

import numpy as np
import pytest
from conftest import flow, laplace, numbers

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import tcsolve.jax  # noqa: E402

CASES = [
    ("spd", laplace, {"method": "cg", "M": "jacobi"}),
    ("nonsymmetric", flow, {"method": "gmres"}),
    ("block_jacobi", flow, {"method": "bicgstab", "M": "block_jacobi"}),
    ("ilu", flow, {"method": "gmres", "M": {"type": "ilu"}}),
    ("auto", flow, {}),
]


@pytest.fixture(autouse=True)
def nothing_is_kept():
    tcsolve.jax.forget()


@pytest.mark.parametrize("make, options", [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_gradients(make, options):
    a, b, w = make(4), numbers(64, 1), numbers(64, 2)
    options = {"rtol": 1e-13, **options} if "method" in options else options

    def loss(data, b):
        x = tcsolve.jax.solve(a.indptr, a.indices, data, b, **options)
        return jnp.sum(w * x) + jnp.sum(x**2)

    value, (of_data, of_b) = jax.value_and_grad(loss, (0, 1))(a.data, b)
    dense = a.toarray()
    x = np.linalg.solve(dense, b)
    adjoint = np.linalg.solve(dense.T, w + 2 * x)
    rows = np.repeat(np.arange(64), np.diff(a.indptr))
    tight = 1e-6
    assert np.allclose(value, w @ x + x @ x, rtol=tight)
    assert np.allclose(of_b, adjoint, rtol=tight, atol=tight * abs(adjoint).max())
    exact = -adjoint[rows] * x[a.indices]
    assert np.allclose(of_data, exact, rtol=tight, atol=tight * abs(exact).max())
    if "rtol" not in options:
        return
    for k in (0, 7, a.nnz // 2):  # central differences
        step = np.zeros(a.nnz)
        step[k] = 1e-5
        slope = (loss(a.data + step, b) - loss(a.data - step, b)) / 2e-5
        assert abs(slope - of_data[k]) <= 1e-6 * max(1, abs(exact).max())


def test_twice_and_of_the_transpose():
    a, b = flow(3), numbers(27)
    options = {"method": "gmres", "rtol": 1e-14, "maxiter": 200, "M": "jacobi"}
    for transpose in (False, True):
        def f(data, b):
            return tcsolve.jax.solve(a.indptr, a.indices, data, b, transpose=transpose, **options)

        x = f(a.data, b)
        dense = a.toarray().T if transpose else a.toarray()
        assert np.allclose(dense @ x, b)
        check_grads(f, (a.data, b), order=2, modes=["rev"], rtol=1e-4, atol=1e-4, eps=1e-4)


def test_matrices_and_vectors_of_jax():
    from jax.experimental.sparse import BCSR

    a, b = flow(4), numbers(64)
    A = BCSR((jnp.asarray(a.data), jnp.asarray(a.indices), jnp.asarray(a.indptr)), shape=a.shape)
    x, info = tcsolve.solve(A, jnp.asarray(b))
    assert info.solved and isinstance(x, jax.Array) and np.allclose(a @ x, b, atol=1e-6)
    assert x.dtype == jnp.float64
    x, info = tcsolve.solve(A, jnp.asarray(b, jnp.float32), rtol=1e-4)
    assert isinstance(x, jax.Array) and x.dtype == jnp.float32


def test_jit_and_vmap():
    a, bs = laplace(4), numbers(3 * 64).reshape(3, 64)
    f = jax.jit(jax.vmap(lambda b: tcsolve.jax.solve(a.indptr, a.indices, a.data, b, method="cg")))
    assert np.allclose(f(bs) @ a.toarray(), bs, atol=1e-6)
    x = jax.jit(lambda d: tcsolve.jax.solve(a.indptr, a.indices, d, bs[0], method="cg"))(a.data * 2)
    assert np.allclose(2 * (a @ x), bs[0], atol=1e-6)


@pytest.fixture
def solves(monkeypatch):
    """The shapes of b in the solves that are made."""
    shapes, plain = [], tcsolve.jax._solved

    def counted(core, b, x, n, columns, *others):
        shapes.append((n,) if columns == 1 else (n, columns))
        return plain(core, b, x, n, columns, *others)

    monkeypatch.setattr(tcsolve.jax, "_solved", counted)
    return shapes


TIGHT = {"method": "gmres", "M": "jacobi", "rtol": 1e-13}


def test_many_b_are_one_solve(solves):
    a, bs = flow(3), numbers(5 * 27).reshape(5, 27)
    dense = a.toarray()

    def f(data, b):
        return tcsolve.jax.solve(a.indptr, a.indices, data, b, **TIGHT)

    x = jax.vmap(f, (None, 0))(a.data, bs)
    assert np.allclose(x, np.linalg.solve(dense, bs.T).T) and solves == [(27, 5)]
    solves.clear()
    x = jax.jit(jax.vmap(f, (None, 1), 1))(a.data, bs.T)
    assert np.allclose(x, np.linalg.solve(dense, bs.T)) and solves == [(27, 5)]
    solves.clear()
    of_b = jax.vmap(jax.grad(lambda b: jnp.sum(f(a.data, b) ** 2)))(bs)
    exact = np.linalg.solve(dense.T, 2 * np.linalg.solve(dense, bs.T)).T
    assert np.allclose(of_b, exact) and solves == [(27, 5), (27, 5)]
    solves.clear()
    of_data = jax.grad(lambda d: jnp.sum(jax.vmap(f, (None, 0))(d, bs)))(a.data)
    one = sum(jax.grad(lambda d: jnp.sum(f(d, b)))(a.data) for b in bs)
    assert np.allclose(of_data, one) and solves[:2] == [(27, 5), (27, 5)]


def test_many_matrices_are_solved_one_after_another(solves):
    a, bs = flow(3), numbers(3 * 27).reshape(3, 27)
    many = a.data * np.array([[1.0], [2.0], [4.0]])

    def f(data, b):
        return tcsolve.jax.solve(a.indptr, a.indices, data, b, **TIGHT)

    exact = np.array([np.linalg.solve(s * a.toarray(), b) for s, b in zip((1, 2, 4), bs)])
    assert np.allclose(jax.vmap(f)(many, bs), exact) and solves == [(27,)] * 3
    x = jax.vmap(f, (0, None))(many, bs[0])
    assert np.allclose(x, exact[0] / np.array([[1], [2], [4]]))
    solves.clear()
    x = jax.vmap(jax.vmap(f, (None, 0)), (0, None))(many, bs)  # every b with every matrix
    assert x.shape == (3, 3, 27) and solves == [(27, 3)] * 3
    assert np.allclose(x[2, 1], np.linalg.solve(4 * a.toarray(), bs[1]))


def test_blocks(solves):
    a, b = flow(3), numbers(54).reshape(27, 2)
    dense = a.toarray()
    for transpose in (False, True):
        def f(data, b):
            return tcsolve.jax.solve(a.indptr, a.indices, data, b, transpose=transpose, **TIGHT)

        solves.clear()
        x = f(a.data, b)
        assert np.allclose((dense.T if transpose else dense) @ x, b) and solves == [(27, 2)]
        check_grads(f, (a.data, b), order=2, modes=["rev"], rtol=1e-4, atol=1e-4, eps=1e-4)
        bs = np.stack([b, 2 * b, 3 * b])
        solves.clear()
        x = jax.vmap(f, (None, 0))(a.data, bs)
        assert np.allclose((dense.T if transpose else dense) @ x[2], bs[2])
        assert solves == [(27, 6)]


def test_shapes_that_do_not_fit():
    a = flow(3)
    for data, b in ((a.data, np.ones(26)), (a.data, np.ones((27, 2, 2))),
                    (a.data[1:], np.ones(27))):
        with pytest.raises(tcsolve.ShapeError):
            tcsolve.jax.solve(a.indptr, a.indices, data, b)


def test_float32():
    a, b = laplace(4), np.ones(64, np.float32)
    x = tcsolve.jax.solve(a.indptr, a.indices, a.data.astype(np.float32), b, method="cg", rtol=1e-6)
    assert x.dtype == jnp.float32 and np.allclose(a @ np.asarray(x, float), b, atol=1e-4)


def test_what_is_not_solved_is_no_gradient():
    a, b = laplace(5), numbers(125)

    def loss(b):
        x = tcsolve.jax.solve(a.indptr, a.indices, a.data, b, method="cg", maxiter=2)
        return jnp.sum(x)

    with pytest.raises(Exception, match="2 iterations"):
        jax.block_until_ready(jax.grad(loss)(b))


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["plain", "jit"])
def test_without_check_it_is_heard_of_forward_and_backward(wrap):
    a, b = laplace(5), numbers(125)

    def loss(b, maxiter):
        x = tcsolve.jax.solve(a.indptr, a.indices, a.data, b, check=False, method="cg",
                              maxiter=maxiter)
        return jnp.sum(x)

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        jax.block_until_ready(wrap(lambda b: loss(b, 2))(b))
    assert len(heard) == 1 and "2 iterations" in str(heard[0].message)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        jax.block_until_ready(wrap(jax.grad(lambda b: loss(b, 2)))(b))
        jax.block_until_ready(wrap(jax.vmap(jax.grad(lambda b: loss(b, 2))))(jnp.stack([b, b])))
    told = [str(w.message) for w in heard if w.category is tcsolve.ConvergenceWarning]
    assert sum("gradient of an x that is not solved" in t for t in told) == 2
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        jax.block_until_ready(wrap(jax.grad(lambda b: loss(b, 200)))(b))
    assert not heard


def test_values_that_fail_are_not_kept():
    a, b = laplace(3), np.ones(27)

    def solve(data):
        x = tcsolve.jax.solve(a.indptr, a.indices, data, b, method="cg", M="ic")
        return np.asarray(jax.block_until_ready(x))

    good = solve(a.data)
    with pytest.raises(Exception, match="ic"):
        solve(np.where(a.data > 0, -a.data, a.data))  # a negative diagonal has no root
    assert np.allclose(solve(a.data), good) and len(tcsolve.jax._kept) == 1


def test_set_ups_are_kept_and_bounded():
    a, b = flow(3), numbers(27)

    def loss(data):
        return jnp.sum(tcsolve.jax.solve(a.indptr, a.indices, data, b, method="gmres"))

    for k in range(3):
        jax.grad(loss)(a.data * (k + 1))
    assert len(tcsolve.jax._kept) == 1
    solver = tcsolve.jax._kept[0][-1]
    assert solver.setup["updates"] == 2 and solver.setup["transposed"].startswith("a second")
    for k in range(2, 14):
        tcsolve.jax.solve(a.indptr, a.indices, a.data, b, method="gmres", restart=k)
    assert len(tcsolve.jax._kept) == 8
    tcsolve.show(out := io.StringIO())
    count, size = tcsolve.jax.kept()
    assert count == 8 and size > 8 * 12 * a.nnz
    assert f"kept for tcsolve.jax: 8, {size / 1e6:.1f} MB" in out.getvalue()
