# SPDX-License-Identifier: Apache-2.0
"""What arrays of a device go through, as far as memory of the host can show it."""
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import tcsolve
from tcsolve import _core, _packages


class Bare:
    """An array that says its address and no more."""

    def __init__(self, array, **other):
        self.array, self.other = array, other

    @property
    def __cuda_array_interface__(self):
        a = self.array
        return {"shape": a.shape, "typestr": a.dtype.str, "data": (a.ctypes.data, False),
                "strides": None if a.flags.c_contiguous else a.strides, "version": 3, **self.other}


def test_arrays_by_address():
    a = np.arange(6.0)
    taken = _packages.Vector(Bare(a)).array
    assert taken.__dlpack_device__() == (2, -1)  # CUDA, and no one says which device
    assert _packages.device_of(taken) is None and _packages.package_of(taken).stream(taken) == 1
    assert _packages.package_of(taken).stream(_packages.Vector(Bare(a, stream=7)).array) == 7
    with pytest.raises(TypeError, match="gaps"):
        _packages.Vector(Bare(a[::2]))
    with pytest.raises(TypeError, match="by columns"):
        _packages.Vector(Bare(np.asfortranarray(a.reshape(2, 3))))
    with pytest.raises(TypeError, match="float32"):
        _packages.Vector(Bare(a.astype(np.float32)))
    with pytest.raises(tcsolve.Unsupported):
        _packages.Vector(Bare(a.astype(complex)))
    with pytest.raises(tcsolve.Unsupported):
        _core.by_address(a.ctypes.data, (6,), "b", 8, True, a)


def test_memory_that_others_take_over():
    solver = tcsolve.Solver(method="cg", device="cpu")
    made = solver._core.empty(2, 3)
    solver._core.copy(np.arange(6.0).reshape(2, 3), made, 0)
    seen = np.from_dlpack(made)
    del solver, made
    gc.collect()
    assert np.array_equal(seen, np.arange(6.0).reshape(2, 3))


def test_guesses_into_it():
    core = tcsolve.Solver(method="cg", device="cpu")._core
    made = core.empty(2, 3)
    for x0 in (np.ones((2, 3), np.float32), np.asfortranarray(np.arange(6.0).reshape(2, 3)),
               [[1, 2, 3], [4, 5, 6]]):
        _packages.write(made, x0, core, 0)
        assert np.array_equal(np.from_dlpack(made), x0)


def test_the_way_into_jax():
    jax = pytest.importorskip("jax")
    core = tcsolve.Solver(method="cg", device="cpu")._core
    for kind in ("float32", "bfloat16", "int32"):
        made = core.empty(4, -1)
        core.copy(np.arange(4.0), made, 0)
        given = jax.numpy.ones(4, kind)
        x = _packages.Jax.back(made, given)
        assert isinstance(x, jax.Array) and np.array_equal(np.asarray(x, float), np.arange(4.0))
        assert x.devices() == given.devices()
        assert kind == "int32" or x.dtype == given.dtype
    assert _packages.Jax.cast(jax.numpy.ones(3), "float64").dtype == np.float64


@pytest.mark.skipif(not tcsolve.has_cuda, reason="built without CUDA")
def test_cudss_of_a_package_is_named(tmp_path):
    """As nvidia-cudss-cu13 installs it; what is asked of it is whether it is looked for there."""
    major = tcsolve._core.cuda_version.partition(".")[0]
    file = tmp_path / "nvidia" / f"cu{major}" / "lib" / "libcudss.so.0"
    file.parent.mkdir(parents=True)
    file.write_text("no library")
    told = "import os, tcsolve; print(os.environ.get('TCSOLVE_CUDSS')); tcsolve.show()"
    clean = {k: v for k, v in os.environ.items() if k != "TCSOLVE_CUDSS"}
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(tmp_path)])
    said = subprocess.run([sys.executable, "-c", told], env={**clean, "PYTHONPATH": path},
                          capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[0] == str(file) and f"cuDSS: {file}" in said
    theirs = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True,
                            env={**clean, "PYTHONPATH": path, "TCSOLVE_CUDSS": "/mine.so"}).stdout
    assert theirs.splitlines()[0] == "/mine.so"
