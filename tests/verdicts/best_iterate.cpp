// SPDX-License-Identifier: Apache-2.0
/// x is the best iterate: over many nearly singular systems, no run that is cut short reaches much
/// less than the whole run returns. And what follows a setup() that throws.
#include <cmath>

#include <tests/verdicts/corpus.hpp>
#include "tests/support/dense.hpp"

namespace tcsolve::test {

namespace {

/// A random number generator of its own, the same on every machine.
struct Draw {
  std::uint64_t seed, count = 0;
  double number() { return uniform(seed, ++count); }  // in [-1, 1)
  Index below(Index n) { return static_cast<Index>((number() + 1) / 2 * n); }
};

/// A of rank n - 1 or nearly so, b outside its range by 1e-1 to 1e-13 of itself.
Problem nearly_singular(Draw& draw, bool symmetric, bool definite) {
  Index const n = 3 + draw.below(10);
  Column values = graded(n, -draw.below(5));
  if (!definite)
    for (Index i = 1; i < n; ++i) values[i] *= draw.number() < 0 ? -1 : 1;
  double const least = draw.below(3) == 0 ? 0.0 : std::pow(10.0, -6 - draw.below(12));
  values[n - 1] = least;
  Matrix a = with_eigenvalues(values, 900 + draw.seed);
  if (!symmetric) {
    Matrix s = Matrix::Identity(n, n) + 0.3 * random_matrix(n, n, 901 + draw.seed);
    a = s * a * inverse_of(s);
  }
  Column b = a * random_column(n, 902 + draw.seed);
  b += std::pow(10.0, -1 - draw.below(13)) * b.norm() * left_singular_vectors(a).col(n - 1);
  Problem p{a, b};
  if (draw.below(3) == 0) p.x0 = random_column(n, 903 + draw.seed);
  return p;
}

class BestIterate : public InEveryPlace {
 protected:
  static constexpr Index most = 30;
  /// The whole run beside all that are cut short.
  /// A factor of 2 for all but one. The residual of pipelined_cg is a recurrence
  /// whose own error is known by an estimate alone.
  void expect_best(Problem const& p, std::string const& method, int restart) {
    double const factor = method == "pipelined_cg" ? 100 : 2;
    StoppingParams stopping{.rtol = 1e-12, .divtol = 1e12, .stagnation_window = 0};
    double least = std::numeric_limits<double>::infinity(), last = 0, slack = 0;
    Index at = 0;
    for (Index k = 0; k <= most; ++k) {
      stopping.max_iters = k;
      Column x;
      SolveReport report = run(ctx(), p, x, method, stopping, execution(), restart);
      last = static_cast<double>(exact_norm(exact_residual(p.A, p.b, x)));
      slack = std::max(slack, static_cast<double>(residual_error(p.A, p.b, x)));
      if (last < least) least = last, at = k;
      ASSERT_LE(last, factor * least + 4 * slack)
          << report.message << "; " << k << " iterations, and after " << at << " it was " << least;
    }
  }
  void expect_best_of_many(std::string const& names, bool symmetric, bool definite) {
    int const systems = ctx().space() == Space::host ? 60 : 12;
    for (int seed = 0; seed < systems; ++seed) {
      Draw draw{static_cast<std::uint64_t>(seed) + (symmetric ? 5000u : 6000u)};
      Problem p = nearly_singular(draw, symmetric, definite);
      int const restart = 2 + draw.below(30);
      for (std::string const& method : methods(names)) {
        SCOPED_TRACE(cat("seed ", seed, ", ", method, ", n = ", p.A.rows(), ", restart ", restart));
        expect_best(p, method, restart);
      }
    }
  }
};

TEST_P(BestIterate, IsReturnedOfDefiniteSystems) {
  expect_best_of_many("cg chronopoulos_gear pipelined_cg bicgstab gmres fgmres minres", true, true);
}
TEST_P(BestIterate, IsReturnedOfIndefiniteSystems) {
  expect_best_of_many("bicgstab gmres fgmres minres", true, false);
}
TEST_P(BestIterate, IsReturnedOfGeneralSystems) {
  expect_best_of_many("bicgstab gmres fgmres", false, false);
}

TCSOLVE_IN_EVERY_PLACE(BestIterate);

class Setup : public InEveryPlace {};

// lsmr refuses an operator without a transpose when its vectors are being made: the recording of
// the setup before points to vectors that are gone.
TEST_P(Setup, ThatThrowsLeavesASolverThatSaysSo) {
  auto solver = make_solver("lsmr", {}, execution());
  Column b = random_column(9, 810), x = Column::Zero(9);
  solver->setup(ctx(), matrix(ctx(), laplace(9)));
  ASSERT_TRUE(solve(*solver, b, x).converged());
  auto one_way = callable(9, 9, [](Column const& v) -> Column { return laplace(9) * v; });
  EXPECT_THROW(solver->setup(ctx(), one_way), Unsupported);
  Column const before = x;
  EXPECT_THROW(solve(*solver, b, x), ShapeError);
  EXPECT_TRUE(x == before);
  solver->setup(ctx(), matrix(ctx(), laplace(9)));
  x.setZero();
  EXPECT_TRUE(solve(*solver, b, x).converged());
}

// A refusal at the door changes nothing.
TEST_P(Setup, ThatIsRefusedLeavesTheSystemBefore) {
  auto solver = make_solver("cg", {}, execution());
  Column b = random_column(9, 811), x = Column::Zero(9);
  solver->setup(ctx(), matrix(ctx(), laplace(9)));
  EXPECT_THROW(solver->setup(ctx(), matrix(ctx(), Matrix::Ones(9, 8))), ShapeError);
  EXPECT_TRUE(solve(*solver, b, x).converged());
}
TCSOLVE_IN_EVERY_PLACE(Setup);

std::string message_of(std::string const& method, Problem const& p) {
  Context ctx(Backend::host);
  Column x;
  return run(ctx, p, x, method, {}, Execution::eager, 30).message;
}

TEST(Advice, NamesThePreconditionerThatMayBeAtFault) {
  Matrix a{{1e-20, 1}, {1, 1}}, m{{1e20, 0}, {0, 1}};
  Problem p{a, Column{{1, 2}}};
  EXPECT_EQ(message_of("gmres", p).find("breakdown"), std::string::npos);
  p.M = [m](Context& ctx) { return matrix(ctx, m); };
  std::string const with = message_of("gmres", p);
  EXPECT_NE(with.find("breakdown:singular_operator"), std::string::npos) << with;
  EXPECT_NE(with.find("the operator or its preconditioner"), std::string::npos) << with;
  EXPECT_NE(with.find("preconditioner: none"), std::string::npos) << with;
}

TEST(Advice, OfLsmrIsNotLsmr) {
  for (bool preconditioned : {false, true})
    for (Stop reason : {Stop::breakdown, Stop::stagnated, Stop::max_iterations}) {
      SolveReport report;
      report.reason = reason;
      report.cause = reason == Stop::breakdown ? Cause::singular_operator : Cause::none;
      report.preconditioned = preconditioned;
      std::string const text = message_of(report, "lsmr", Lsmr<double>().advice());
      EXPECT_EQ(text.find("lsmr", 4), std::string::npos) << text;
    }
}

TEST(Advice, OfAFiniteOperatorThatOverflowsIsToScale) {
  Problem p{Matrix{{1.7e308, 1e308}, {1e308, 1.7e308}}, Column{{1, 2}}};
  std::string const text = message_of("cg", p);
  if (text.find("nonfinite") != std::string::npos) {
    EXPECT_NE(text.find("scale the system"), std::string::npos) << text;
  }
}

}  // namespace

}  // namespace tcsolve::test
