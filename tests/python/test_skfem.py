# SPDX-License-Identifier: Apache-2.0
"""scikit-fem: a Poisson problem, and a time loop whose matrix keeps its pattern."""
import numpy as np
import pytest

skfem = pytest.importorskip("skfem")
from skfem.models.poisson import laplace, mass, unit_load  # noqa: E402

import tcsolve  # noqa: E402
import tcsolve.skfem  # noqa: E402


def discretised():
    mesh = skfem.MeshTri().refined(4)
    basis = skfem.Basis(mesh, skfem.ElementTriP1())
    return basis, laplace.assemble(basis), mass.assemble(basis), unit_load.assemble(basis)


@pytest.mark.filterwarnings("ignore::tcsolve.CopyWarning")
def test_poisson():
    basis, K, _, b = discretised()
    solver = tcsolve.skfem.solver(method="cg", M="jacobi", rtol=1e-12)
    system = skfem.condense(K, b, D=basis.get_dofs())
    x = skfem.solve(*system, solver=solver)
    y = skfem.solve(*system)
    assert solver.info.solved and np.allclose(x, y, atol=1e-10)
    assert np.allclose(skfem.solve(*system, solver=tcsolve.solver_skfem(method="cg")), y, atol=1e-6)


@pytest.mark.filterwarnings("ignore::tcsolve.CopyWarning")
def test_time_loop():
    basis, K, M, b = discretised()
    solver = tcsolve.skfem.solver(method="cg", M="ic", rtol=1e-12)
    u, steps = np.zeros(basis.N), 5
    for k in range(steps):
        dt = 0.01 * (1 + k)  # the values change, the pattern does not
        u = skfem.solve(*skfem.condense(M + dt * K, M @ u + dt * b, D=basis.get_dofs()),
                        solver=solver)
        assert solver.info.solved
    assert solver.solver.setup["updates"] == steps - 1
    with pytest.raises(tcsolve.NotConverged):
        hopeless = tcsolve.skfem.solver(method="cg", maxiter=1)
        skfem.solve(*skfem.condense(K, b, D=basis.get_dofs()), solver=hopeless)
