// SPDX-License-Identifier: Apache-2.0
/// Blocks of right-hand sides that a careful analyst would look at twice: a verdict on every
/// column, whatever the others are, by every block method. The residuals of the report are
/// recomputed.
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/block_solvers.hpp>
#include <tests/support/dense.hpp>

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Expected of a column.
struct Wanted {
  Stop stop = Stop::converged;
  std::optional<Cause> cause = {};
};

struct BlockCase {
  std::string name;
  Matrix A, B, X0;
  std::vector<Wanted> columns;
  StoppingParams stopping = {};
  std::function<OperatorPtr<double>(Context&)> M = nullptr;
  std::string methods = "";  ///< that it is for; none named: all
  bool is_for(std::string const& method) const {
    auto const named = test::methods(methods);
    return named.empty() || std::find(named.begin(), named.end(), method) != named.end();
  }
};

std::vector<Wanted> all(Index k, Wanted each) { return std::vector<Wanted>(k, each); }

BlockCase with(std::string name, Matrix A, Matrix B, std::vector<Wanted> columns) {
  Matrix const X0 = Matrix::Zero(B.rows(), B.cols());
  return {std::move(name), std::move(A), std::move(B), X0, std::move(columns)};
}

/// The identity but for columns whose last entry is not 0: NaN.
OperatorPtr<double> nan_where_the_last_is_not_0(Context& made_in) {
  (void)made_in;
  constexpr Index n = 60;
  return std::make_shared<FunctionOperator<double>>(
      n, n, [](Context& ctx, In<double> x, Out<double> y) {
        auto const size = static_cast<std::size_t>(x.size());
        std::vector<double> values = to_host(ctx, x.data, x.space, size);
        for (Index c = 0; c < x.cols; ++c) {
          if (values[static_cast<std::size_t>(n - 1) * x.cols + c] == 0) continue;
          for (Index i = 0; i < n; ++i) values[static_cast<std::size_t>(i) * x.cols + c] = nan;
        }
        copy_bytes(ctx, y.data, y.space, values.data(), Space::host, sizeof(double) * size);
      });
}

