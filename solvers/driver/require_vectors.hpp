// SPDX-License-Identifier: Apache-2.0
/// What every Solver::solve() refuses.
#pragma once

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/error.hpp>

namespace tcsolve {

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
