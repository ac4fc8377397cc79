# SPDX-License-Identifier: Apache-2.0
"""Packages of arrays: how each converts its arrays, makes new ones, and orders its work.

    NumPy    the host; arrays of torch and JAX that lie there are seen through it
    CuPy     a device, in the package's current stream
    Torch    a device, likewise
    Jax      a device; its arrays are never written: x is made by tcsolve and handed over
    Other    any array with `__dlpack__` or `__cuda_array_interface__` on a device

A package is imported by whoever has an array of it, so that nothing here imports one for itself.
"""
import numpy as np

from . import _core
from ._errors import Unsupported

_legacy = 1  # cudaStreamLegacy: the default stream by a number that is not "none"
_kinds = {"float64", "float32", "float16", "bfloat16", "float128", "longdouble", "bool",
          *(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64))}


def dtype_name(a):
    """ "float64", whatever the package."""
    return getattr(a.dtype, "name", None) or str(a.dtype).rpartition(".")[2]


class NumPy:
    writable = True

    @staticmethod
    def direct(a):
        """(address, length, device) of a vector that the compiled part takes by its address: float64
        on a device, without gaps; else None."""
        return None

    @staticmethod
    def plain(a):
        return a

    to_numpy = plain

    @staticmethod
    def cast(a, dtype):
        return a.astype(dtype, copy=False)

    @staticmethod
    def gapless(a):
        return a.flags.c_contiguous or (a.ndim == 2 and a.flags.f_contiguous)

    @staticmethod
    def dense(a):
        return np.ascontiguousarray(a) if a.ndim == 1 else np.asfortranarray(a)

    @staticmethod
    def empty(like, rows, core):
        """A vector, or a block with the columns of `like`, of float64 where `like` lies."""
        if like.ndim == 1:
            return np.empty(rows)
        return np.empty((rows, like.shape[1]), order="C" if like.flags.c_contiguous else "F")

    @staticmethod
    def stream(a):
        """What a solve begins after: a cudaStream_t as a number; 0 for the host."""
        return 0

    @staticmethod
    def back(x, given):
        """x, of float64, as the caller who gave `given` gets it."""
        if given.dtype.kind == "f" and given.dtype.itemsize < 8:
            return x.astype(given.dtype)
        return x


def _require_no_capture(captured):
    if captured:
        raise Unsupported(
            "the current stream is being captured: a solve reads its verdict on the host and "
            "cannot be part of a CUDA graph; call it outside of the capture"
        )


class CuPy:
    writable = True

    @staticmethod
    def direct(a):
        if a.ndim != 1 or a.dtype.char != "d" or not a.flags.c_contiguous:
            return None
        memory = a.data
        return (memory.ptr, a.size, memory.device_id) if memory.ptr else None

    @staticmethod
    def vector(like, n, device):
        """Of n float64, where `like` lies: on `device`."""
        import cupy

        if cupy.cuda.runtime.getDevice() == device:
            return cupy.empty(n)
        with like.device:
            return cupy.empty(n)

    @staticmethod
    def address(a):
        return a.data.ptr

    @staticmethod
    def plain(a):
        return a

    @staticmethod
    def to_numpy(a):
        return a.get()

    @staticmethod
    def cast(a, dtype):
        with a.device:
            return a.astype(dtype, copy=False)

    gapless = NumPy.gapless

    @staticmethod
    def assign(x, x0):
        import cupy

        with x.device:
            x[...] = cupy.asarray(x0)

    @staticmethod
    def dense(a):
        import cupy

        with a.device:
            return cupy.ascontiguousarray(a)

    @staticmethod
    def empty(like, rows, core):
        import cupy

        with like.device:
            if like.ndim == 1:
                return cupy.empty(rows)
            order = "C" if like.flags.c_contiguous else "F"
            return cupy.empty((rows, like.shape[1]), order=order)

    @staticmethod
    def stream(a):
        import cupy

        stream = cupy.cuda.get_current_stream(a.data.device_id)
        pointer = stream.ptr
        _require_no_capture(pointer > 2 and stream.is_capturing())  # the default ones cannot be
        return pointer or _legacy

    @staticmethod
    def back(x, given):
        if isinstance(x, np.ndarray):
            import cupy

            with given.device:
                x = cupy.asarray(x)
        if given.dtype.kind != "f" or given.dtype == x.dtype:
            return x
        return CuPy.cast(x, given.dtype)


