# SPDX-License-Identifier: Apache-2.0
"""The verdict corpus through Python: the outcome words, iterations and bits that C++ has."""
import json
import os
import warnings

import numpy as np
import pytest

import tcsolve

FILE = os.environ.get("TCSOLVE_VERDICTS", "")


def hexes(texts):
    return np.array([float.fromhex(t) for t in texts])


@pytest.mark.skipif(not FILE, reason="TCSOLVE_VERDICTS names no file of cases")
def test_the_corpus():
    count = 0
    with open(FILE) as lines, warnings.catch_warnings():
        warnings.simplefilter("ignore", tcsolve.ConvergenceWarning)
        for line in lines:
            case = json.loads(line)
            arrays = (hexes(case["values"]), np.array(case["columns"], np.int32),
                      np.array(case["offsets"]), (case["rows"], case["cols"]))
            solver = tcsolve.Solver(arrays, options=case["options"])
            x, info = solver.solve(hexes(case["b"]), hexes(case["x0"]))
            assert info.reason == case["outcome"], case["name"]
            assert info.iterations == case["iterations"], case["name"]
            assert x.tobytes() == hexes(case["x"]).tobytes(), case["name"]
            assert (info == 0) == info.solved
            count += 1
    assert count > 300
