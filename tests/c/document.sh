#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# document.sh FOLDER CC CXX: the program of docs/12-from-c.md is compiled as C99 and runs with the
# library in FOLDER; the header is one of C++ as well.
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
