#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD PYTHON [PYTEST OPTION...]: makes the wheel of the Python package with the library that
# lies in the tree BUILD, installs it into a folder of that tree, where it has nothing of the
# repository beside it, and runs the tests on it. A wheel of the stable ABI then solves in a later Python
# that has NumPy alone (scripts/setup --ci).
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
later=$(dirname "$(dirname "$python")")-later/bin/python
if [[ ! -x $later || -z $(compgen -G "$work/wheel/*abi3*.whl") ]]; then
  echo "run: no later Python, or no wheel of the stable ABI: the wheel is not tried in another version"
  exit 0
fi
"$later" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps --no-index "$work"/wheel/*.whl
"$later" - <<'PYTHON'
import sys
import numpy as np
import tcsolve

n = 1000
i = np.arange(n)
rows = np.concatenate([i, i[1:], i[:-1]])
columns = np.concatenate([i, i[:-1], i[1:]])
values = np.concatenate([np.full(n, 2.1), np.full(2 * n - 2, -1.0)])
order = np.lexsort((columns, rows))
indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
A = values[order], columns[order].astype(np.int32), indptr
x, info = tcsolve.solve(A, np.ones(n), device="cpu")
assert info.solved, info.message
r = np.ones(n) - 2.1 * x
r[1:] += x[:-1]
r[:-1] += x[1:]
assert np.linalg.norm(r) <= 1.01e-8 * np.sqrt(n)
print(f"run: the wheel solves in Python {sys.version.split()[0]} with NumPy {np.__version__} alone")
PYTHON
