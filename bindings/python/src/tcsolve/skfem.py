# SPDX-License-Identifier: Apache-2.0
"""scikit-fem: `skfem.solve(*condense(A, b, D=D), solver=tcsolve.skfem.solver())`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._solver import Solver


def solver(check: bool = True, **keywords: Any) -> Callable[..., Any]:
    """A function for the `solver` of `skfem.solve`, which keeps what it has set up.

    keywords are those of `Solver`. A matrix of the pattern of the one before, as in a time loop, is
    taken as new values. The function's `info` is the verdict on its last solve; with check=True one
    that is not solved raises NotConverged.
    """
    kept = Solver(**keywords)

    def solve(A, b, **_):
        # update_values does not look at the pattern, so this does.
        A = A.tocsr()
        if not A.has_canonical_format:
            A = A.copy()
            A.sum_duplicates()
        before = kept._pattern
        same = (
            before is not None
            and (before.rows, before.cols, before.data.size) == (*A.shape, A.data.size)
            and (before.indptr == A.indptr).all()
            and (before.indices == A.indices).all()
        )
        if same:
            kept.update_values(A)
        else:
            kept.set_matrix(A)
        x, solve.info = kept.solve(b, check=check)
        return x

    answer: Any = solve
    answer.info, answer.solver = None, kept
    return answer
