# SPDX-License-Identifier: Apache-2.0
"""DOLFINx's matrices as A, where DOLFINx is installed."""
import gc

import numpy as np
import pytest
from conftest import residual

dolfinx = pytest.importorskip("dolfinx")

import scipy.sparse as sp  # noqa: E402
import tcsolve  # noqa: E402
import ufl  # noqa: E402
from dolfinx import fem, mesh  # noqa: E402
from mpi4py import MPI  # noqa: E402

space = getattr(fem, "functionspace", None) or fem.FunctionSpace


class Heat:
    """(u, v) + dt (grad u, grad v) on a square, and (1, v)."""

    def __init__(self, n=12):
        V = space(mesh.create_unit_square(MPI.COMM_SELF, n, n), ("Lagrange", 1))
        self.u, self.v = ufl.TrialFunction(V), ufl.TestFunction(V)
        self.b = fem.assemble_vector(fem.form(self.v * ufl.dx)).array.copy()

    def matrix(self, dt, wind=0.0):
        u, v = self.u, self.v
        flow = wind * u.dx(0) * v
        return fem.assemble_matrix(
            fem.form((u * v + dt * ufl.inner(ufl.grad(u), ufl.grad(v)) + flow) * ufl.dx))


def scipy_of(A):
    n = len(A.indptr) - 1
    return sp.csr_array((np.array(A.data), np.array(A.indices), np.array(A.indptr)), shape=(n, n))


def test_where_it_lies():
    heat = Heat()
    A = heat.matrix(0.1)
    a = scipy_of(A)
    solver = tcsolve.Solver(A, method="cg", M="jacobi", device="cpu")
    del A
    gc.collect()  # the solver holds what it uses
    x, info = solver.solve(heat.b)
    assert info.solved and residual(a, x, heat.b) <= 1.01e-8
    assert abs(x.sum() / len(x) - 1.0) < 1e-6  # (1, v) + dt (grad 1, grad v) = (1, v): u = 1


def test_new_values():
    heat = Heat()
    solver = tcsolve.Solver(heat.matrix(0.1), method="cg", M="ic", device="cpu")
    A = heat.matrix(1.0)
    solver.update_values(A)
    x, info = solver.solve(heat.b)
    assert info.solved and residual(scipy_of(A), x, heat.b) <= 1.01e-8
    assert solver.setup["updates"] == 1


def test_adjoint():
    heat = Heat()
    A = heat.matrix(0.1, wind=1.0)
    solver = tcsolve.Solver(A, method="gmres", M="ilu", device="cpu")
    y, info = solver.solve(heat.b, transpose=True)
    assert info.solved and residual(scipy_of(A).T, y, heat.b) <= 1.01e-8


def test_several_processes_are_refused(monkeypatch):
    """A matrix that does not say which rows it has, in a program of several processes."""
    from tcsolve import _arrays
    A = Heat(4).matrix(0.1)
    if hasattr(A, "index_map"):
        pytest.skip("it says so")
    monkeypatch.setattr(_arrays, "_processes", lambda: 2)
    with pytest.raises(tcsolve.ShapeError, match="one process"):
        tcsolve.Solver(A, method="cg", device="cpu")


def test_a_matrix_of_petsc():
    PETSc = pytest.importorskip("petsc4py.PETSc")
    petsc = pytest.importorskip("dolfinx.fem.petsc")
    import tcsolve.petsc
    heat = Heat()
    u, v = heat.u, heat.v
    A = petsc.assemble_matrix(fem.form((u * v + ufl.inner(ufl.grad(u), ufl.grad(v))) * ufl.dx))
    A.assemble()
    x, b = A.createVecs()
    b.setArray(heat.b)
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType("preonly")
    ksp.getPC().setType("python")
    ksp.getPC().setPythonContext(tcsolve.petsc.PC(method="cg", M="ic", rtol=1e-10, device="cpu"))
    ksp.solve(b, x)
    assert ksp.getConvergedReason() > 0
    assert np.allclose(x.getArray(), 1.0, atol=1e-7)
