// SPDX-License-Identifier: Apache-2.0
/// `auto` on singular systems: lsmr comes after all others, and what it ends in is the verdict.
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include <cmath>

#include "tests/api/systems.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/formats.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char const* all_auto = "solver: {type: auto}\npreconditioner: {type: auto}\n";

/// Nonsymmetric; its last row is the sum of two others, so that (1, 0, .., 0, 1, -1) is null from
/// the left. Its last column is empty, or has an entry: then values alone make it singular.
Matrix deficient(Index n, bool empty = true) {
  Matrix m = Matrix::Zero(n, n);
  for (Index i = 0; i + 1 < n; ++i) {
    m(i, i) = 3 + 0.1 * (i % 7);
    m(i, (i + 1) % (n - 1)) += 1;
    m(i, (i + 5) % (n - 1)) -= 0.5;
  }
  if (!empty) m(3, n - 1) = 2;
  m.row(n - 1) = m.row(0) + m.row(n - 2);
  return m;
}

class AutoSingular : public OnEachBackend {
 protected:
  SolveReport solved(Matrix const& m, Column const& b, std::string const& yaml) {
    LinearSolver solver = LinearSolver::from_yaml(ctx(), csr(m).view(), yaml);
    x_ = Column::Zero(m.cols());
    return solve(solver, b, x_);
  }
  Column x_;
};
TCSOLVE_ON_EACH_BACKEND(AutoSingular);

TEST_P(AutoSingular, TheVerdictIsLeastSquares) {
  for (bool const empty : {true, false}) {
    Index const n = empty ? 90 : 41;
    Matrix const m = deficient(n, empty);
    Column const b = Column::Ones(n);
    SolveReport const r = solved(m, b, all_auto);
    EXPECT_EQ(r.outcome(), "least_squares") << r.message;
    EXPECT_EQ(r.exit_code(), 4);
    EXPECT_GE(r.choices.size(), 2u) << "after all others";
    EXPECT_EQ(r.choices.back().solver, "lsmr");
    EXPECT_THAT(r.message, HasSubstr(empty ? "A is singular" : "A seems to be singular"));
    EXPECT_THAT(r.message, HasSubstr("'least_squares: true' accepts"));
    Column const residual = b - m * x_;
    EXPECT_LE((m.transpose() * residual).norm(), 1e-7 * residual.norm());
    EXPECT_NEAR(residual.norm(), 1 / std::sqrt(3.0), 1e-7);
  }
}

TEST_P(AutoSingular, ItIsAcceptedWhereTheConfigSaysSo) {
  SolveReport const r = solved(deficient(40), Column::Ones(40),
                               "solver: {type: auto, least_squares: true}\n"
                               "preconditioner: {type: auto}\n");
  EXPECT_EQ(r.outcome(), "least_squares") << r.message;
  EXPECT_TRUE(r.solved());
  EXPECT_EQ(r.exit_code(), 0);
  EXPECT_THAT(r.message, Not(HasSubstr("'least_squares: true'")));
}

/// A regular system never comes to lsmr, whatever fails on it.
TEST_P(AutoSingular, ARegularSystemDoesNotComeToIt) {
  Csr<double> const a = generate(ConvdiffParams{.n = 6});
  LinearSolver solver = LinearSolver::from_yaml(
      ctx(), a.view(),
      "solver: {type: auto, rtol: 0, atol: 1e-300}\npreconditioner: {type: auto}\n");
  Column const b = Column::Ones(a.rows);
  Column x = Column::Zero(a.rows);
  SolveReport const r = solve(solver, b, x);
  EXPECT_FALSE(r.converged());
  for (ChoiceReport const& c : r.choices) EXPECT_NE(c.solver, "lsmr") << r.message;
}

/// Its products with A^T are made of the matrix where the format has none.
TEST_P(AutoSingular, TheFormatMayHaveNoTranspose) {
  SolveReport const r =
      solved(deficient(60), Column::Ones(60),
             cat(all_auto, "operator: {format: ", converted_format().name, "}\n"));
  EXPECT_EQ(r.outcome(), "least_squares") << r.message;
}

/// What is at work follows new values.
TEST_P(AutoSingular, NewValuesAreFollowed) {
  Matrix const m = deficient(30);
  LinearSolver solver = LinearSolver::from_yaml(ctx(), csr(m).view(), all_auto);
  Column const b = Column::Ones(30);
  Column x = Column::Zero(30);
  EXPECT_EQ(solve(solver, b, x).outcome(), "least_squares");
  solver.update_values(csr(2 * m).view());
  Column y = Column::Zero(30);
  EXPECT_EQ(solve(solver, b, y).outcome(), "least_squares");
  EXPECT_LE((2 * m * y - m * x).norm(), 1e-6);
}

}  // namespace
}  // namespace tcsolve::test