class Torch:
    writable = True

    @staticmethod
    def direct(a):
        if not a.is_cuda or a.ndim != 1 or dtype_name(a) != "float64":
            return None
        if str(a.layout) != "torch.strided" or not a.is_contiguous() or a.is_neg():
            return None
        pointer = a.data_ptr()
        return (pointer, a.shape[0], a.device.index) if pointer else None

    @staticmethod
    def vector(like, n, device):
        return like.new_empty((n,))

    @staticmethod
    def address(a):
        return a.data_ptr()

    @staticmethod
    def plain(a):
        return a.detach()

    @staticmethod
    def to_numpy(a):
        a = a.detach()
        return (a.double() if dtype_name(a) == "bfloat16" else a).cpu().numpy()

    @staticmethod
    def cast(a, dtype):
        import torch

        return a.to(getattr(torch, dtype))

    @staticmethod
    def gapless(a):
        return a.is_contiguous() or (a.ndim == 2 and a.T.is_contiguous())

    @staticmethod
    def assign(x, x0):
        import torch

        x.copy_(torch.as_tensor(x0, device=x.device).detach())

    @staticmethod
    def dense(a):
        return a.contiguous()

    @staticmethod
    def empty(like, rows, core):
        if like.ndim == 1 or like.is_contiguous():
            return like.new_empty((rows, *like.shape[1:]))
        return like.new_empty((like.shape[1], rows)).T

    @staticmethod
    def stream(a):
        import torch

        if not a.is_cuda:
            return 0
        with torch.cuda.device(a.device):
            _require_no_capture(torch.cuda.is_current_stream_capturing())
        return torch.cuda.current_stream(a.device).cuda_stream or _legacy

    @staticmethod
    def back(x, given):
        import torch

        if isinstance(x, np.ndarray):
            x = torch.from_numpy(x).to(given.device)
        return x.to(given.dtype) if given.is_floating_point() else x


class Jax:
    writable = False
    direct = NumPy.direct  # no stream that its arrays are made in is known

    @staticmethod
    def plain(a):
        return a.block_until_ready()  # JAX names no stream that its arrays are made in

    @staticmethod
    def to_numpy(a):
        return np.asarray(a, dtype=np.float64 if dtype_name(a) == "bfloat16" else None)

    @staticmethod
    def cast(a, dtype):
        with Jax.in_64_bits():
            return a.astype(dtype).block_until_ready()

    @staticmethod
    def in_64_bits():
        """Float64 for the length of a `with`, whatever the program has chosen."""
        import jax

        if hasattr(jax, "enable_x64"):
            return jax.enable_x64(True)
        from jax.experimental import enable_x64  # until it was JAX's own

        return enable_x64(True)

    @staticmethod
    def gapless(a):
        return True

    @staticmethod
    def dense(a):
        return a

    @staticmethod
    def empty(like, rows, core):
        return core.empty(rows, -1 if like.ndim == 1 else like.shape[1])

    @staticmethod
    def stream(a):
        return _legacy

    @staticmethod
    def back(x, given):
        import jax

        if isinstance(x, np.ndarray):
            kind = given.dtype if given.dtype.kind in "fV" else None
            return jax.device_put(x if kind is None else x.astype(kind), given.sharding)
        with Jax.in_64_bits():
            x = jax.dlpack.from_dlpack(x)
        if x.devices() != given.devices():  # tcsolve computes elsewhere
            x = jax.device_put(x, given.sharding)
        real = jax.numpy.issubdtype(given.dtype, jax.numpy.floating)
        return x if not real or x.dtype == given.dtype else Jax.cast(x, given.dtype)


