# SPDX-License-Identifier: Apache-2.0
"""What is raised and what is warned of."""
import builtins


class Error(Exception):
    """Base of everything that tcsolve raises on purpose."""


class ConfigError(Error, ValueError):
    """Options: every problem, with its line and column."""


class MatrixError(Error, ValueError):
    """A malformed matrix or vector; the message names the row."""


class SetupError(Error, ValueError):
    """A matrix that the format or the preconditioner does not admit."""


class ShapeError(Error, ValueError):
    """Extents, types or places of arrays that do not go together."""


class Unsupported(Error, NotImplementedError):
    """Not offered by this method, format or build."""


class DeviceError(Error, RuntimeError):
    """No device, or a call of it has failed."""


class BusyError(Error, RuntimeError):
    """A solver that is asked for more by its own callback."""


class Cancelled(Error, RuntimeError):
    """A set-up that `Solver.cancel()` has ended. A solve ends with an `Info` instead."""


class OutOfMemory(Error, builtins.MemoryError):
    """Memory that is not there, on the host or the device."""


class NotConverged(Error, RuntimeError):
    """A solve that has not reached its tolerance, where `check=True` asked for an answer or none.

    `info` says why, `x` is the best that was found.
    """

    def __init__(self, info, x=None):
        super().__init__(info.message)
        self.info = info
        self.x = x


class ConvergenceWarning(UserWarning):
    """A solve that has not reached its tolerance."""


class CopyWarning(UserWarning):
    """A matrix that could not be used where it lies; the message says why."""
