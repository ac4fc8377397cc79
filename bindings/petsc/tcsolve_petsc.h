/* SPDX-License-Identifier: Apache-2.0 */
/* tcsolve as a preconditioner of PETSc, for one process: a solve of tcsolve's is the product.
 *
 *     PCRegister("tcsolve", PCCreate_tcsolve);          // then -pc_type tcsolve, or PCSetType(pc, "tcsolve")
 *     -ksp_type preonly -pc_tcsolve_options "{solver: {type: cg, rtol: 1e-10}, preconditioner: {type: ic}}"
 *
 * With -ksp_type preonly the solve is tcsolve's; within another method it is an inner one, and the method has
 * to be flexible (fgmres, fcg). Options are YAML or JSON text, those of docs/reference; by default auto. A solve that
 * did not reach its tolerance ends KSP as KSP_DIVERGED_PC_FAILED; -info tells why. A matrix of the same nonzero
 * state is taken as new values. Link with -ltcsolve_c. */
#ifndef TCSOLVE_PETSC_H
#define TCSOLVE_PETSC_H

#include <petscksp.h>
#include <tcsolve.h>

typedef struct {
  tcs_solver* solver;
  PetscObjectState pattern; /* of the matrix that the solver has */
} tcs_pc;

#define TCS_PC_CALL(call)                                                                      \
  PetscCheck((call) == TCS_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "tcsolve: %s", tcs_last_error())

static PetscErrorCode tcs_pc_setup(PC pc) {
  tcs_pc* self;
  Mat P;
  PetscInt n;
  PetscMPIInt size;
  PetscBool there, is_aij;
  PetscInt const *ia, *ja;
  PetscScalar const* values;
  PetscObjectState pattern;
  char text[4096] = "";
  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &self));
  PetscCall(PCGetOperators(pc, NULL, &P));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)P), &size));
  PetscCheck(size == 1, PETSC_COMM_SELF, PETSC_ERR_SUP, "tcsolve works in one process");
  PetscCall(PetscObjectTypeCompareAny((PetscObject)P, &is_aij, MATSEQAIJ, MATAIJ, ""));
  PetscCheck(is_aij, PETSC_COMM_SELF, PETSC_ERR_SUP, "tcsolve takes a matrix of type aij");
  if (self->solver == NULL) {
    char const* prefix;
    PetscCall(PCGetOptionsPrefix(pc, &prefix));
    PetscCall(PetscOptionsGetString(NULL, prefix, "-pc_tcsolve_options", text, sizeof text, NULL));
    TCS_PC_CALL(tcs_solver_create(&self->solver, NULL, text));
  }
  PetscCall(MatGetNonzeroState(P, &pattern));
  PetscCall(MatGetRowIJ(P, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &there));
  PetscCall(MatSeqAIJGetArrayRead(P, &values));
  {
    int32_t const bits = 8 * (int32_t)sizeof(PetscInt);
    PetscInt rows, cols;
    tcs_status status;
    PetscCall(MatGetSize(P, &rows, &cols));
    {
      tcs_csr const a = {sizeof a, rows, cols, ia[n], ia, ja, values, bits, bits, TCS_F64, 0, TCS_HOST, 0};
      status = self->pattern != 0 && self->pattern == pattern + 1 ? tcs_solver_update_values(self->solver, &a)
                                                                  : tcs_solver_set_csr(self->solver, &a, 0);
    }
    self->pattern = status == TCS_OK ? pattern + 1 : 0; /* 0: none */
    PetscCall(MatSeqAIJRestoreArrayRead(P, &values));
    PetscCall(MatRestoreRowIJ(P, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &there));
    TCS_PC_CALL(status);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode tcs_pc_solve(PC pc, Vec b, Vec x, int32_t transpose) {
  tcs_pc* self;
  tcs_report* report = NULL;
  tcs_call call;
  tcs_status status;
  PetscInt n;
  PetscScalar const* from;
  PetscScalar* to;
  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &self));
  tcs_call_init(&call);
  call.zero_guess = 1;
  call.transpose = transpose;
  PetscCall(VecGetSize(b, &n));
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(x, &to));
  status = tcs_solver_solve(self->solver, from, to, 1, n, TCS_HOST, &call, &report);
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  TCS_PC_CALL(status);
  PetscCall(PetscInfo(pc, "tcsolve: %s\n", tcs_report_text(report, "message")));
  if (!tcs_report_solved(report)) PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  tcs_report_free(report);
  PetscFunctionReturn(0);
}

static PetscErrorCode tcs_pc_apply(PC pc, Vec b, Vec x) { return tcs_pc_solve(pc, b, x, 0); }
static PetscErrorCode tcs_pc_apply_transpose(PC pc, Vec b, Vec x) { return tcs_pc_solve(pc, b, x, 1); }

static PetscErrorCode tcs_pc_destroy(PC pc) {
  tcs_pc* self;
  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &self));
  tcs_solver_free(self->solver);
  PetscCall(PetscFree(self));
  PetscFunctionReturn(0);
}

static PetscErrorCode PCCreate_tcsolve(PC pc) {
  tcs_pc* self;
  PetscFunctionBeginUser;
  PetscCall(PetscNew(&self));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, self));
  PetscCall(PCShellSetName(pc, "tcsolve"));
  PetscCall(PCShellSetSetUp(pc, tcs_pc_setup));
  PetscCall(PCShellSetApply(pc, tcs_pc_apply));
  PetscCall(PCShellSetApplyTranspose(pc, tcs_pc_apply_transpose));
  PetscCall(PCShellSetDestroy(pc, tcs_pc_destroy));
  PetscFunctionReturn(0);
}

#endif
