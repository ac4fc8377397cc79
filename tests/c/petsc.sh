#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# petsc.sh FOLDER: the program tests/install/petsc/solves.c with PETSc and the library in FOLDER: whole solves,
# inner solves, and one that does not get there.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra cflags < <(pkg-config --cflags PETSc)
read -ra libs < <(pkg-config --libs PETSc)
mpicc -std=c11 -Wall -Wextra -Werror -I"$repo/bindings/petsc" -I"$repo/bindings/c" "${cflags[@]}" "$repo/tests/install/petsc/solves.c" \
  -o "$work/solves" -L"$1" -ltcsolve_c -Wl,-rpath,"$1" "${libs[@]}"
"$work/solves" -pc_type tcsolve -ksp_type preonly -malloc_dump \
  -pc_tcsolve_options "{backend: host, solver: {type: gmres, rtol: 1e-10}, preconditioner: {type: jacobi}}" | tee "$work/log"
! grep -q 'allocated in' "$work/log"   # what -malloc_dump finds
"$work/solves" -pc_type tcsolve -ksp_type fgmres \
  -pc_tcsolve_options "{backend: host, solver: {type: bicgstab, rtol: 1e-2}, preconditioner: {type: ilu}}"
if "$work/solves" -pc_type tcsolve -ksp_type preonly -pc_tcsolve_options "{backend: host, solver: {type: gmres, max_iters: 2}}" >"$work/log" ||
  ! grep -q 'reason -11' "$work/log"; then  # DIVERGED_PC_FAILED
  cat "$work/log"
  exit 1
fi
if "$work/solves" -pc_type tcsolve -pc_tcsolve_options "{solver: {type: cq}}" >"$work/log" 2>&1 || ! grep -q "cq" "$work/log"; then
  cat "$work/log"
  exit 1
fi
echo "petsc: solved, and told what was not"
