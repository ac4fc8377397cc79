// SPDX-License-Identifier: Apache-2.0
/// Systems of several scales at once: penalties, rows and columns in other units, saddle points
/// with blocks of 1e16, rows that cancel on three scales, and values that a narrower type cannot
/// hold. What the verdicts corpus holds of every case (exact residuals, honest tolerances) is most
/// of the test; where one answer alone is right it is named.
#include <cmath>

#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

constexpr char const* general = "bicgstab gmres gmres_left fgmres";
constexpr char const* symmetric = "cg chronopoulos_gear pipelined_cg minres";

/// tridiag(-1, 2, -1) whose first unknown is held by a penalty.
Problem held(Index n, double size) {
  Matrix a = laplace(n);
  a(0, 0) += size;
  Column b = Column::Constant(n, 0.01);
  b[0] += size;
  return {a, b};
}

/// Rows, or columns, of a dominant matrix times 10^-decades to 10^decades.
Problem graded_units(Index n, double decades, bool rows) {
  Matrix a = random_matrix(n, n, 401) + 6 * Matrix::Identity(n, n);
  Column const d = (graded(n, 2 * decades).array() * std::pow(10.0, -decades)).matrix();
  a = rows ? Matrix(d.asDiagonal() * a) : Matrix(a * d.asDiagonal());
  Column const x =
      rows ? random_column(n, 402) : Column((random_column(n, 402).array() / d.array()).matrix());
  return {a, a * x};
}

/// [H B^T; B 0], H of size `size`.
Problem saddle(double size) {
  constexpr Index n = 14, m = 5;
  Matrix a = Matrix::Zero(n + m, n + m);
  a.topLeftCorner(n, n) = size * random_spd(n, 1, 403);
  Matrix const b = random_matrix(m, n, 404);
  a.bottomLeftCorner(m, n) = b;
  a.topRightCorner(n, m) = b.transpose();
  return {a, random_column(n + m, 405)};
}

/// One row that cancels on three scales, which no sum in twice the precision can tell from 0.
Problem cancels_thrice(double large, double middle) {
  Matrix a = Matrix::Identity(5, 5);
  a.row(0) << large, middle, 1, -large, -middle;
  Column b = Column::Ones(5);
  b[0] = 0;
  return {a, b, Column::Ones(5)};
}

template <class S>
Problem narrow(Matrix const& a) {
  return {a,       random_column(Index(a.rows()), 406),
          {},      [a](Context& ctx) { return stored<double, S>(ctx, a); },
          nullptr, true};
}

}  // namespace

std::vector<Case> scale_cases() {
  using enum Stop;
  // What a method may end with that does not get there; `singular_operator` is honest where A is
  // singular to roundoff.
  std::vector<Stop> const honest{converged,     precision_limit, stagnated, max_iterations,
                                 least_squares, breakdown,       diverged,  false_convergence};
  StoppingParams const some{.max_iters = 400};
  StoppingParams const by_rows{.baseline = Baseline::rows, .max_iters = 400};
  std::vector<Case> all;
  auto add = [&](std::string const& name, std::string const& methods, std::function<Problem()> make,
                 std::vector<Stop> const& outcome, StoppingParams const& stopping,
                 std::optional<Cause> cause = {}) {
    all.push_back({.name = name,
                   .methods = methods,
                   .make = std::move(make),
                   .outcome = outcome,
                   .cause = cause,
                   .stopping = stopping});
  };
  for (int const e : {6, 9, 12, 16, 20, 30}) {
    auto const make = [e] { return held(24, std::pow(10.0, e)); };
    add(cat("penalty_1e", e), cat(general, " ", symmetric, " lsmr"), make, honest, some);
    add(cat("penalty_rows_1e", e), cat(general, " ", symmetric, " lsmr"), make, honest, by_rows);
  }
  for (int const d : {3, 8, 15, 30}) {
    add(
        cat("row_units_", d), cat(general, " lsmr"), [d] { return graded_units(18, d, true); },
        honest, some);
    add(
        cat("row_units_by_rows_", d), cat(general, " lsmr"),
        [d] { return graded_units(18, d, true); }, honest, by_rows);
    add(
        cat("column_units_", d), cat(general, " lsmr"), [d] { return graded_units(18, d, false); },
        honest, some);
    add(
        cat("column_units_by_rows_", d), cat(general, " lsmr"),
        [d] { return graded_units(18, d, false); }, honest, by_rows);
  }
  for (int const e : {-16, -8, 0, 8, 16}) {
    auto const make = [e] { return saddle(std::pow(10.0, e)); };
    add(cat("saddle_1e", e < 0 ? "m" : "", std::abs(e)), cat(general, " minres lsmr"), make, honest,
        some);
    add(cat("saddle_rows_1e", e < 0 ? "m" : "", std::abs(e)), cat(general, " minres lsmr"), make,
        honest, by_rows);
  }
  // x0 leaves -1 in the first row; a sum in twice the precision finds 0.
  StoppingParams const at_once{.max_iters = 0};
  for (auto const& [name, large, middle] :
       {std::tuple{"40_20", 1e40, 1e20}, {"33_16", 1e33, 0x1p54}, {"60_30", 1e60, 1e30}})
    add(
        cat("cancels_thrice_", name), cat(general, " ", symmetric, " lsmr"),
        [large = large, middle = middle] { return cancels_thrice(large, middle); },
        {max_iterations}, at_once);
  // Of A itself nothing is known where only the stored one is indefinite, or singular.
  for (int const digits : {3, 5, 7}) {
    auto const a = [digits] { return random_spd(30, digits, 407); };
    std::vector<Stop> const gets_there{converged, precision_limit, max_iterations, diverged};
    add(
        cat("fp16_of_condition_1e", digits), symmetric, [a] { return narrow<half>(a()); },
        gets_there, some);
    add(
        cat("bf16_of_condition_1e", digits), symmetric, [a] { return narrow<bfloat16>(a()); },
        gets_there, some);
    add(
        cat("fp32_of_condition_1e", digits), symmetric, [a] { return narrow<float>(a()); },
        gets_there, some);
  }
  // That A is indefinite beyond any rounding is seen in a narrow type too.
  auto const indefinite = [] { return with_eigenvalues(Column::LinSpaced(12, -1, 2), 408); };
  add(
      "indefinite_in_fp16", "cg chronopoulos_gear pipelined_cg",
      [=] { return narrow<half>(indefinite()); }, {indefinite_operator}, some, Cause::none);
  add(
      "indefinite_in_fp32", "cg chronopoulos_gear pipelined_cg",
      [=] { return narrow<float>(indefinite()); }, {indefinite_operator}, some, Cause::none);
  return all;
}

}  // namespace tcsolve::test
