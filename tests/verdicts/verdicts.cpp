// SPDX-License-Identifier: Apache-2.0
/// Runs every row of the corpus, for each of its methods, on host and device, and checks the
/// outcome and the invariants.
#include <algorithm>
#include <cmath>

#include <tests/verdicts/corpus.hpp>
#include "tests/support/dense.hpp"

namespace tcsolve::test {

namespace {

std::vector<Case> corpus() {
  std::vector<Case> all;
  for (auto table : {trivial_cases, definiteness_cases, singular_cases, breakdown_cases,
                     precision_cases, nonfinite_cases, stopping_cases, inner_cases, claim_cases,
                     best_iterate_cases, scale_cases, multigrid_cases})
    for (Case& c : table()) all.push_back(std::move(c));
  return all;
}

std::string words(std::vector<Stop> const& stops) {
  std::string text;
  for (Stop s : stops) text += cat(text.empty() ? "" : " or ", name(s));
  return text;
}

Column guess_of(Problem const& p) {
  return p.x0.size() == 0 ? Column(Column::Zero(p.A.cols())) : p.x0;
}

void expect_answer(Case const& c, Problem const& p, SolveReport const& report, Column const& x) {
  switch (c.answer) {
    case Answer::any: return;
    case Answer::untouched: EXPECT_TRUE(x == guess_of(p)) << "x was to stay as it was"; return;
    case Answer::zero: EXPECT_TRUE((x.array() == 0).all()) << x.transpose(); return;
    case Answer::solution: {
      double smallest = singular_values(p.A).tail(1)[0];
      double bound = 2 * (report.tolerance + double(residual_error(p.A, p.b, x))) / smallest;
      EXPECT_LE((x - least_squares_solution(p.A, p.b)).norm(), bound + 1e-12 * x.norm());
      return;
    }
    case Answer::minimiser: {
      Column best = least_squares_solution(p.A, p.b);
      EXPECT_LE((p.b - p.A * x).norm(), (1 + 1e-6) * (p.b - p.A * best).norm() + report.tolerance);
      return;
    }
  }
}

/// x is as good as the best iterate, and `best` does not promise what no iterate had.
void expect_residual(double most, Problem const& p, SolveReport const& report, Column const& x) {
  double const now = (p.b - p.A * x).norm();
  EXPECT_LE(now, most * p.b.norm());
  if (!report.converged() && !p.M && !p.rounded) {
    EXPECT_GE(2.001 * report.best_residual, now) << "`best` was never reached";
  }
}

class Verdict : public testing::TestWithParam<Case> {
 protected:
  void check(Backend backend) {
    TCSOLVE_SKIP_IF_ABSENT(backend);
    Case const& c = GetParam();
    Context ctx(backend);
    for (std::string const& method : methods(c.methods))
      for (Execution execution : executions(backend)) {
        SCOPED_TRACE(cat(method, ", ", Where{backend, execution}));
        Problem p = c.make();
        Column x;
        SolveReport report = run(ctx, p, x, method, c.stopping, execution, c.restart);
        SCOPED_TRACE(report.message);
        EXPECT_TRUE(std::ranges::count(c.outcome, report.reason) > 0)
            << report.outcome() << " instead of " << words(c.outcome);
        if (c.cause) { EXPECT_STREQ(name(report.cause), name(*c.cause)); }
        if (c.most_iterations) { EXPECT_LE(report.iterations, *c.most_iterations); }
        expect_invariants(p, report, x, c.stopping);
        expect_answer(c, p, report, x);
        if (c.residual) expect_residual(*c.residual, p, report, x);
      }
  }
};
class VerdictOnHost : public Verdict {};
class VerdictOnCuda : public Verdict {};

TEST_P(VerdictOnHost, Holds) { check(Backend::host); }
TEST_P(VerdictOnCuda, Holds) { check(Backend::cuda); }

auto case_name = [](auto const& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(host, VerdictOnHost, testing::ValuesIn(corpus()), case_name);
INSTANTIATE_TEST_SUITE_P(cuda, VerdictOnCuda, testing::ValuesIn(corpus()), case_name);

}  // namespace

void PrintTo(Case const& c, std::ostream* out) { *out << c.methods; }

SolveReport run(Context& ctx, Problem const& p, Column& x, std::string const& method,
                StoppingParams const& stopping, Execution execution, int restart) {
  OperatorPtr<double> A = p.op ? p.op(ctx) : matrix(ctx, p.A);
  OperatorPtr<double> M = p.M ? p.M(ctx) : nullptr;
  OperatorPtr<double> A_true = p.rounded ? matrix(ctx, p.A) : nullptr;
  auto solver = make_solver(method, stopping, execution, restart);
  solver->setup(ctx, A, M, A_true);
  x = guess_of(p);
  return solve(*solver, p.b, x);
}

namespace {

/// What a sum in twice the working precision may be wrong by, with a little for 64 bits here.
long double exactness(Problem const& p, Column const& x) {
  long double const terms = static_cast<long double>(p.A.cols()) + 4;
  long double const size = exact_norm(p.A) * exact_norm(x) + exact_norm(p.b);
  return terms * (0x1p-63L * size + 0x1p-1073L * std::sqrt(terms));
}

/// r has nothing left along any column, equilibrated, and no other x has a residual that is smaller
/// by more than a hundredth.
void expect_least_squares(Problem const& p, Exact const& r, StoppingParams const& stopping,
                          long double error) {
  long double const rtol = stopping.rtol > 0 ? std::clamp(stopping.rtol, 1e-13, 1e-8) : 1e-8;
  long double const now = exact_norm(r);
  for (Index j = 0; j < p.A.cols(); ++j) {
    Exact const column = p.A.col(j).cast<long double>();
    EXPECT_LE(std::abs(column.dot(r)), exact_norm(column) * (rtol * now + error)) << "column " << j;
  }
  if (p.A.size() == 0) return;
  Column const best = least_squares_solution(p.A, p.b);
  EXPECT_LE(now, 1.01L * exact_norm(exact_residual(p.A, p.b, best)) + error)
      << "called a least-squares solution, and is not";
}

/// |r_i| <= rtol (|b_i| + sum_j |a_ij| max |x|).
void expect_rows_met(Problem const& p, Exact const& r, Column const& x, double rtol) {
  long double const most = x.size() == 0 ? 0.0L : x.cwiseAbs().maxCoeff();
  for (Index i = 0; i < p.A.rows(); ++i) {
    long double size = std::abs(p.b[i]);
    for (Index j = 0; j < p.A.cols(); ++j) size += std::abs(p.A(i, j)) * most;
    EXPECT_LE(std::abs(r[i]), rtol * size * (1 + 1e-9L) + 0x1p-60L * size) << "row " << i;
  }
}

}  // namespace

void expect_invariants(Problem const& p, SolveReport const& report, Column const& x,
                       StoppingParams const& stopping) {
  // The report is whole.
  EXPECT_FALSE(report.message.empty());
  EXPECT_NE(exit_code(report.reason), 6) << "an inner outcome got out: " << report.outcome();
  EXPECT_EQ(report.converged(), exit_code(report.reason) == 0);
  bool const rectangular = p.A.rows() != p.A.cols();
  EXPECT_EQ(report.exit_code() == 0,
            report.converged() || (report.reason == Stop::least_squares && rectangular));
  EXPECT_LE(report.iterations, stopping.max_iters);
  EXPECT_EQ(static_cast<Index>(report.history.size()), report.iterations);
  for (std::size_t i = 0; i < report.history.size(); ++i)
    EXPECT_EQ(report.history[i].iteration, static_cast<Index>(i) + 1);
  EXPECT_LE(report.best_iteration, report.iterations);
  if (!p.finite) {
    EXPECT_FALSE(report.converged()) << "with NaN or Inf about";
    return;
  }
  // No NaN gets out, and x is no worse than the guess.
  ASSERT_TRUE(x.allFinite()) << x.transpose();
  Column x0 = guess_of(p);
  long double error = residual_error(p.A, p.b, x), error0 = residual_error(p.A, p.b, x0);
  Exact r = exact_residual(p.A, p.b, x);
  long double now = exact_norm(r), before = exact_norm(exact_residual(p.A, p.b, x0));
  EXPECT_LE(now, before + error + error0) << "x is worse than the initial guess";
  // The reported residual is the residual: where the operator can, to its last digits.
  long double const rounding =
      p.op == nullptr || p.rounded ? 0x1p-50L * now + exactness(p, x) : error;
  EXPECT_LE(std::abs(now - report.true_residual), rounding) << report.true_residual;
  EXPECT_LE(std::abs(exact_norm(p.b) - report.rhs_norm), 1e-14L * exact_norm(p.b) + 0x1p-1074L);
  // The tolerance is the one asked for.
  long double base = stopping.baseline == Baseline::absolute  ? 0.0L
                     : stopping.baseline == Baseline::initial ? before
                                                              : exact_norm(p.b);
  long double tolerance = std::max<long double>(stopping.rtol * base, stopping.atol);
  if (stopping.baseline == Baseline::rows && report.converged() && report.cause != Cause::zero_rhs)
    expect_rows_met(p, r, x, stopping.rtol);
  if (!report.converged()) {
    if (stopping.baseline != Baseline::rows)
      EXPECT_GT(report.true_residual, report.tolerance) << "refused an x that meets the tolerance";
    // At the attainable accuracy, and said of a tolerance below it.
    if (report.reason == Stop::precision_limit && report.cause != Cause::values) {
      EXPECT_LE(report.true_residual, report.attainable * (1 + 1e-12));
      EXPECT_LE(report.tolerance, report.attainable);
    }
    if (report.reason == Stop::least_squares) expect_least_squares(p, r, stopping, error);
    return;
  }
  EXPECT_LE(now, tolerance * (1 + 1e-12L) + rounding + stopping.rtol * error0)
      << "called converged, and is not";
}

}  // namespace tcsolve::test
