// SPDX-License-Identifier: Apache-2.0
/// Runs every row of the corpus, for each of its methods, on host and device, and checks the
/// outcome and the invariants.
#include <algorithm>
#include <cmath>

#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

std::vector<Case> corpus() {
  std::vector<Case> all;
  for (auto table : {trivial_cases, definiteness_cases, singular_cases, breakdown_cases,
                     precision_cases, nonfinite_cases, stopping_cases, best_iterate_cases})
    for (Case& c : table()) all.push_back(std::move(c));
  return all;
}

/// The larger of ||A||_F and ||A||_inf: at least ||A||_2.
long double operator_size(Matrix const& a) {
  if (a.size() == 0) return 0;
  return std::max<long double>(exact_norm(a), a.rowwise().lpNorm<1>().maxCoeff());
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
      Eigen::JacobiSVD<Matrix> svd(p.A, Eigen::ComputeThinU | Eigen::ComputeThinV);
      double smallest = svd.singularValues().tail(1)[0];
      double bound = 2 * (report.tolerance + double(residual_error(p.A, p.b, x))) / smallest;
      EXPECT_LE((x - svd.solve(p.b)).norm(), bound + 1e-12 * x.norm());
      return;
    }
    case Answer::least_squares: {
      Column best = p.A.completeOrthogonalDecomposition().solve(p.b);
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

TEST(VerdictCorpus, HasAtLeastSixtyCases) { EXPECT_GE(corpus().size(), 60u); }

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

void expect_invariants(Problem const& p, SolveReport const& report, Column const& x,
                       StoppingParams const& stopping) {
  // The report is whole.
  EXPECT_FALSE(report.message.empty());
  EXPECT_NE(exit_code(report.reason), 6) << "an inner outcome got out: " << report.outcome();
  EXPECT_EQ(report.converged(), exit_code(report.reason) == 0);
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
  // The reported residual is the residual.
  EXPECT_LE(std::abs(now - report.true_residual), error) << report.true_residual;
  EXPECT_LE(std::abs(exact_norm(p.b) - report.rhs_norm), 1e-14L * exact_norm(p.b) + 0x1p-1074L);
  // The tolerance is the one asked for.
  long double base = stopping.baseline == Baseline::rhs       ? exact_norm(p.b)
                     : stopping.baseline == Baseline::initial ? before
                                                              : 0.0L;
  long double tolerance = std::max<long double>(stopping.rtol * base, stopping.atol);
  if (!report.converged()) {
    EXPECT_GT(report.true_residual, report.tolerance) << "refused an x that meets the tolerance";
    // At the attainable accuracy: r itself, or A^T r for a least-squares solution.
    if (report.reason == Stop::precision_limit &&
        report.true_residual > report.attainable * (1 + 1e-12)) {
      EXPECT_LE(exact_norm(Exact(p.A.transpose().cast<long double>() * r)),
                operator_size(p.A) * report.attainable * 1.01);
    }
    return;
  }
  if (report.cause == Cause::least_squares) {
    Exact normal = p.A.transpose().cast<long double>() * r;
    long double size = operator_size(p.A), rtol = std::min(stopping.rtol, 1e-8);
    // Optimal in the sense of Fong and Saunders: ||A^T r|| <= rtol ||A|| ||r||.
    EXPECT_LE(exact_norm(normal), rtol * size * now + size * error);
  } else {
    EXPECT_LE(now, tolerance * (1 + 1e-12L) + error + stopping.rtol * error0)
        << "called converged, and is not";
  }
}

}  // namespace tcsolve::test
