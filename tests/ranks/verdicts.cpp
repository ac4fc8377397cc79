// SPDX-License-Identifier: Apache-2.0
/// The verdict corpus once more, by two ranks: what a careful analyst would say does not depend on
/// who has which rows.
#include <algorithm>

#include <tests/ranks/ranks.hpp>
#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {
namespace {

constexpr int ranks = 2;

std::vector<Case> corpus() {
  std::vector<Case> all;
  for (auto table : {trivial_cases, definiteness_cases, breakdown_cases, precision_cases,
                     nonfinite_cases, stopping_cases, claim_cases, best_iterate_cases, scale_cases})
    for (Case& c : table()) all.push_back(std::move(c));
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

/// Rows and columns of a rank; empty where it would have only one of both.
std::vector<Index> columns_for(Problem const& p, std::vector<Index> const& rows) {
  if (p.A.rows() == p.A.cols()) return rows;
  std::vector<Index> const cols = stretches(static_cast<Index>(p.A.cols()), ranks, Deal::even);
  for (int r = 0; r < ranks; ++r)
    if ((rows[r + 1] == rows[r]) != (cols[r + 1] == cols[r])) return {};
  return cols;
}

class VerdictOverRanks : public testing::TestWithParam<Case> {};

TEST_P(VerdictOverRanks, Holds) {
  Case const& c = GetParam();
  Problem const p = c.make();
  if (p.op) GTEST_SKIP() << "its operator is no matrix in CSR";
  std::optional<Csr<double>> M;
  if (p.M && !(M = entries_of(p.M))) GTEST_SKIP() << "its M is no matrix in CSR";
  std::vector<Index> const rows = stretches(static_cast<Index>(p.A.rows()), ranks, Deal::even),
                           cols = columns_for(p, rows);
  if (cols.empty()) GTEST_SKIP() << "a rank would have rows and no columns";
  for (std::string const& method : methods(c.methods)) {
    SCOPED_TRACE(method);
    Column x = p.x0.size() == 0 ? Column(Column::Zero(p.A.cols())) : p.x0;
    Column const guess = x;
    std::vector<SolveReport> reports(ranks);
    on_ranks(ranks, [&](Context& ctx, int r) {
      auto const A = operator_of(
          ctx,
          deal_rows(ctx, csr(p.A), rows, p.A.rows() == p.A.cols() ? std::vector<Index>{} : cols));
      OperatorPtr<double> preconditioner;
      if (M) preconditioner = operator_of(ctx, deal_rows(ctx, *M, cols));
      auto const solver = make_solver(method, c.stopping, Execution::eager, c.restart);
      solver->setup(ctx, A, preconditioner);
      Column const b = p.b.segment(rows[r], rows[r + 1] - rows[r]);
      Column mine = x.segment(cols[r], cols[r + 1] - cols[r]);
      reports[r] = solve(*solver, b, mine);
      x.segment(cols[r], cols[r + 1] - cols[r]) = mine;
    });
    SolveReport const& report = reports.front();
    SCOPED_TRACE(report.message);
    // Where the corpus leaves open which refusal it is, rounding decides, and sums of two ranks
    // round in another way.
    bool const any_refusal =
        c.outcome.size() > 1 && !std::ranges::count(c.outcome, Stop::converged);
    EXPECT_TRUE(std::ranges::count(c.outcome, report.reason) > 0 ||
                (any_refusal && !report.converged()))
        << report.outcome();
    if (c.cause) EXPECT_STREQ(name(report.cause), name(*c.cause));
    if (c.most_iterations) EXPECT_LE(report.iterations, *c.most_iterations);
    if (c.residual)
      EXPECT_LE(double(exact_norm(exact_residual(p.A, p.b, x))), *c.residual * p.b.norm());
    if (c.answer == Answer::untouched) EXPECT_TRUE(x == guess);
    if (c.answer == Answer::zero) EXPECT_TRUE((x.array() == 0).all());
    if (p.finite) {
      long double const now = exact_norm(exact_residual(p.A, p.b, x));
      EXPECT_NEAR(double(now), report.true_residual,
                  1e-12 * double(now) + double(residual_error(p.A, p.b, x)));
      if (report.converged())
        EXPECT_LE(double(now), report.tolerance * (1 + 1e-9) + double(residual_error(p.A, p.b, x)));
    }
    // All ranks have the same report, bit by bit.
    SolveReport const& other = reports.back();
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
}
INSTANTIATE_TEST_SUITE_P(ranks, VerdictOverRanks, testing::ValuesIn(corpus()),
                         [](auto const& info) { return info.param.name; });

}  // namespace

void PrintTo(Case const& c, std::ostream* out) { *out << c.methods; }

}  // namespace tcsolve::test
