/* SPDX-License-Identifier: Apache-2.0 */
/* A program of PETSc's that takes tcsolve by -pc_type: a tridiagonal system, its transpose, and new values. It
 * ends with 1 where KSP says that it has converged and the residual does not. */
#include <tcsolve_petsc.h>

static PetscErrorCode check(Mat A, KSP ksp, Vec b, Vec x, PetscBool transpose, int* wrong) {
  Vec r;
  PetscReal norm, of_b;
  KSPConvergedReason reason;
  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(transpose ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(transpose ? MatMultTranspose(A, x, r) : MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &of_b));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "reason %d, residual %.2e of norm(b)\n", (int)reason, (double)(norm / of_b)));
  *wrong += reason > 0 ? norm > 1e-5 * of_b : 1;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt const n = 1000;
  Mat A;
  Vec b, x;
  KSP ksp;
  int wrong = 0;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PCRegister("tcsolve", PCCreate_tcsolve));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, &A));
  for (PetscInt i = 0; i < n; ++i) {
    PetscCall(MatSetValue(A, i, i, 2.1, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(A, i, i - 1, -1.0, INSERT_VALUES));
    if (i + 1 < n) PetscCall(MatSetValue(A, i, i + 1, -0.5, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp)); /* -pc_type tcsolve */
  for (int step = 0; step < 3; ++step) {
    PetscCall(check(A, ksp, b, x, PETSC_FALSE, &wrong));
    PetscCall(check(A, ksp, b, x, PETSC_TRUE, &wrong));
    PetscCall(MatScale(A, 2.0));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscFinalize());
  return wrong != 0;
}
