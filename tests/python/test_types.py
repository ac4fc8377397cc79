# SPDX-License-Identifier: Apache-2.0
"""What a type checker sees of the package."""
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy")

import tcsolve  # noqa: E402

USE = """
import numpy as np
import tcsolve

x, info = tcsolve.cg((np.ones(1), np.zeros(1, np.int32), np.arange(2)), np.ones(1))
reveal_type(info.solved)
reveal_type(info.residuals)
reveal_type(tcsolve.Solver().set_matrix(None).setup)
reveal_type(tcsolve.devices())
tcsolve.Solver(method=3)
info.solved = True
tcsolve.solve(np.ones(1))
"""


def mypy(folder, *arguments):
    root = pathlib.Path(tcsolve.__file__).parent.parent
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--cache-dir", str(folder), *arguments],
        capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(root)}, cwd=folder).stdout


def test_the_package_is_sound(tmp_path):
    package = pathlib.Path(tcsolve.__file__).parent
    assert (package / "py.typed").exists() and (package / "_core.pyi").exists()
    told = mypy(tmp_path, "-p", "tcsolve")
    assert "Success" in told, told


def test_a_user_is_told(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    told = mypy(tmp_path, "use.py").splitlines()
    said = {int(line.split(":")[1]): line for line in told if line.startswith("use.py:")}
    for line, text in ((6, '"bool"'), (7, "ndarray"), (8, "dict[str"), (9, "list[str"),
                       (10, "arg-type"), (11, "solved"), (12, "call-arg")):
        assert text in said[line].replace("builtins.", ""), told