std::vector<BlockCase> cases() {
  Index const n = 60;
  Matrix const A = laplace(n), random = random_matrix(n, 6, 3);
  Wanted const converged, zero{Stop::converged, Cause::zero_rhs},
      guess{Stop::converged, Cause::exact_guess};
  std::vector<BlockCase> out;
  auto add = [&](std::string name, Matrix B, std::vector<Wanted> columns) -> BlockCase& {
    out.push_back(with(std::move(name), A, std::move(B), std::move(columns)));
    return out.back();
  };
  Matrix B = random;
  B.col(3) = B.col(1);
  add("duplicate", B, all(6, converged));

  B = random;
  for (Index j = 1; j < 6; ++j) B.col(j) = B.col(0);
  add("all_equal", B, all(6, converged));

  B = random;
  B.col(0).setZero(), B.col(4).setZero();
  add("zero", B, {zero, converged, converged, converged, zero, converged});
  add("all_zero", Matrix::Zero(n, 3), all(3, zero));

  B = random;
  B.col(5) = B.col(0) - 2 * B.col(1) + 1e-3 * B.col(2);
  add("dependent", B, all(6, converged));

  B = random;
  for (Index j = 0; j < 6; ++j) B.col(j) *= std::pow(10.0, 4 * j - 8);
  add("scales", B, all(6, converged));

  B = random;
  B.col(2) = B.col(1) + 1e-10 * B.col(2);
  B.col(3) = 1e12 * B.col(1);
  add("nearly_equal", B, all(6, converged));

  BlockCase& solved = add("solved_by_the_guess", random,
                          {converged, guess, converged, converged, converged, converged});
  solved.X0.col(1) = lu_solve(A, random.col(1));

  // In one, two and three eigenvectors of A: their Krylov spaces end while others go on.
  B = random;
  Modes const modes = symmetric_modes(A);
  for (Index j = 0; j < 3; ++j) B.col(j) = modes.vectors.leftCols(j + 1).rowwise().sum();
  add("invariant_spaces", B, all(6, converged));

  out.push_back(
      with("more_columns_than_rows", laplace(5), random_matrix(5, 12, 4), all(12, converged)));
  out.push_back(with("identity", Matrix::Identity(n, n), random, all(6, converged)));
  out.push_back(
      with("one_row", Matrix::Constant(1, 1, 4), random_matrix(1, 3, 4), all(3, converged)));

  B = random;
  B(7, 2) = nan, B(8, 4) = std::numeric_limits<double>::infinity();
  add("nan_in_a_column", B,
      {converged,
       converged,
       {Stop::nonfinite, Cause::rhs},
       converged,
       {Stop::nonfinite, Cause::rhs},
       converged});
  BlockCase& bad_guess =
      add("nan_in_a_guess", random,
          {converged, {Stop::nonfinite, Cause::guess}, converged, converged, converged, converged});
  bad_guess.X0(3, 1) = nan;

  add("no_iterations", random, all(6, {Stop::max_iterations})).stopping.max_iters = 0;
  add("few_iterations", random, all(6, {Stop::max_iterations})).stopping.max_iters = 2;
  add("below_rounding", random, all(6, {Stop::precision_limit})).stopping.rtol = 1e-17;

  // Where A and M have to be definite, and where they need not be.
  Column d = Column::LinSpaced(n, 1, 9);
  d[4] = -3;
  auto const minus = [n](Context& ctx) { return matrix(ctx, -Matrix::Identity(n, n)); };
  auto const nothing = [n](Context& ctx) { return matrix(ctx, Matrix::Zero(n, n)); };
  auto either = [&](std::string const& name, Matrix const& a, auto const& M, Wanted definite,
                    Wanted general) {
    out.push_back(with(name, a, random, all(6, definite)));
    out.back().M = M, out.back().methods = definite_block_methods;
    out.push_back(with(name + "_in_general", a, random, all(6, general)));
    out.back().M = M, out.back().methods = general_block_methods;
  };
  auto const none = std::function<OperatorPtr<double>(Context&)>();
  either("indefinite", with_eigenvalues(d, 5), none, {Stop::indefinite_operator}, converged);
  either("negative_definite", -A, none, {Stop::indefinite_operator}, converged);
  either("indefinite_preconditioner", A, minus, {Stop::indefinite_preconditioner}, converged);
  either("preconditioner_zero", A, nothing, {Stop::breakdown, Cause::singular_operator},
         {Stop::breakdown});

  // A is negative where one column lives alone: where columns are independent, the others go on.
  Matrix split = Matrix::Zero(n, n);
  split.topLeftCorner(n / 2, n / 2) = laplace(n / 2);
  split.bottomRightCorner(n / 2, n / 2) = -Matrix::Identity(n / 2, n / 2);
  B = random;
  B.bottomRows(n / 2).setZero();
  B.col(2) = random.col(3);
  B(n - 1, 4) = 1e3;
  out.push_back(with("indefinite_in_two_columns", split, B, all(6, converged)));
  out.back().columns[2] = out.back().columns[4] = {Stop::indefinite_operator};
  out.back().methods = "pseudo_block_cg";

  // M has numbers for all columns but those two: the others never meet them.
  Matrix definite = split;
  definite.bottomRightCorner(n / 2, n / 2) *= -1;
  out.push_back(with("nan_for_two_columns", definite, B, all(6, converged)));
  out.back().columns[2] = out.back().columns[4] = {Stop::nonfinite, Cause::preconditioner};
  out.back().M = nan_where_the_last_is_not_0;
  out.back().methods = "pseudo_block_cg pseudo_block_gmres pseudo_block_bicgstab";

  // 0 where a column lives alone: the system of this column has no solution.
  split.bottomRightCorner(n / 2, n / 2).setZero();
  B.col(2).setZero(), B(n - 1, 2) = 1, B.col(4) = B.col(3);
  out.push_back(with("singular_in_a_column", split, B, all(6, converged)));
  out.back().columns[2] = {Stop::breakdown, Cause::singular_operator};
  out.back().methods = "pseudo_block_cg";
  BlockCase& lost =
      add("nan_from_the_preconditioner", random, all(6, {Stop::nonfinite, Cause::preconditioner}));
  lost.M = [n](Context& ctx) { return matrix(ctx, nan * Matrix::Identity(n, n)); };

  // Constants are the kernel; the columns have no part in it.
  B = random.rowwise() - random.colwise().mean();
  BlockCase singular = with("singular", path_laplacian(n), B, all(6, converged));
  out.push_back(singular);

  BlockCase huge = with("huge", std::ldexp(1.0, 800) * A, random, all(6, converged));
  out.push_back(huge);
  BlockCase tiny = with("tiny", std::ldexp(1.0, -800) * A, random, all(6, converged));
  out.push_back(tiny);
  BlockCase jacobi = with("jacobi", A, random, all(6, converged));
  for (Index i = 0; i < n; ++i) jacobi.A(i, i) += std::pow(10.0, i % 5);
  jacobi.M = [a = jacobi.A](Context& ctx) {
    return std::make_shared<Jacobi<double>>(ctx, CsrOperator<double>(ctx, csr(a)).view());
  };
  out.push_back(jacobi);
  return out;
}

