// SPDX-License-Identifier: Apache-2.0
/// What every Solver::setup() and Solver::solve() refuse, or warn of.
#pragma once

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/operators/linear_operator.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

/// Throws ShapeError, naming the solver, where A or A_true is missing or the operators do not fit
/// each other. M may be null.
template <class T>
void require_operators(std::string const& solver, bool square, OperatorPtr<T> const& A,
                       OperatorPtr<T> const& M, OperatorPtr<double> const& A_true) {
  if (!A || !A_true) throw ShapeError(cat(solver, ": setup needs an operator"));
  auto const extents = [](auto const& op) { return cat(op.rows(), " x ", op.cols()); };
  if (square && A->rows() != A->cols())
    throw ShapeError(
        cat(solver, " needs a square matrix; the matrix is ", extents(*A), "; use lsmr"));
  if (A_true->rows() != A->rows() || A_true->cols() != A->cols())
    throw ShapeError(cat(solver, ": A is ", extents(*A), ", A_true is ", extents(*A_true)));
  if (M && (M->rows() != A->cols() || M->cols() != A->cols()))
    throw ShapeError(
        cat(solver, ": the preconditioner is ", extents(*M), "; A has ", A->cols(), " columns"));
}

/// Logs a warning, once, where M varies and the solver needs one that does not.
template <class T>
void warn_of_varying(Context& ctx, std::string const& solver, SolverNeeds const& needs,
                     OperatorPtr<T> const& M, bool& warned) {
  if (warned || !needs.fixed_preconditioner || !M || M->traits().fixed) return;
  warned = true;
  ctx.log(Severity::warning, warning_of_varying(solver));
}

/// Throws ShapeError, naming the solver, unless b and x are single columns of the lengths that an A
/// of rows x cols has, in memory of their own.
inline void require_vectors(std::string const& solver, Index rows, Index cols, In<double> b,
                            Out<double> x) {
  auto const extents = [&] { return cat(solver, ": A is ", rows, " x ", cols); };
  if (b.rows != rows || b.cols != 1)
    throw ShapeError(cat(extents(), "; b is ", b.rows, " x ", b.cols, ", one column at a time"));
  if (x.rows != cols || x.cols != 1)
    throw ShapeError(cat(extents(), "; x is ", x.rows, " x ", x.cols, ", one column at a time"));
  if ((b.rows > 0 && b.data == nullptr) || (x.rows > 0 && x.data == nullptr))
    throw ShapeError(cat(extents(), "; ", b.rows > 0 && b.data == nullptr ? "b" : "x", " is null"));
  if (b.rows > 0 && x.rows > 0 && b.data < x.data + x.rows && x.data < b.data + b.rows)
    throw ShapeError(cat(solver, ": b and x overlap; give x memory of its own"));
}

}  // namespace tcsolve
