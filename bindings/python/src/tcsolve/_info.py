# SPDX-License-Identifier: Apache-2.0
"""The verdict on a solve."""
from __future__ import annotations

import json
import numbers
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

from . import _core
from ._errors import NotConverged


class Info:
    """What became of a solve.

    `int(info)`, `info == 0` and `info > 0` behave as SciPy's `info`: 0 where it is solved, else the
    number of iterations, at least 1. `bool(info)` is an error, since SciPy's 0 means success: ask
    `info.solved`.

    Norms are 2-norms in the units of b; those that were never computed are NaN.
    """

    __slots__ = ("_report",)
    _report: _core.Report

    def __init__(self, report):
        object.__setattr__(self, "_report", report)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("an Info tells what was; it cannot be changed")

    @property
    def solved(self) -> bool:
        """Converged, or a least-squares solution where one is accepted."""
        return self._report.solved

    @property
    def converged(self) -> bool:
        """The true residual of the x returned meets the tolerance."""
        return self._report.converged

    @property
    def reason(self) -> str:
        """The outcome in a word: "converged", "max_iterations", "breakdown:rho", ..."""
        return self._report.outcome

    @property
    def message(self) -> str:
        """The outcome in a sentence, with advice where there is some."""
        return self._report.message

    @property
    def iterations(self) -> int:
        """Of all restarts, and of all methods that were tried."""
        return self._report.iterations

    @property
    def true_residual(self) -> float:
        """||b - A x|| of the x returned, from the matrix as it was given, in twice FP64."""
        return self._report.true_residual

    @property
    def tolerance(self) -> float:
        """What the true residual had to meet."""
        return self._report.tolerance

    @property
    def rhs_norm(self) -> float:
        """||b||."""
        return self._report.rhs_norm

    @property
    def residuals(self) -> NDArray[np.float64]:
        """The norm after each iteration, by the method's account: an array of float64."""
        norms: Any = self._report.residuals
        return norms

    @property
    def seconds(self) -> float:
        """Of the solve, without set-ups made in it."""
        return self._report.seconds

    @property
    def setup_seconds(self) -> float:
        """Of set-ups made in the solve: by auto, or of the transpose."""
        return self._report.setup_seconds

    @property
    def setup(self) -> dict[str, Any]:
        """What the set-up took and made that the solve was of: `Solver.setup` of that time."""
        return json.loads(self._report.setup_json)

    @property
    def memory(self) -> float:
        """Bytes of A and M, about, when the solve ended."""
        return self._report.memory

    def to_dict(self) -> dict[str, Any]:
        """Everything that the report says, as plain Python objects; NaN is None. `setup` and
        `memory` are among them."""
        return {**json.loads(self._report.json), "setup": self.setup, "memory": self.memory}

    def raise_if_not_solved(self, x: Any = None) -> Info:
        """Raises NotConverged unless it is solved; returns self."""
        if not self._report.solved:
            raise NotConverged(self, x)
        return self

    def __int__(self) -> int:
        return 0 if self._report.solved else max(1, self._report.iterations)

    __index__ = __int__

    def __bool__(self) -> NoReturn:
        raise TypeError("ask info.solved; as a number, info is 0 where the solve has succeeded")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Info):
            return self._report is other._report
        if isinstance(other, numbers.Real):
            return int(self) == other
        return NotImplemented

    def __lt__(self, other: float) -> bool:
        return int(self) < other if isinstance(other, numbers.Real) else NotImplemented

    def __le__(self, other: float) -> bool:
        return int(self) <= other if isinstance(other, numbers.Real) else NotImplemented

    def __gt__(self, other: float) -> bool:
        return int(self) > other if isinstance(other, numbers.Real) else NotImplemented

    def __ge__(self, other: float) -> bool:
        return int(self) >= other if isinstance(other, numbers.Real) else NotImplemented

    __hash__ = object.__hash__

    def __repr__(self):
        return f"<tcsolve.Info: {self._report.message}>"


class Infos(tuple[Info, ...]):
    """The verdicts on several right-hand sides, one for each column."""

    @property
    def solved(self) -> bool:
        """Every column is."""
        return all(info.solved for info in self)

    @property
    def message(self) -> str:
        """That of the first column that is not solved, else of the first one."""
        told = [info for info in self if not info.solved] or list(self)
        return told[0].message if told else ""

    def __int__(self) -> int:
        return max((int(info) for info in self), default=0)

    def __bool__(self) -> NoReturn:
        raise TypeError("ask infos.solved")

    def raise_if_not_solved(self, x: Any = None) -> Infos:
        """Raises NotConverged unless every column is solved; returns self."""
        if not self.solved:
            raise NotConverged(self, x)
        return self