/// Every method with the cases that are for it.
struct MethodCase {
  std::string method;
  BlockCase block;
};
void PrintTo(MethodCase const& c, std::ostream* out) { *out << c.method << ", " << c.block.name; }
std::vector<MethodCase> method_cases() {
  std::vector<MethodCase> out;
  for (std::string const& method : block_methods())
    for (BlockCase const& c : cases())
      if (c.is_for(method)) out.push_back({method, c});
  return out;
}

class ColumnVerdicts : public testing::TestWithParam<std::tuple<Where, MethodCase>> {
 protected:
  void SetUp() override { TCSOLVE_SKIP_IF_ABSENT(std::get<0>(GetParam()).backend); }
};

TEST_P(ColumnVerdicts, AreThoseOfAnAnalyst) {
  auto const& [where, of] = GetParam();
  auto const& [method, c] = of;
  Context ctx(where.backend);
  auto const made = make_block_solver(method, c.stopping, where.execution);
  Solver& solver = *made;
  solver.setup(ctx, matrix(ctx, c.A), c.M ? c.M(ctx) : nullptr);
  auto const n = static_cast<Index>(c.B.rows()), k = static_cast<Index>(c.B.cols());
  Matrix X = c.X0;
  auto const reports = solver.solve_columns({c.B.data(), n, k, n, Layout::col_major},
                                            {X.data(), n, k, n, Layout::col_major});
  ASSERT_EQ(reports.size(), c.columns.size());
  for (Index j = 0; j < k; ++j) {
    SCOPED_TRACE(cat("column ", j));
    SolveReport const& r = reports[j];
    Wanted const& wanted = c.columns[j];
    EXPECT_EQ(r.reason, wanted.stop) << r.message;
    if (wanted.cause) EXPECT_EQ(r.cause, *wanted.cause) << r.message;
    if (r.cause == Cause::rhs || r.cause == Cause::guess) {
      EXPECT_TRUE(std::isnan(r.true_residual));
      continue;
    }
    ASSERT_TRUE(X.col(j).allFinite());
    long double const residual = exact_norm(exact_residual(c.A, c.B.col(j), X.col(j)));
    long double const error = residual_error(c.A, c.B.col(j), X.col(j));
    EXPECT_NEAR(static_cast<double>(residual), r.true_residual,
                static_cast<double>(error + 1e-12L * residual));
    if (r.converged() && r.cause != Cause::zero_rhs)
      EXPECT_LE(residual, c.stopping.rtol * exact_norm(Column(c.B.col(j))) + error);
    // No worse than the guess.
    EXPECT_LE(residual, exact_norm(exact_residual(c.A, c.B.col(j), c.X0.col(j))) + error);
    if (wanted.cause == Cause::zero_rhs || wanted.cause == Cause::exact_guess)
      EXPECT_EQ(r.iterations, 0);
  }
}
INSTANTIATE_TEST_SUITE_P(at, ColumnVerdicts,
                         testing::Combine(testing::Values(Where{Backend::host, Execution::eager},
                                                          Where{Backend::cuda, Execution::eager},
                                                          Where{Backend::cuda, Execution::graph}),
                                          testing::ValuesIn(method_cases())),
                         [](auto const& info) {
                           MethodCase const& of = std::get<1>(info.param);
                           return cat(std::get<0>(info.param), "_", of.method, "_", of.block.name);
                         });

}  // namespace
}  // namespace tcsolve::test
