# SPDX-License-Identifier: Apache-2.0
"""PETSc by petsc4py: a preconditioner of type python, for matrices of one process.

    pc = ksp.getPC()
    pc.setType("python")
    pc.setPythonContext(tcsolve.petsc.PC(M="ilu"))                 # M alone, for KSP's own method
    pc.setPythonContext(tcsolve.petsc.PC(method="cg", M="ic"))     # a solve, for KSP "preonly"

By options: -pc_type python -pc_python_type tcsolve.petsc.PC -tcsolve "{solver: auto, preconditioner: auto}".
"""
from __future__ import annotations

from typing import Any

import numpy as np
from petsc4py import PETSc

from ._arrays import csr_of
from ._solver import Solver


class PC:
    """setUp, apply and applyTranspose of a PETSc preconditioner, with a tcsolve.Solver behind.

    keywords are those of `Solver`. Without `method` the preconditioner M is applied; with it, or with
    `options`, a product is a solve from 0, `info` its verdict, and one that is not solved ends KSP as
    DIVERGED_PC_FAILED, or where petsc4py cannot say that, with NotConverged. Within a method of KSP's such a solve asks for a flexible one (fgmres, fcg).
    A matrix on the pattern of the one before is taken as new values.
    """

    def __init__(self, **keywords: Any) -> None:
        self.keywords = keywords
        self.solver: Solver | None = None
        self.info: Any = None
        self._product: Any = None

    def setFromOptions(self, pc):
        text = PETSc.Options(pc.getOptionsPrefix()).getString("tcsolve", "")
        if text:
            self.keywords, self.solver = {"options": text}, None

    def setUp(self, pc):
        csr = csr_of(pc.getOperators()[1])
        if self.solver is None:
            alone = "method" not in self.keywords and "options" not in self.keywords
            keywords = {"method": "gmres", "M": "ilu", **self.keywords} if alone else self.keywords
            self.solver = Solver(**keywords)
            self._product = self.solver.preconditioner if alone else None
        before = self.solver._pattern
        if before is not None and np.array_equal(before.indptr, csr.indptr) and np.array_equal(
            before.indices, csr.indices
        ):
            self.solver.update_values(csr)
        else:
            self.solver.set_matrix(csr)
        self._M = self._product() if self._product else None

    def apply(self, pc, b, x):
        if self._M is not None:
            x.setArray(self._M.matvec(b.getArray(readonly=True)))
        else:
            self._solve(pc, b, x, False)

    def applyTranspose(self, pc, b, x):
        if self._M is not None:
            x.setArray(self._M.rmatvec(b.getArray(readonly=True)))
        else:
            self._solve(pc, b, x, True)

    def _solve(self, pc, b, x, transpose):
        out = x.getArray()
        _, self.info = self.solver._solve(b.getArray(readonly=True), None, out, None, None, None,
                                          None, transpose, None, 1, None)
        if not self.info.solved and hasattr(pc, "setFailedReason"):
            pc.setFailedReason(PETSc.PC.FailedReason.SUBPC_ERROR)
        else:  # petsc4py 3.18 has no other way to say so
            self.info.raise_if_not_solved(out)

    def view(self, pc, viewer):
        viewer.printfASCII(f"  tcsolve: {self.solver!r}\n  {self.info!r}\n")
