// SPDX-License-Identifier: Apache-2.0
/// Systems that tests of LinearSolver solve, and where.
#pragma once

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/io/generate/renumber.hpp>

#include <Eigen/Core>

#include <string>

#include "tests/support/each_backend.hpp"
#include "tests/support/solve_backend.hpp"

namespace tcsolve::test {

/// Symmetric positive definite, in no good order; the values go with the time, the pattern does
/// not.
inline Matrix at_time(double time, Index n = 120) {
  Matrix a = Matrix::Zero(n, n);
  std::span<Index const> at = {};
  Permutation const P = random_permutation(n, 5);
  at = P.old_numbers();
  for (Index i = 0; i < n; ++i) {
    a(at[i], at[i]) = 4 + std::sin(time + i) + 0.1 * time;
    if (i + 1 < n) a(at[i], at[i + 1]) = a(at[i + 1], at[i]) = -1 - 0.3 * std::cos(time * i);
    if (i + 9 < n) a(at[i], at[i + 9]) = a(at[i + 9], at[i]) = -0.4 - 0.1 * std::sin(time - i);
  }
  return a;
}

/// The square of the second difference on a line, more `stiffness`: cg with jacobi takes thousands
/// of iterations for it, where stiffness is 0 for nothing; complete factors have no fill. It has
/// more entries than complete factors are made of at once.
inline Csr<double> beam(double stiffness = 1e-6) {
  constexpr Index n = 6200;
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    for (Index d = -2; d <= 2; ++d)
      if (i + d >= 0 && i + d < n) {
        a.columns.push_back(i + d);
        a.values.push_back(d == 0             ? (i == 0 || i == n - 1 ? 5 : 6) + stiffness
                           : std::abs(d) == 1 ? -4
                                              : 1);
      }
    a.offsets.push_back(a.entries());
  }
  return a;
}

inline SolveReport solve(LinearSolver& solver, Column const& b, Column& x,
                         SolveCall const& call = {}) {
  return solver.solve(std::span(b.data(), static_cast<std::size_t>(b.size())),
                      std::span(x.data(), static_cast<std::size_t>(x.size())), call);
}

/// The same answer, bit for bit, by the same way.
inline void expect_same(SolveReport const& a, Column const& x, SolveReport const& b,
                        Column const& y) {
  EXPECT_EQ(x, y);
  EXPECT_EQ(a.message, b.message);
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t i = 0; i < a.history.size(); ++i)
    ASSERT_EQ(a.history[i].norm, b.history[i].norm) << i;
}

/// b by a system that the caller has changed since would not do.
inline void expect_solved(Matrix const& a, Column const& b, Column const& x, double tolerance) {
  EXPECT_LE((b - a * x).norm(), 1.01 * tolerance * b.norm());
}

}  // namespace tcsolve::test
