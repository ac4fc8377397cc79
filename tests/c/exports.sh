#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exports.sh LIBRARY: the library exports the names in exports.txt and no other, under its own
# SONAME, and every one of them is declared in the header.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
diff <(grep -v '^#' "$here/exports.txt") \
  <(nm -D --defined-only "$1" | awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | LC_ALL=C sort)
[[ $(objdump -p "$1" | sed -n 's/^ *SONAME *//p') == libtcsolve_c.so.0 ]]
while read -r name; do
  grep -q "\b$name(" "$here/../../bindings/c/tcsolve.h" || { echo "$name is not in tcsolve.h"; exit 1; }
done < <(grep -v '^#' "$here/exports.txt")
echo "exports: $(grep -vc '^#' "$here/exports.txt") functions"
