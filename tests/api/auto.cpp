// SPDX-License-Identifier: Apache-2.0
/// `auto`: what it takes for which matrix, that it goes on where a method fails, and every square
/// real matrix of the folder TCSOLVE_MATRICES.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/api/recipes.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

MatrixFacts facts_of(Matrix const& m) { return matrix_facts(csr(m).view()); }

TEST(MatrixFacts, AreWhatTheMatrixIs) {
  Matrix m(3, 3);
  m << 4, -1, 0, -1, 4, -1, 0, -1, 4;
  EXPECT_TRUE(facts_of(m).symmetric);
  EXPECT_TRUE(facts_of(m).positive_diagonal());
  EXPECT_EQ(facts_of(m).dominant_rows, 3);
  m(0, 1) = -1.001;
  EXPECT_FALSE(facts_of(m).symmetric) << "another value";
  m(0, 1) = 0;
  EXPECT_FALSE(facts_of(m).symmetric) << "another pattern, first entry above";
  m << 4, 0, 0, 0, 4, 0, 1, 0, 4;
  EXPECT_FALSE(facts_of(m).symmetric) << "an entry below alone";
  m << 4, 0, 1, 0, 4, 0, 0, 0, 4;
  EXPECT_FALSE(facts_of(m).symmetric) << "an entry above alone";
  m << 0, 2, 0, 2, -1, 0, 0, 0, 1;
  EXPECT_TRUE(facts_of(m).symmetric);
  EXPECT_EQ(facts_of(m).zero_diagonal, 1);
  EXPECT_EQ(facts_of(m).negative_diagonal, 1);
  EXPECT_EQ(facts_of(m).dominant_rows, 1);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Csr<double> const a = dominant(30, 4, seed), t = transpose(a.view());
    EXPECT_EQ(matrix_facts(a.view()).symmetric, a == t);
  }
}

TEST(MatrixFacts, SayWhereADeviceFactorisesFirst) {
  MatrixFacts const large{.rows = 40000, .cols = 40000, .entries = 500000};
  EXPECT_TRUE(direct_comes_first(large));
  EXPECT_EQ(recipes(large, true, true)[1].preconditioner, "{type: direct}");
  MatrixFacts other = large;
  other.symmetric = true;  // and may be definite
  EXPECT_FALSE(direct_comes_first(other));
  other.negative_diagonal = 1;
  EXPECT_TRUE(direct_comes_first(other));
  other = large, other.entries = 150000;
  EXPECT_FALSE(direct_comes_first(other));
  other = large, other.rows = other.cols = 70000;
  EXPECT_FALSE(direct_comes_first(other));
}

class Auto : public OnEachBackend {
 protected:
  SolveReport solved(Csr<double> const& a, std::string const& options) {
    LinearSolver solver = LinearSolver::from_yaml(ctx(), a.view(), options);
    Column b = Column::Ones(a.rows), x = Column::Zero(a.cols);
    SolveReport const report = solve(solver, b, x);
    residual_ = (b - multiply(a, x)).norm() / b.norm();
    return report;
  }
  static Column multiply(Csr<double> const& a, Column const& x) {
    Column y = Column::Zero(a.rows);
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        y[i] += a.values[k] * x[a.columns[k]];
    return y;
  }
  double residual_ = 0;
};
TCSOLVE_ON_EACH_BACKEND(Auto);

constexpr char const* all_auto = "solver: {type: auto}\npreconditioner: {type: auto}\n";

/// Symmetric with a positive diagonal, and indefinite: cg finds out, and gmres goes on.
Csr<double> deceptive(Index n) {
  Matrix m = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    m(i, i) = 1 + 0.01 * (i % 5);
    if (i + 1 < n) m(i, i + 1) = m(i + 1, i) = 3 + 0.1 * (i % 3);
  }
  return csr(m);
}

TEST_P(Auto, GoesOnWhereAMethodFails) {
  SolveReport const r = solved(deceptive(60), all_auto);
  EXPECT_TRUE(r.converged()) << r.message;
  EXPECT_LE(residual_, 1.001e-8);
  ASSERT_GE(r.choices.size(), 2u);
  EXPECT_EQ(r.choices.front().solver, "cg");
  EXPECT_EQ(r.choices.front().outcome, "indefinite_operator");
  EXPECT_EQ(r.choices.back().solver, "gmres");
  for (ChoiceReport const& c : r.choices)
    EXPECT_TRUE(c.solver == "gmres" || c.preconditioner != "direct") << "no cholesky of it";
  EXPECT_THAT(r.message, HasSubstr("before it: cg with"));
  Index sum = 0;
  for (ChoiceReport const& c : r.choices) sum += c.iterations;
  EXPECT_EQ(r.iterations, sum);
  EXPECT_EQ(r.history.size(), std::size_t(sum));
}

