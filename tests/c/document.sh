#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# document.sh FOLDER CC CXX: the programs of docs/12-from-c.md are compiled, as C99 and as Fortran 2018
# where there is a gfortran, and run with the library in FOLDER; the header is one of C++ as well.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1 cc=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^```c$/,/^```$/p' "$here/../../docs/12-from-c.md" | grep -v '^```' >"$work/page.c"
include=$here/../../bindings/c
"$cc" -std=c99 -pedantic -Wall -Wextra -Werror -I"$include" "$work/page.c" -o "$work/page" -L"$folder" -ltcsolve_c \
  -Wl,-rpath,"$folder"
"$work/page"
echo '#include <tcsolve.h>' >"$work/header.cpp"
"$cxx" -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$include" "$work/header.cpp"
if command -v clang >/dev/null; then
  clang -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$include" "$here/abi.c"
fi
if command -v gfortran >/dev/null; then
  sed -n '/^```fortran$/,/^```$/p' "$here/../../docs/12-from-c.md" | grep -v '^```' >"$work/page.f90"
  gfortran -std=f2018 -pedantic -Wall -Wextra -Werror -J"$work" "$work/page.f90" -o "$work/page90" -L"$folder" \
    -ltcsolve_c -Wl,-rpath,"$folder"
  "$work/page90"
else
  echo "document: no gfortran, the block of Fortran is left out"
fi
