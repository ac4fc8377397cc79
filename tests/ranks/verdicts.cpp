// SPDX-License-Identifier: Apache-2.0
/// The verdict corpus once more, by two ranks: what a careful analyst would say does not depend on
/// who has which rows.
#include <algorithm>
#include <numeric>

#include <tests/ranks/ranks.hpp>
#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {
namespace {

constexpr int ranks = 2;

/// A table of the corpus.
struct Table {
  char const* name;
  std::vector<Case> (*cases)();
  friend std::ostream& operator<<(std::ostream& out, Table const& t) { return out << t.name; }
};
constexpr Table tables[] = {{"trivial", trivial_cases},     {"definiteness", definiteness_cases},
                            {"breakdown", breakdown_cases}, {"precision", precision_cases},
                            {"nonfinite", nonfinite_cases}, {"stopping", stopping_cases},
                            {"claims", claim_cases},        {"best_iterate", best_iterate_cases},
                            {"scale", scale_cases}};

std::vector<Case> corpus() {
  std::vector<Case> all;
  for (Table const& table : tables)
    for (Case& c : table.cases()) all.push_back(std::move(c));
  return all;
}

/// The entries of an operator of a problem; nothing where it has none in CSR and FP64.
std::optional<Csr<double>> entries_of(std::function<OperatorPtr<double>(Context&)> const& make) {
  Context one(Backend::host, {.threads = 1});
  OperatorPtr<double> const made = make(one);
  auto const csr = std::dynamic_pointer_cast<CsrOperator<double> const>(made);
  if (!csr) return std::nullopt;
  return to_host(one, csr->view());
}

/// What a case is over ranks; nothing where it cannot be, and why.
struct Dealt {
  Problem p;
  std::optional<Csr<double>> M;
  std::vector<Index> rows, cols;
  std::string why_not = {};
};
std::vector<Index> all_to_the_second(Index n) { return {0, 0, n}; }
std::vector<Index> half_each(Index n) { return stretches(n, ranks, Deal::even); }

Dealt deal(Case const& c, std::vector<Index> (*to)(Index n)) {
  Dealt d{c.make(), {}, {}, {}};
  if (d.p.op) d.why_not = "its operator is no matrix in CSR";
  if (d.p.M && !(d.M = entries_of(d.p.M))) d.why_not = "its M is no matrix in CSR";
  d.rows = to(static_cast<Index>(d.p.A.rows()));
  d.cols = to(static_cast<Index>(d.p.A.cols()));
  for (int r = 0; r < ranks; ++r)
    if ((d.rows[r + 1] == d.rows[r]) != (d.cols[r + 1] == d.cols[r]))
      d.why_not = "a rank would have rows and no columns, or columns and no rows";
  return d;
}

Column guess_of(Problem const& p) {
  return p.x0.size() == 0 ? Column(Column::Zero(p.A.cols())) : p.x0;
}

/// A solve of a case: the reports of all ranks; x is the guess, then the answer.
struct Attempt {
  std::string method;
  Execution execution;
  Column x;
  std::vector<SolveReport> reports;
};
/// By each of its methods, in each way that a loop runs.
std::vector<Attempt> attempts(Case const& c, Problem const& p, Backend backend) {
  std::vector<Attempt> all;
  for (std::string const& method : methods(c.methods))
    for (Execution const execution : executions(backend))
      all.push_back({method, execution, guess_of(p), std::vector<SolveReport>(ranks)});
  return all;
}

/// Rank r's share of them.
void solve_dealt(Context& ctx, int r, Dealt const& d, Case const& c, std::vector<Attempt>& all) {
  Problem const& p = d.p;
  auto const A = operator_of(
      ctx,
      deal_rows(ctx, csr(p.A), d.rows, p.A.rows() == p.A.cols() ? std::vector<Index>{} : d.cols));
  OperatorPtr<double> preconditioner;
  if (d.M) preconditioner = operator_of(ctx, deal_rows(ctx, *d.M, d.cols));
  Column const b = p.b.segment(d.rows[r], d.rows[r + 1] - d.rows[r]);
  for (Attempt& attempt : all) {
    auto const solver = make_solver(attempt.method, c.stopping, attempt.execution, c.restart);
    solver->setup(ctx, A, preconditioner);
    auto mine = attempt.x.segment(d.cols[r], d.cols[r + 1] - d.cols[r]);
    Column x = mine;
    attempt.reports[r] = solve(*solver, b, x);
    mine = x;
  }
}

std::vector<Attempt> solve_dealt(Dealt const& d, Case const& c) {
  std::vector<Attempt> all = attempts(c, d.p, Backend::host);
  on_ranks(ranks, [&](Context& ctx, int r) { solve_dealt(ctx, r, d, c, all); });
  return all;
}

/// Of one rank, with the rows in an order; 0: as given.
SolveReport by_one_in_order(Dealt const& d, Case const& c, std::string const& method,
                            std::uint64_t order) {
  Problem const& p = d.p;
  auto const shuffled = [&](Eigen::Index n) {
    std::vector<Index> old(static_cast<std::size_t>(n));
    std::iota(old.begin(), old.end(), 0);
    if (order > 0)
      std::ranges::sort(old, {}, [&](Index i) { return uniform(order, std::uint64_t(i)); });
    return old;
  };
  auto const rows = shuffled(p.A.rows()), cols = shuffled(p.A.cols());
  Context one(Backend::host, {.threads = 1});
  auto const solver = make_solver(method, c.stopping, Execution::eager, c.restart);
  OperatorPtr<double> M;
  if (d.M) M = matrix(one, Matrix(to_dense(*d.M)(cols, cols)));
  solver->setup(one, matrix(one, Matrix(p.A(rows, cols))), M);
  Column x = guess_of(p)(cols);
  return solve(*solver, p.b(rows), x);
}

/// Ranks add in another order and do nothing else differently. Where one rank takes other numbers
/// of iterations for other orders of the rows, rounding decides, and they may differ as much. Over
/// ranks the lengths of columns, by which lsmr judges A^T r, are estimated: it looks elsewhere.
void expect_iterations_of_one(Dealt const& d, Case const& c, std::string const& method,
                              int iterations) {
  if (method == "lsmr") return;
  int least = by_one_in_order(d, c, method, 0).iterations, most = least;
  auto const is_near = [&] {
    return iterations >= 0.97 * least - 2 && iterations <= 1.03 * most + 2;
  };
  for (std::uint64_t order = 1; order <= 400 && !is_near(); ++order) {
    int const other = by_one_in_order(d, c, method, order).iterations;
    least = std::min(least, other), most = std::max(most, other);
  }
  EXPECT_TRUE(is_near()) << iterations << " iterations; one rank takes " << least << " to " << most;
}

/// What holds of a case, whoever has which rows.
void expect_verdict(Dealt const& d, Case const& c, Attempt const& attempt) {
  Problem const& p = d.p;
  Column const& x = attempt.x;
  SolveReport const& report = attempt.reports.front();
  SCOPED_TRACE(cat(attempt.method, ", ", name(attempt.execution), ": ", report.message));
  EXPECT_GT(std::ranges::count(c.outcome, report.reason), 0) << report.outcome();
  if (c.cause) EXPECT_STREQ(name(report.cause), name(*c.cause));
  if (c.most_iterations) EXPECT_LE(report.iterations, *c.most_iterations);
  if (c.residual)
    EXPECT_LE(double(exact_norm(exact_residual(p.A, p.b, x))), *c.residual * p.b.norm());
  if (c.answer == Answer::untouched) EXPECT_TRUE(x == guess_of(p));
  if (c.answer == Answer::zero) EXPECT_TRUE((x.array() == 0).all());
  if (p.finite) {
    long double const now = exact_norm(exact_residual(p.A, p.b, x));
    EXPECT_NEAR(double(now), report.true_residual,
                1e-12 * double(now) + double(residual_error(p.A, p.b, x)));
    if (report.converged())
      EXPECT_LE(double(now), report.tolerance * (1 + 1e-9) + double(residual_error(p.A, p.b, x)));
  }
  if (report.converged()) expect_iterations_of_one(d, c, attempt.method, report.iterations);
  // All ranks have the same report, bit by bit.
  SolveReport const& other = attempt.reports.back();
  EXPECT_EQ(other.outcome(), report.outcome());
  EXPECT_EQ(other.iterations, report.iterations);
  EXPECT_TRUE(same_bits(other.true_residual, report.true_residual));
  EXPECT_TRUE(same_bits(other.tolerance, report.tolerance));
  EXPECT_TRUE(same_bits(other.attainable, report.attainable) ||
              (std::isnan(other.attainable) && std::isnan(report.attainable)));
  ASSERT_EQ(other.history.size(), report.history.size());
  for (std::size_t k = 0; k < report.history.size(); ++k)
    ASSERT_TRUE(same_bits(other.history[k].norm, report.history[k].norm)) << k;
}

class VerdictOverRanks : public testing::TestWithParam<Case> {};

/// Ranks add nothing but the order in which sums are made: where one of them has all the rows there
/// is one order, and whatever is summed, projected or decided has the bits of a solve without
/// ranks.
TEST_P(VerdictOverRanks, WhereOneHasAllTheRowsTheBitsAreThoseOfOneRank) {
  Case const& c = GetParam();
  Dealt const d = deal(c, all_to_the_second);
  if (!d.why_not.empty()) GTEST_SKIP() << d.why_not;
  for (auto const& [method, execution, x, reports] : solve_dealt(d, c)) {
    SCOPED_TRACE(method);
    SolveReport const& report = reports.front();
    Column y = guess_of(d.p);
    Context one(Backend::host, {.threads = 1});
    auto const solver = make_solver(method, c.stopping, execution, c.restart);
    solver->setup(one, matrix(one, d.p.A), d.p.M ? d.p.M(one) : nullptr);
    SolveReport const alone = solve(*solver, d.p.b, y);
    EXPECT_EQ(report.outcome(), alone.outcome()) << report.message;
    // Over ranks the lengths of columns, by which lsmr judges A^T r, are estimated.
    if (method == "lsmr") continue;
    EXPECT_EQ(report.iterations, alone.iterations);
    ASSERT_EQ(report.history.size(), alone.history.size());
    for (std::size_t k = 0; k < report.history.size(); ++k)
      ASSERT_TRUE(same_bits(report.history[k].norm, alone.history[k].norm)) << k;
    for (Index i = 0; i < x.size(); ++i) ASSERT_TRUE(same_bits(x[i], y[i])) << i;
  }
}

TEST_P(VerdictOverRanks, Holds) {
  Case const& c = GetParam();
  Dealt const d = deal(c, half_each);
  if (!d.why_not.empty()) GTEST_SKIP() << d.why_not;
  for (Attempt const& attempt : solve_dealt(d, c)) expect_verdict(d, c, attempt);
}

/// On two devices. Ranks are joined once for a table, which NCCL takes longer for than for a case.
class VerdictsOverDevices : public testing::TestWithParam<std::tuple<Table, Way>> {};

TEST_P(VerdictsOverDevices, Hold) {
  auto const& [table, way] = GetParam();
  if (std::string const why = lacks(way); !why.empty()) GTEST_SKIP() << why;
  struct Dealing {
    Case c;
    Dealt d;
    std::vector<Attempt> attempts;
  };
  std::vector<Dealing> all;
  for (Case const& c : table.cases()) {
    Dealt d = deal(c, half_each);
    if (d.why_not.empty()) all.push_back({c, d, attempts(c, d.p, way.backend)});
  }
  on_ranks(
      ranks,
      [&](Context& ctx, int r) {
        for (Dealing& one : all) solve_dealt(ctx, r, one.d, one.c, one.attempts);
      },
      20, way);
  for (Dealing const& one : all) {
    SCOPED_TRACE(one.c.name);
    for (Attempt const& attempt : one.attempts) expect_verdict(one.d, one.c, attempt);
  }
}

/// bicgstab on a singular A whose b is outside of the range: a claim of an x that is lost along the
/// kernel, while a good one was kept, is no reason to doubt that A and M are linear maps. Which way
/// such a solve ends depends on rounding, so in many orders of the rows.
TEST(VerdictOfASingularOperator, IsNoFalseConvergenceInAnyOrderOfTheRows) {
  auto const cases = best_iterate_cases();
  auto const at = std::ranges::find_if(
      cases, [](Case const& c) { return c.name == "neumann_jacobi_bicgstab"; });
  ASSERT_NE(at, cases.end());
  Problem const p = at->make();
  auto const n = static_cast<Index>(p.A.rows());
  int singular = 0;
  for (std::uint64_t order = 0; order < 40; ++order) {
    std::vector<Index> old(static_cast<std::size_t>(n));
    std::iota(old.begin(), old.end(), 0);
    std::ranges::sort(old, {}, [&](Index i) { return uniform(order, std::uint64_t(i)); });
    Csr<double> const a = csr(Matrix(p.A(old, old)));
    Column const b = p.b(old);
    for (std::string const M : {"jacobi", "none"}) {
      std::string const yaml = cat("solver: {type: bicgstab}\npreconditioner: {type: ", M, "}\n");
      for (Solved const& solved : {by_one(a, b, yaml), by_ranks(2, Deal::even, a, b, yaml)}) {
        SolveReport const& report = solved.report;
        EXPECT_FALSE(report.converged());
        EXPECT_NE(report.reason, Stop::false_convergence) << order << " " << report.message;
        EXPECT_LE(report.true_residual, 6.3e-8 * b.norm());
        singular += report.cause == Cause::singular_operator;
      }
    }
  }
  EXPECT_GT(singular, 0);
}

/// minres on the same: where its Krylov space is exhausted x leaves for wherever rounding takes it,
/// while the norm of its residual, by recurrence, goes on falling. In one order of a hundred an
/// iterate that was only believed to be better took the place of one that was known.
TEST(VerdictOfASingularOperator, LeavesTheBestIterateOfMinresInAnyOrderOfTheRows) {
  auto const cases = best_iterate_cases();
  auto const at =
      std::ranges::find_if(cases, [](Case const& c) { return c.name == "neumann_jacobi_minres"; });
  ASSERT_NE(at, cases.end());
  Problem const p = at->make();
  auto const n = static_cast<Index>(p.A.rows());
  for (std::uint64_t order = 0; order < 1000; ++order) {
    std::vector<Index> old(static_cast<std::size_t>(n));
    std::iota(old.begin(), old.end(), 0);
    std::ranges::sort(old, {}, [&](Index i) { return uniform(order, std::uint64_t(i)); });
    Column const b = p.b(old);
    SolveReport const report = by_one(csr(Matrix(p.A(old, old))), b,
                                      "solver: {type: minres}\npreconditioner: {type: jacobi}\n")
                                   .report;
    EXPECT_FALSE(report.converged());
    EXPECT_LE(report.true_residual, 6.3e-8 * b.norm()) << order << " " << report.message;
  }
}

INSTANTIATE_TEST_SUITE_P(ranks, VerdictOverRanks, testing::ValuesIn(corpus()),
                         [](auto const& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(
    by, VerdictsOverDevices,
    testing::Combine(testing::ValuesIn(tables),
                     testing::Values(Way{Backend::cuda, DeviceTransport::peer},
                                     Way{Backend::cuda, DeviceTransport::nccl})),
    [](auto const& info) {
      return cat(std::get<0>(info.param).name, "_", std::get<1>(info.param).text());
    });

}  // namespace

void PrintTo(Case const& c, std::ostream* out) { *out << c.methods; }

}  // namespace tcsolve::test
