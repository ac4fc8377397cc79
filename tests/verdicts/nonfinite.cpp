// SPDX-License-Identifier: Apache-2.0
/// NaN and infinity in A, M, b and x0, at once or later.
#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

constexpr char const* all =
    "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr";
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Problem good(Index n = 6) { return {laplace(n), Column::Ones(n)}; }

Problem in_matrix(double value) {
  Problem p = good();
  p.A(2, 3) = p.A(3, 2) = value;
  p.finite = false;
  return p;
}
Problem in_rhs(double value) {
  Problem p = good();
  p.b[4] = value;
  p.finite = false;
  return p;
}
Problem in_guess(double value) {
  Problem p = good();
  p.x0 = Column::Ones(6);
  p.x0[0] = value;
  p.finite = false;
  return p;
}
/// f(x) is right, but from call number `from` on its first element is `value`.
OperatorPtr<double> spoiled(Matrix const& a, int from, double value) {
  auto calls = std::make_shared<int>(0);
  auto map = [=](Matrix const& m) -> Map {
    return [=](Column const& x) -> Column {
      Column y = m * x;
      if (++*calls >= from) y[0] = value;
      return y;
    };
  };
  return callable(static_cast<Index>(a.rows()), static_cast<Index>(a.cols()), map(a),
                  map(a.transpose()));
}
/// The system's own residual is computed with a sound A.
Problem spoiled_operator(int from, double value) {
  Problem p = good(12);
  p.b = random_column(12, 81);
  p.op = [a = p.A, from, value](Context&) { return spoiled(a, from, value); };
  p.rounded = true;
  return p;
}
Problem spoiled_preconditioner(int from, double value) {
  Problem p = good(12);
  p.b = random_column(12, 82);
  p.M = [=](Context&) { return spoiled(Matrix::Identity(12, 12), from, value); };
  return p;
}

}  // namespace

std::vector<Case> nonfinite_cases() {
  using enum Stop;
  using enum Answer;
  return {
      {"nan_in_matrix",
       all,
       [] { return in_matrix(nan); },
       {nonfinite},
       Cause::matrix,
       zero,
       {},
       30,
       0},
      {"inf_in_matrix",
       all,
       [] { return in_matrix(inf); },
       {nonfinite},
       Cause::matrix,
       zero,
       {},
       30,
       0},
      // x = 0 does not solve a system whose A x is NaN.
      {"nan_in_matrix_zero_rhs",
       all,
       [] {
         Problem p = in_matrix(nan);
         p.b.setZero();
         return p;
       },
       {nonfinite},
       Cause::matrix},
      {"nan_in_rhs", all, [] { return in_rhs(nan); }, {nonfinite}, Cause::rhs, zero, {}, 30, 0},
      {"inf_in_rhs", all, [] { return in_rhs(-inf); }, {nonfinite}, Cause::rhs, zero, {}, 30, 0},
      {"nan_in_guess",
       all,
       [] { return in_guess(nan); },
       {nonfinite},
       Cause::guess,
       any,
       {},
       30,
       0},
      {"inf_in_guess",
       all,
       [] { return in_guess(inf); },
       {nonfinite},
       Cause::guess,
       any,
       {},
       30,
       0},
      // Every element of b is a number, its norm is not.
      {"norm_of_rhs_overflows",
       all,
       [] {
         Problem p = good();
         p.b.setConstant(1.7e308);
         p.finite = false;
         return p;
       },
       {nonfinite},
       Cause::overflow,
       zero,
       {},
       30,
       0},
      {"nan_from_operator",
       all,
       [] { return spoiled_operator(1, nan); },
       {nonfinite},
       Cause::matrix,
       zero},
      {"nan_from_operator_later",
       all,
       [] { return spoiled_operator(5, nan); },
       {nonfinite},
       Cause::matrix},
      {"inf_from_operator_later",
       all,
       [] { return spoiled_operator(5, inf); },
       {nonfinite},
       Cause::matrix},
      {"nan_from_preconditioner",
       all,
       [] { return spoiled_preconditioner(1, nan); },
       {nonfinite},
       Cause::preconditioner,
       zero},
      {"nan_from_preconditioner_later",
       all,
       [] { return spoiled_preconditioner(4, nan); },
       {nonfinite},
       Cause::preconditioner},
      {"inf_from_preconditioner_later",
       all,
       [] { return spoiled_preconditioner(4, -inf); },
       {nonfinite},
       Cause::preconditioner},
  };
}

}  // namespace tcsolve::test
