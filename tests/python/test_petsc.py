# SPDX-License-Identifier: Apache-2.0
"""PETSc's KSP with tcsolve behind its preconditioner."""
import numpy as np
import pytest
from conftest import flow, laplace, numbers, residual

PETSc = pytest.importorskip("petsc4py.PETSc")

import tcsolve  # noqa: E402
import tcsolve.petsc  # noqa: E402


def mat(a):
    A = PETSc.Mat().createAIJ(size=a.shape, csr=(a.indptr, a.indices, a.data))
    A.assemble()
    return A


def ksp_of(A, kind, context, **tolerances):
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType(kind)
    ksp.setTolerances(**tolerances)
    ksp.getPC().setType("python")
    ksp.getPC().setPythonContext(context)
    return ksp


def solve(ksp, A, b, transpose=False):
    x, rhs = A.createVecs()
    rhs.setArray(b)
    (ksp.solveTranspose if transpose else ksp.solve)(rhs, x)
    return x.getArray().copy()


def test_a_matrix_of_petsc():
    a, b = flow(5), numbers(125)
    x, info = tcsolve.solve(mat(a), b)
    assert residual(a, x, b) <= 1.01e-8


@pytest.mark.parametrize("M", ["jacobi", "ilu", "block_jacobi"])
def test_a_preconditioner(M):
    a, b = flow(6), numbers(216)
    A = mat(a)
    ksp = ksp_of(A, "gmres", tcsolve.petsc.PC(M=M, device="cpu"), rtol=1e-10)
    assert residual(a, solve(ksp, A, b), b) <= 1e-8
    assert ksp.getConvergedReason() > 0
    if M == "ilu":
        assert ksp.getIterationNumber() < 15
    assert residual(a.T, solve(ksp, A, b, True), b) <= 1e-8
    A.scale(2.0)  # new values on the same pattern
    assert residual(2 * a, solve(ksp, A, b), b) <= 1e-8
    assert ksp.getPC().getPythonContext().solver.setup["updates"] == 1


def test_a_whole_solve():
    a, b = laplace(6), numbers(216)
    A = mat(a)
    context = tcsolve.petsc.PC(method="cg", M="ic", rtol=1e-10, device="cpu")
    ksp = ksp_of(A, "preonly", context)
    assert residual(a, solve(ksp, A, b), b) <= 1.01e-10
    assert context.info.solved
    other = flow(6)
    A = mat(other)
    ksp.setOperators(A)
    context = tcsolve.petsc.PC(method="gmres", M="ilu", rtol=1e-10, device="cpu")
    ksp.getPC().setPythonContext(context)
    assert residual(other, solve(ksp, A, b), b) <= 1.01e-10
    assert residual(other.T, solve(ksp, A, b, True), b) <= 1.01e-10


def test_what_is_not_solved_ends_ksp():
    a, b = laplace(8), numbers(512)
    A = mat(a)
    context = tcsolve.petsc.PC(method="cg", maxiter=2, device="cpu")
    ksp = ksp_of(A, "preonly", context)
    if hasattr(PETSc.PC, "setFailedReason"):
        solve(ksp, A, b)
        assert ksp.getConvergedReason() == PETSc.KSP.ConvergedReason.DIVERGED_PC_FAILED
    else:
        with pytest.raises(tcsolve.NotConverged):
            solve(ksp, A, b)
    assert not context.info.solved and "2 iterations" in context.info.message


def test_by_options():
    a, b = flow(5), numbers(125)
    options = PETSc.Options("mine_")
    options["ksp_type"] = "preonly"
    options["pc_type"] = "python"
    options["pc_python_type"] = "tcsolve.petsc.PC"
    options["tcsolve"] = "{backend: host, solver: {type: bicgstab, rtol: 1e-9}, preconditioner: {type: jacobi}}"
    A = mat(a)
    ksp = PETSc.KSP().create()
    ksp.setOptionsPrefix("mine_")
    ksp.setOperators(A)
    ksp.setFromOptions()
    assert residual(a, solve(ksp, A, b), b) <= 1.01e-9
    solver = ksp.getPC().getPythonContext().solver
    assert solver.options["solver"]["type"] == "bicgstab"
