# SPDX-License-Identifier: Apache-2.0
"""cuSPARSE of the wheels nvidia-*, which lies where the loader does not look."""
import functools

from . import _core

_folders = ("cu13/lib", "cusparse/lib")  # of the packages for CUDA 13 and 12


@functools.cache
def find_cusparse():
    """Loads it where the wheels have it: the library then finds it by its name.

    Without it tcsolve takes products of its own. Called before the first Context that may be on a device.
    """
    if not _core.devices():
        return None
    import ctypes  # these take longer to import than the rest of the package
    import importlib.util
    import pathlib

    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        for folder in _folders:
            for file in sorted(pathlib.Path(root, folder).glob("libcusparse.so.*")):
                try:
                    return ctypes.CDLL(str(file))
                except OSError:
                    continue  # of another system, or without what it needs in turn
    return None