class ByAddress:
    """An array that has `__cuda_array_interface__` alone, with the `__dlpack__` that it lacks."""

    def __init__(self, a):
        what = a.__cuda_array_interface__
        self.owner, self.shape, self.ndim = a, tuple(what["shape"]), len(what["shape"])
        self.dtype = np.dtype(what["typestr"])
        self.stream = what.get("stream") or _legacy
        pointer, read_only = what["data"]
        strides, dense = what.get("strides"), self.dtype.itemsize
        if strides is not None:
            for n, stride in zip(self.shape[::-1], strides[::-1]):
                if n > 1 and stride != dense:
                    raise TypeError("an array with gaps or by columns; give it as DLPack has it")
                dense *= n
        self._array = _core.by_address(pointer or 0, self.shape, self.dtype.kind,
                                       8 * self.dtype.itemsize, read_only, a)

    def __dlpack__(self, **keywords):
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class Other:
    writable = True
    direct = NumPy.direct

    @staticmethod
    def plain(a):
        return a if hasattr(a, "__dlpack__") else ByAddress(a)

    @staticmethod
    def to_numpy(a):
        if on_host(a):
            return np.from_dlpack(a)
        raise TypeError(f"{type(a).__name__} on a device, of which no copy on the host is known")

    @staticmethod
    def cast(a, dtype):
        if hasattr(a, "astype"):
            return Other.plain(a.astype(dtype))
        raise TypeError(f"{type(a).__name__} of {a.dtype}; {dtype} is taken")

    @staticmethod
    def gapless(a):
        return True  # what is not is refused where it is read

    @staticmethod
    def dense(a):
        return a

    @staticmethod
    def empty(like, rows, core):
        return core.empty(rows, -1 if like.ndim == 1 else like.shape[1])

    @staticmethod
    def stream(a):
        return getattr(a, "stream", _legacy) if isinstance(a, ByAddress) else _legacy

    @staticmethod
    def back(x, given):
        return x


_by_name = {"numpy": NumPy, "cupy": CuPy, "torch": Torch, "jax": Jax, "jaxlib": Jax}


_by_type: dict[type, type] = {}  # what package_of() has told of a package's type


def package_of(a):
    kind = type(a)
    package = _by_type.get(kind)
    if package is None:
        package = _by_name.get(kind.__module__.partition(".")[0], Other)
        if package is not Other:  # of which there are as many types as a program makes
            _by_type[kind] = package
    return package


def is_array(a):
    return isinstance(a, np.ndarray) or hasattr(a, "__dlpack__") or hasattr(
        a, "__cuda_array_interface__"
    )


def on_host(a):
    """Whether NumPy can read the memory of the array."""
    if isinstance(a, np.ndarray):
        return True
    return hasattr(a, "__dlpack_device__") and a.__dlpack_device__()[0] == 1


def plain(a):
    """An array of the host as NumPy's, one of a device as it is: no copy of either."""
    package = package_of(a)
    return package.to_numpy(a) if on_host(a) else package.plain(a)


def device_of(a):
    """ "cuda:1"; None for an array of the host, or where the array does not say."""
    if not hasattr(a, "__dlpack_device__"):
        return None
    kind, ordinal = a.__dlpack_device__()
    return f"cuda:{ordinal}" if kind in (2, 13) and ordinal >= 0 else None


class Vector:
    """b as tcsolve takes it, and what its package needs to make x.

    to_host: a solver that computes on the host reads no memory of a device, so it gets a copy.
    """

    __slots__ = ("array", "package", "given")

    def __init__(self, given, to_host=False):
        if not is_array(given):
            given = np.asarray(given)
        self.given = given
        here, package = to_host or on_host(given), package_of(given)
        self.package = NumPy if here else package
        array = package.to_numpy(given) if here else package.plain(given)
        if dtype_name(array) not in _kinds:
            raise TypeError(f"b of {dtype_name(array)}; real numbers are taken")
        if dtype_name(array) != "float64" or not getattr(array.dtype, "isnative", True):
            array = self.package.cast(array, "float64")
        self.array = array if self.package.gapless(array) else self.package.dense(array)

    def empty(self, rows, core):
        return self.package.empty(self.array, rows, core)

    def back(self, x):
        return package_of(self.given).back(x, self.given)


def write(x, x0, core, stream):
    """x <- x0, wherever they lie."""
    if not is_array(x0):
        x0 = np.asarray(x0)
    to = package_of(x)
    if to is NumPy:
        x[...] = package_of(x0).to_numpy(x0)
    elif to in (CuPy, Torch):
        to.assign(x, x0)
    else:  # made by core.empty: float64, row by row
        guess = Vector(x0)
        dense = np.ascontiguousarray if guess.package is NumPy else guess.package.dense
        core.copy(dense(guess.array), x, stream)