/// Where a preconditioner would not fit, the next choice is taken, and the report says why.
TEST(AutoWithLittleMemory, TakesTheNextChoice) {
  Context ctx(Backend::host);
  Csr<double> const a = beam(1e-4);
  Column const b = random_column(a.rows, 1);
  Column x = Column::Zero(a.rows);
  struct Limit {  // jacobi fits, and A as a factorisation arranges it does not
    explicit Limit(std::int64_t bytes) { faults::limit_available_memory(bytes); }
    ~Limit() { faults::limit_available_memory(-1); }
  } const limit(10 * a.entries());
  LinearSolver solver = LinearSolver::from_yaml(ctx, a.view(), all_auto);
  SolveReport const r = solve(solver, b, x);
  EXPECT_TRUE(r.converged()) << r.message;
  ASSERT_EQ(r.choices.size(), 4u);
  EXPECT_EQ(r.choices[0].preconditioner, "jacobi");
  EXPECT_EQ(r.choices[1].preconditioner, "ic");
  EXPECT_THAT(r.choices[1].outcome, HasSubstr("the preconditioner 'ic' needs about"));
  EXPECT_THAT(r.choices[2].outcome, HasSubstr("the preconditioner 'direct' needs about"));
  EXPECT_EQ(r.choices[3].preconditioner, "jacobi");
  EXPECT_THAT(message_of<MemoryError>([&] {
                LinearSolver::from_yaml(ctx, a.view(),
                                        "solver: {type: cg}\npreconditioner: {type: ic}\n");
              }),
              HasSubstr("the preconditioner 'ic' needs about"));
}

/// Jacobi goes on while it gains digits, without a restart: what it makes is what it makes by name.
TEST_P(Auto, GoesOnWithIterationsThatGainDigits) {
  if (ctx().space() != Space::host) GTEST_SKIP() << "jacobi is given more iterations";
  Csr<double> const a = generate(Poisson27Params{.n = 40});
  SolveReport const taken = solved(a, "solver: {type: auto}\npreconditioner: {type: auto}\n");
  SolveReport const named = solved(a, "solver: {type: cg}\npreconditioner: {type: jacobi}\n");
  ASSERT_EQ(taken.choices.size(), 1u) << taken.message;
  EXPECT_TRUE(taken.converged());
  EXPECT_GT(taken.iterations, 50);
  ASSERT_EQ(taken.iterations, named.iterations);
  for (std::size_t k = 0; k < named.history.size(); ++k)
    EXPECT_EQ(taken.history[k].norm, named.history[k].norm);
}

TEST_P(Auto, LeavesIterationsThatGainNothing) {
  Csr<double> const a = beam(0);
  std::vector<Recipe> const list = recipes(matrix_facts(a.view()), true);
  EXPECT_EQ(list.front().preconditioner, "{type: jacobi}");
  EXPECT_EQ(list.front().window, 7 * list.front().most_iterations / 10);
  SolveReport const r = solved(a, all_auto);
  ASSERT_GE(r.choices.size(), 2u);
  if (ctx().space() == Space::host) return;
  EXPECT_EQ(r.choices.front().outcome, "stagnated");
  EXPECT_LT(r.choices.front().iterations, list.front().most_iterations);
}

