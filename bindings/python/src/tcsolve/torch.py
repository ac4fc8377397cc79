# SPDX-License-Identifier: Apache-2.0
"""torch: solves that can be differentiated, where the tensors lie.

    x = tcsolve.torch.solve(A, b, method="gmres", M="ilu", rtol=1e-10)
    x.square().sum().backward()            # A.grad on A's pattern, b.grad

With A x = b and the gradient g of x, lambda = A^-T g is that of b, and -lambda_i x_j that of a_ij, on
the pattern of A alone. The backward solve has the set-up of the forward one; of an A that is not
symmetric A^T is set up beside it, once. The backward solve is another such solve, so that
derivatives of any order are there.
"""
from __future__ import annotations

import atexit
import threading
import warnings
import weakref
from typing import Any

import torch

from ._errors import ConvergenceWarning, ShapeError
from ._solver import Solver

_most_kept = 8
_kept: list[Any] = []  # (options, _Prepared), the last used last
_of_solvers: weakref.WeakKeyDictionary[Solver, Any] = weakref.WeakKeyDictionary()  # what solvers of the caller hold now
_lock = threading.Lock()


def forget() -> None:
    """Frees the set-ups that are kept for later solves: those of the last 8 patterns and options."""
    with _lock:
        _kept.clear()


atexit.register(forget)


def kept():
    """How many set-ups are kept, and their bytes."""
    with _lock:
        prepared = [p for _, p in _kept]
    return len(prepared), sum(p.memory() for p in prepared)


class _Prepared:
    """A solver, and copies of what it was set up of: the tensors may be written into meanwhile."""

    def __init__(self, solver):
        self.solver, self.crow, self.col, self.values = solver, None, None, None
        self.lock = threading.Lock()

    def memory(self):
        with self.lock:
            copies = [a for a in (self.crow, self.col, self.values) if a is not None]
            return self.solver.memory + sum(a.numel() * a.element_size() for a in copies)

    def has_pattern(self, crow, col):
        return self.crow is not None and _same(self.crow, crow) and _same(self.col, col)

    def take(self, crow, col, values, n):
        values = values.detach()
        if not self.has_pattern(crow, col):
            self.crow, self.col, self.values = crow.clone(), col.clone(), values.double().clone()
            self.solver.set_matrix((self.values, self.col.int(), self.crow, (n, n)))
        elif not _same(self.values, values.double()):
            self.values = values.double().clone()
            self.solver.update_values(self.values)


def _same(a, b):
    return a.shape == b.shape and a.device == b.device and a.dtype == b.dtype and torch.equal(a, b)


class _Call:
    """Which solver solves, and how: what the tensors of a solve do not say."""

    def __init__(self, options, solver, check, transpose):
        self.options, self.solver, self.check, self.transpose = options, solver, check, transpose

    def adjoint(self):
        return _Call(self.options, self.solver, self.check, not self.transpose)

    def prepared(self, crow, col):
        with _lock:
            if self.solver is not None:
                return _of_solvers.setdefault(self.solver, _Prepared(self.solver))
            at = next((k for k, (options, p) in enumerate(_kept)
                       if options == self.options and p.has_pattern(crow, col)), None)
            entry = (self.options, _Prepared(Solver(**self.options))) if at is None else _kept.pop(at)
            _kept.append(entry)
            del _kept[:-_most_kept]
            return entry[1]

    def solve(self, crow, col, values, b):
        prepared = self.prepared(crow, col)
        with prepared.lock:
            prepared.take(crow, col, values, b.shape[0])
            return prepared.solver.solve(b.detach(), transpose=self.transpose, check=self.check)


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, call, crow, col, values, b):
        x, ctx.info = call.solve(crow, col, values, b)
        ctx.call = call
        ctx.save_for_backward(crow, col, values, x)
        return x

    @staticmethod
    def backward(ctx, g):
        crow, col, values, x = ctx.saved_tensors
        if not ctx.info.solved:
            warnings.warn(f"the gradient of an x that is not solved: {ctx.info.message}",
                          ConvergenceWarning, stacklevel=2)
        adjoint = _Solve.apply(ctx.call.adjoint(), crow, col, values, g)
        of_values = None
        if ctx.needs_input_grad[3]:
            rows = torch.repeat_interleave(
                torch.arange(crow.numel() - 1, device=crow.device), crow[1:] - crow[:-1],
                output_size=col.numel())
            left, right = (x, adjoint) if ctx.call.transpose else (adjoint, x)
            of_values = -(left[rows] * right[col.long()])
            if of_values.ndim == 2:  # several right-hand sides
                of_values = of_values.sum(1)
            of_values = of_values.to(values.dtype)
        return None, None, None, of_values, adjoint


class _Values(torch.autograd.Function):
    """The values of a sparse CSR tensor, whose gradient has its pattern."""

    @staticmethod
    def forward(ctx, A):
        ctx.shape = A.shape
        ctx.save_for_backward(A.crow_indices(), A.col_indices())
        return A.values().clone()

    @staticmethod
    def backward(ctx, g):
        return _Sparse.apply(*ctx.saved_tensors, g, ctx.shape)


class _Sparse(torch.autograd.Function):
    """The way back: what _Values is the gradient of."""

    @staticmethod
    def forward(ctx, crow, col, values, shape):
        return torch.sparse_csr_tensor(crow, col, values, size=shape)

    @staticmethod
    def backward(ctx, G):
        return None, None, _Values.apply(G), None


def solve(A: Any, b: torch.Tensor, solver: Solver | None = None, *, transpose: bool = False,
          check: bool = True, **options: Any) -> torch.Tensor:
    """x with A x = b (A^T x = b), of b's shape (n,) or (n, k), type and device; differentiable.

    A: a square sparse CSR tensor with sorted columns, or the triple (values, col_indices,
    crow_indices). Gradients reach A, or the values of the triple, and b. solver: a `tcsolve.Solver`,
    which keeps its set-up between calls and is given the matrix here; without it `options`, those of
    `tcsolve.Solver`, make one, and the last 8 are kept (`forget()`).

    float32 tensors are solved for in float64 and rounded; tolerances below 1e-6 then ask for more
    than x can say, and gradients need them tight. The pattern and the values are compared with those
    that are set up, a pass over each; new values on the same pattern are an update.

    check=True: a solve that is not solved, forward or backward, raises NotConverged, since gradients
    of an x that has not converged are wrong without a sign of it; False: a ConvergenceWarning, and
    another one when the gradient of such an x is asked for.
    """
    if solver is not None and options:
        raise TypeError("a solver has its options: give one or the other")
    if isinstance(A, tuple):
        values, col, crow = A[:3]
    elif isinstance(A, torch.Tensor) and A.layout == torch.sparse_csr:
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise ShapeError(f"A has shape {tuple(A.shape)}; a gradient needs a square one")
        crow, col = A.crow_indices(), A.col_indices()
        values = _Values.apply(A) if A.requires_grad else A.values()
    else:
        raise TypeError("A: a sparse CSR tensor, or (values, col_indices, crow_indices)")
    if b.ndim not in (1, 2) or b.shape[0] != crow.numel() - 1:
        raise ShapeError(f"b has shape {tuple(b.shape)}; A has {crow.numel() - 1} rows")
    call = _Call(options, solver, bool(check), bool(transpose))
    return _Solve.apply(call, crow.detach(), col.detach(), values, b)
