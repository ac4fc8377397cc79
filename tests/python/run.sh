#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD PYTHON KOKKOS [PYTEST OPTION...]: builds the wheel of the Python package with the
# library that lies in the tree BUILD, installs it into a folder of that tree, where it has nothing
# of the repository beside it, and runs the tests on it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd) python=$2 kokkos=$3
shift 3
work=$build/python-test
rm -rf "$work/prefix" "$work/wheel" "$work/site"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >"$work/log"
if ! PATH=$(dirname "$python"):$PATH "$python" -m pip wheel --quiet --no-build-isolation --no-deps --no-index \
  --wheel-dir "$work/wheel" -C build-dir="$work/module" -C cmake.define.tcsolve_ROOT="$work/prefix" \
  -C cmake.define.Kokkos_DIR="$kokkos" "$here/../../bindings/python" >"$work/log" 2>&1; then
  tail -n 60 "$work/log"
  exit 1
fi
"$python" -m pip install --quiet --no-deps --no-index --target "$work/site" "$work"/wheel/*.whl
echo "python: $(basename "$work"/wheel/*.whl), $(du -h --apparent-size "$work"/wheel/*.whl | cut -f1)"
TCSOLVE_VERDICTS_TO=$work/verdicts.jsonl "$build/tests/c/verdicts_c" --gtest_brief=1 >"$work/log"
cd "$work"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$work/site TCSOLVE_VERDICTS=$work/verdicts.jsonl JAX_PLATFORMS=cpu \
  "$python" -m pytest -q -p no:cacheprovider "$here" "$@"