/// Sleeps where the second choice is about to be set up.
struct Sleeper : Observer {
  bool slow = true;
  void on(LogEvent const& event) override {
    if (slow && event.text.find("auto: gmres") == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
};

TEST(AutoInTime, EndsASetUpThatTakesTooLong) {
  Sleeper sleeper;
  Context ctx(Backend::host, {}, &sleeper);
  Csr<double> const a = deceptive(60);
  LinearSolver solver = LinearSolver::from_yaml(
      ctx, a.view(), "solver: {type: auto, time_limit: 0.2}\npreconditioner: {type: auto}\n");
  Column const b = Column::Ones(a.rows);
  Column x = Column::Zero(a.rows);
  SolveReport r = solve(solver, b, x);
  EXPECT_EQ(r.outcome(), "time_limit") << r.message;
  ASSERT_EQ(r.choices.size(), 2u);
  EXPECT_EQ(r.choices[0].outcome, "indefinite_operator");
  EXPECT_THAT(r.choices[1].outcome, HasSubstr("the time was up"));
  EXPECT_THAT(r.message, HasSubstr("raise time_limit"));
  x.setOnes();
  r = solve(solver, b, x);
  EXPECT_EQ(r.outcome(), "time_limit") << "late again, and there is no x yet";
  EXPECT_EQ(r.iterations, 0);
  EXPECT_THAT(r.message, HasSubstr("before it began"));
  EXPECT_EQ(x, Column::Ones(a.rows));
  x.setZero();
  sleeper.slow = false;
  r = solve(solver, b, x);
  EXPECT_TRUE(r.converged()) << r.message;
}

TEST_P(Auto, StaysWithWhatConverged) {
  Csr<double> const a = deceptive(60);
  LinearSolver solver = LinearSolver::from_yaml(ctx(), a.view(), all_auto);
  Column b = Column::Ones(a.rows), x = Column::Zero(a.rows);
  EXPECT_GE(solve(solver, b, x).choices.size(), 2u);
  x.setZero();
  EXPECT_EQ(solve(solver, b, x).choices.size(), 1u);
  Csr<double> scaled = a;
  for (double& v : scaled.values) v *= 1.5;
  solver.update_values(scaled.view());
  x.setZero();
  SolveReport const r = solve(solver, b, x);
  EXPECT_TRUE(r.converged());
  EXPECT_EQ(r.choices.size(), 1u);
  EXPECT_LE((b - multiply(scaled, x)).norm(), 1.001e-8 * b.norm());
  EXPECT_NE(solver.M(), nullptr);
}

TEST_P(Auto, ChoosesOneOfTheTwo) {
  Csr<double> const a = deceptive(40);
  SolveReport r = solved(a, "solver: {type: gmres}\npreconditioner: {type: auto}\n");
  EXPECT_TRUE(r.converged()) << r.message;
  EXPECT_EQ(r.choices.front().preconditioner, ctx().space() == Space::host ? "ilu" : "jacobi");
  r = solved(a, "solver: {type: auto}\npreconditioner: {type: ilu, drop_tolerance: 1e-4}\n");
  EXPECT_TRUE(r.converged()) << r.message;
  for (ChoiceReport const& c : r.choices) EXPECT_EQ(c.preconditioner, "ilu");
  r = solved(random_matrix(40, 25, 6, 3), all_auto);
  EXPECT_EQ(r.choices.front().solver, "lsmr");
  EXPECT_THROW(solved(a,
                      "solver: {type: gmres}\npreconditioner: {type: chebyshev, preconditioner: "
                      "{type: auto}, degree: 1}\n"),
               SetupError)
      << "chebyshev does not take an indefinite matrix";
}

TEST_P(Auto, SaysWhatItNeeds) {
  auto A = std::make_shared<FunctionOperator<double>>(
      4, 4, [](Context& c, In<double> x, Out<double> y) { copy<double, double>(c, x, y); });
  try {
    LinearSolver(ctx(), A, SolverOptions::from_yaml(all_auto));
    FAIL() << "a matrix-free operator has no facts";
  } catch (Unsupported const& e) { EXPECT_THAT(e.what(), HasSubstr("looks at the entries")); }
  EXPECT_NO_THROW(SolverOptions::from_yaml("solver: {type: auto, baseline: initial}\n"));
  auto const keys = make<SolverRegistry>(SolverOptions::from_yaml("solver: {type: auto}\n").solver);
  EXPECT_THROW(keys->setup(ctx(), A), Unsupported) << "no method";
  // Singular, and b is outside its range: every choice fails, and the last says so.
  Matrix m = Matrix::Zero(6, 6);
  for (Index i = 0; i < 5; ++i) m(i, (i + 1) % 5) = 2;
  m(5, 0) = m(5, 1) = 2;  // the sum of two others
  SolveReport const r = solved(csr(m), all_auto);
  EXPECT_EQ(r.outcome(), "least_squares") << r.message;
  EXPECT_NEAR(residual_, 1 / std::sqrt(18.0), 1e-8) << "b along (1, 0, 0, 0, 1, -1)";
}

/// To 1e-8 of norm(b), or to the attainable accuracy, so named; mbeacxc is singular.
TEST_P(Auto, SolvesEverySquareRealMatrix) {
  char const* folder = std::getenv("TCSOLVE_MATRICES");
  if (folder == nullptr) GTEST_SKIP() << "TCSOLVE_MATRICES is not set";
  int count = 0;
  for (char const* name :
       {"1138_bus", "add20",        "adder_dcop_05",      "ani5_crop", "bayer10",
        "bcsstk13", "cage10",       "case9241pegase_jac", "cavity14",  "ex15",
        "fidap007", "hangGlider_2", "maxwell_S",          "mbeacxc",   "memplus",
        "orsreg_1", "sherman2",     "sherman5",           "west1505",  "xyce_59070"}) {
    auto const path = std::filesystem::path(folder) / cat(name, ".mtx.xz");
    if (!std::filesystem::exists(path)) continue;
    SCOPED_TRACE(name);
    SolveReport const r = solved(read_matrix(path), all_auto);
    bool const singular = std::string(name) == "mbeacxc";
    EXPECT_TRUE(r.converged() || r.reason == Stop::precision_limit || singular) << r.message;
    if (r.converged()) EXPECT_LE(residual_, 1.01e-8);
    if (singular) EXPECT_FALSE(r.converged());
    if (!singular) EXPECT_LE(residual_, 1e-6);
    ++count;
  }
  if (count == 0) GTEST_SKIP() << "none of the matrices is in " << folder;
}

}  // namespace
}  // namespace tcsolve::test
