#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD PYTHON [PYTEST OPTION...]: makes the wheel of the Python package with the library that
# lies in the tree BUILD, installs it into a folder of that tree, where it has nothing of the
# repository beside it, and runs the tests on it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd) python=$2
shift 2
work=$build/python-test
rm -rf "$work/wheel" "$work/site"
mkdir -p "$work"
"$here/../../scripts/python-wheel" "$build" "$work/wheel" "$python"
"$python" -m pip install --quiet --no-deps --no-index --target "$work/site" "$work"/wheel/*.whl
TCSOLVE_VERDICTS_TO=$work/verdicts.jsonl "$build/tests/c/verdicts_c" --gtest_brief=1 >"$work/log"
cd "$work"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$work/site TCSOLVE_VERDICTS=$work/verdicts.jsonl JAX_PLATFORMS=cpu \
  "$python" -m pytest -q -p no:cacheprovider "$here" "$@"
