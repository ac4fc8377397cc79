// SPDX-License-Identifier: Apache-2.0
/// Types of A and of vectors over ranks: products of FP32 vectors, and what `precision: auto`
/// takes, which all ranks take, and step up from together.
#include <tests/ranks/ranks.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve::test {
namespace {

constexpr Index n = 120;

/// Reports of all ranks, and x.
struct Told {
  std::vector<SolveReport> reports;
  std::vector<std::string> chosen;  // SetupReport::precision
  Column x;
};

class RankTypes : public OnEachWay {
 protected:
  /// A solve on each rank, with new values before it where there are some.
  Told told_by_both(Csr<double> const& a, Column const& b, std::string const& yaml,
                    Csr<double> const* now = nullptr) const {
    auto const at = stretches(a.rows, 2, Deal::uneven);
    Told told{std::vector<SolveReport>(2), std::vector<std::string>(2), Column::Zero(a.rows)};
    on_both([&](Context& ctx, int r) {
      LinearSolver solver(ctx, SolverOptions::from_yaml(yaml));
      solver.set_matrix(deal_rows(ctx, a, at));
      if (now != nullptr) {
        Rows64 const rows(*now, at[r], at[r + 1]);
        solver.update_values(std::span<double const>(rows.values));
      }
      auto const count = static_cast<std::size_t>(at[r + 1] - at[r]);
      told.reports[r] = solver.solve(std::span<double const>(b.data() + at[r], count),
                                     std::span<double>(told.x.data() + at[r], count));
      told.chosen[r] = solver.setup_report().precision;
    });
    SolveReport const &first = told.reports[0], &second = told.reports[1];
    EXPECT_EQ(first.outcome(), second.outcome());
    EXPECT_EQ(told.chosen[0], told.chosen[1]);
    EXPECT_EQ(first.precision.size(), second.precision.size());
    for (std::size_t k = 0; k < std::min(first.precision.size(), second.precision.size()); ++k) {
      EXPECT_EQ(first.precision[k].values, second.precision[k].values);
      EXPECT_EQ(first.precision[k].vectors, second.precision[k].vectors);
      EXPECT_EQ(first.precision[k].iterations, second.precision[k].iterations);
      EXPECT_EQ(first.precision[k].why, second.precision[k].why);
    }
    return told;
  }
};
TCSOLVE_ON_EACH_WAY(RankTypes);

/// What ranks send is FP64 and each product is in FP32: near the product of the whole.
TEST_P(RankTypes, ProductsOfFloatsAreThoseOfTheWhole) {
  Csr<double> const a = generate(ConvdiffParams{.n = 14});
  Matrix const A = to_dense(a);
  auto const floats = [](Column const& v) { return Eigen::VectorXf(v.cast<float>()); };
  Eigen::VectorXf const x = floats(random_column(a.rows, 1));
  Column const exact = A * x.cast<double>(), back = A.transpose() * x.cast<double>();
  for (Deal const deal : {Deal::even, Deal::uneven, Deal::some_empty}) {
    auto const at = stretches(a.rows, 2, deal);
    Eigen::VectorXf y(a.rows), t(a.rows);
    double dots[2] = {};
    on_both([&](Context& ctx, int r) {
      auto const op = operator_of(ctx, deal_rows(ctx, a, at))->on_floats(ctx);
      ASSERT_NE(op, nullptr);
      Index const m = at[r + 1] - at[r];
      Array<float> in = to_space(ctx, x.data() + at[r], static_cast<std::size_t>(m)),
                   out(ctx.space(), in.size());
      Array<double> dot(ctx.space(), 1);
      In<float> const xr = vector_view<float const>(in.data(), m, ctx.space());
      Out<float> const yr = vector_view(out.data(), m, ctx.space());
      op->apply_dot(ctx, xr, yr, dot.data());
      dots[r] = to_host(ctx, dot).front();
      std::ranges::copy(to_host(ctx, out), y.data() + at[r]);
      op->apply(ctx, 2.0f, xr, 0.0f, yr, Op::transpose);
      std::ranges::copy(to_host(ctx, out), t.data() + at[r]);
    });
    double const size = A.cwiseAbs().rowwise().sum().maxCoeff();
    EXPECT_LE((y.cast<double>() - exact).cwiseAbs().maxCoeff(), 1e-6 * size);
    EXPECT_LE((t.cast<double>() - 2 * back).cwiseAbs().maxCoeff(), 2e-6 * size);
    EXPECT_TRUE(same_bits(dots[0], dots[1]));
    EXPECT_NEAR(dots[0], x.cast<double>().dot(exact), 1e-5 * size * x.squaredNorm());
  }
}

/// A condition that FP32 bears, and one that it does not: found by the steps, on all ranks in the
/// same one. On a device the small system would stay in FP64.
TEST_P(RankTypes, OfAutoGoByTheCondition) {
  for (double const decades : {1, 8}) {
    Matrix const A = with_eigenvalues(graded(n, -decades), 3);
    Column const b = A * random_column(n, 5);
    std::string const yaml =
        "precision: auto\npreconditioner: {type: jacobi}\noperator: {format: csr}\n"
        "solver: {type: cg, rtol: 1e-8, max_iters: 20000, execution: graph}\n";
    Solved const one = by_one(csr(A), b, yaml);
    Told const two = told_by_both(csr(A), b, yaml);
    SolveReport const& r = two.reports[0];
    EXPECT_TRUE(r.converged()) << r.message;
    EXPECT_LE((A * two.x - b).norm(), 1.01e-8 * b.norm());
    EXPECT_EQ(r.precision.front().values, Real::f32) << two.chosen[0];
    EXPECT_EQ(r.precision.front().vectors, Real::f32);
    ASSERT_EQ(r.precision.size(), decades > 1 ? 2u : 1u) << r.message;
    ASSERT_EQ(one.report.precision.size(), r.precision.size());
    if (r.precision.size() == 1) continue;
    EXPECT_LT(r.precision[0].iterations, r.precision[1].iterations / 2);
    EXPECT_EQ(r.precision[0].why, "precision_limit:values");
    EXPECT_EQ(r.precision[1].values, Real::f64);
  }
}

TEST_P(RankTypes, OfAutoAreFp64WithTheReasonsOfOneRank) {
  Csr<double> const a = csr(laplace(n));
  Column const b = random_column(n, 4);
  for (auto const& [more, why] :
       {std::pair{"solver: {type: minres}\n", "fp64: minres neither makes r anew"},
        std::pair{"solver: {type: auto}\n", "fp64: auto chooses"},
        std::pair{"solver: {type: cg}\nstep_up: never\n", "fp64: with 'step_up: never'"}}) {
    Told const told =
        told_by_both(a, b, cat("precision: auto\npreconditioner: {type: jacobi}\n", more));
    EXPECT_EQ(told.chosen[0].find(why), 0u) << told.chosen[0];
    EXPECT_EQ(told.reports[0].precision.back().values, Real::f64);
    EXPECT_TRUE(told.reports[0].converged()) << told.reports[0].message;
  }
}

/// FP64 says what a matrix is that FP32 has found to be indefinite.
TEST_P(RankTypes, OfAutoSayWhatFp64SaysOfAMatrixThatIsNotDefinite) {
  Matrix A = laplace(n);
  A(n - 5, n - 5) = -3;  // a row of the other rank
  Told const told = told_by_both(csr(A), random_column(n, 4),
                                 "precision: auto\npreconditioner: {type: jacobi}\n"
                                 "solver: {type: cg, max_iters: 50, execution: graph}\n");
  EXPECT_EQ(told.reports[0].precision.back().values, Real::f64);
  EXPECT_EQ(told.reports[0].outcome(),
            by_one(csr(A), random_column(n, 4),
                   "preconditioner: {type: jacobi}\nsolver: {type: cg, max_iters: 50}\n")
                .report.outcome());
}

/// The last three unknowns, of the second rank, have entries that no scaling of rows and columns
/// brings into the range of FP16.
Matrix with_block(Eigen::Matrix3d const& last) {
  Matrix A = laplace(n);
  A.bottomRows(3).setZero();
  A.rightCols(3).setZero();
  A.bottomRightCorner(3, 3) = last;
  return A;
}
Matrix too_far_apart() {
  Eigen::Matrix3d last;
  last << 8.9e-2, 4e12, 1.1e-13, 25, 2.8e-12, 1.8e12, 3.2e3, 3.2e-11, 7.1e10;
  return with_block(last);
}
constexpr char const* in_fp16 =
    "solver: {type: gmres, rtol: 1e-9}\npreconditioner: {type: direct}\n"
    "operator: {format: csr, values: fp16}\n";

/// All ranks have FP32 then, and say why.
TEST_P(RankTypes, AreWiderOnAllRanksWhereOneCannotStoreItsRows) {
  Matrix const A = too_far_apart();
  Column const b = random_column(n, 4);
  Solved const one = by_one(csr(A), b, in_fp16);
  Told const two = told_by_both(csr(A), b, in_fp16);
  SolveReport const& r = two.reports[0];
  EXPECT_TRUE(one.report.converged()) << one.report.message;
  EXPECT_TRUE(r.converged()) << r.message;
  EXPECT_LE((A * two.x - b).norm(), 1.01e-9 * b.norm());
  ASSERT_GE(one.report.precision.size(), 2u) << "FP16 holds it";
  ASSERT_GE(r.precision.size(), 2u);
  EXPECT_EQ(r.precision[0].values, Real::f16);
  EXPECT_EQ(r.precision[0].iterations, 0);
  EXPECT_EQ(r.precision[0].why.find("rank 1: row "), 0u) << r.precision[0].why;
  EXPECT_EQ(r.precision[1].values, Real::f32);
}

TEST_P(RankTypes, AreWiderOnAllRanksWhereOneCannotStoreNewValues) {
  Matrix const A = with_block(Eigen::Matrix3d::Ones() + 3 * Eigen::Matrix3d::Identity());
  Csr<double> const a = csr(A), now = csr(too_far_apart());
  ASSERT_EQ(a.columns, now.columns);
  Column const b = random_column(n, 4);
  Told const told = told_by_both(a, b, in_fp16, &now);
  SolveReport const& r = told.reports[0];
  EXPECT_TRUE(r.converged()) << r.message;
  EXPECT_LE((too_far_apart() * told.x - b).norm(), 1.01e-9 * b.norm());
  ASSERT_GE(r.precision.size(), 2u) << r.message;
  EXPECT_EQ(r.precision[0].values, Real::f16);
  EXPECT_EQ(r.precision[0].why.find("rank 1: "), 0u) << r.precision[0].why;
  EXPECT_EQ(r.precision[1].values, Real::f32);
}

/// Of many columns those that rounding has failed go on, by all ranks.
TEST_P(RankTypes, OfEachColumnAreSteppedUp) {
  constexpr Index few = 60;
  Matrix const A = random_spd(few, 7, 21), B = A * random_matrix(few, 3, 8);
  auto const at = stretches(few, 2, Deal::uneven);
  for (std::string const method : {"cg", "pseudo_block_cg"}) {
    Matrix X = Matrix::Zero(few, 3);
    on_both([&](Context& ctx, int r) {
      LinearSolver solver(
          ctx, SolverOptions::from_yaml(cat(
                   "solver: {type: ", method, ", rtol: 1e-8, max_iters: 4000}\n",
                   "preconditioner: {type: jacobi}\n", "operator: {format: csr, values: bf16}\n")));
      solver.set_matrix(deal_rows(ctx, csr(A), at));
      Index const m = at[r + 1] - at[r];
      Matrix b = B.middleRows(at[r], m), x = Matrix::Zero(m, 3);
      for (SolveReport const& report : solver.solve_columns(
               {b.data(), m, 3, m, Layout::col_major}, {x.data(), m, 3, m, Layout::col_major})) {
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_GE(report.precision.size(), 2u);
      }
      X.middleRows(at[r], m) = x;
    });
    for (Index j = 0; j < 3; ++j)
      EXPECT_LE((A * X.col(j) - B.col(j)).norm(), 1.01e-8 * B.col(j).norm());
  }
}

TEST(RankTypesOfMany, ThreeRanksStepUpTogether) {
  Matrix const A = with_eigenvalues(graded(n, -8), 3);
  Column const b = A * random_column(n, 5);
  std::string const yaml =
      "precision: auto\npreconditioner: {type: jacobi}\noperator: {format: csr}\n"
      "solver: {type: cg, rtol: 1e-8, max_iters: 20000}\n";
  for (Deal const deal : {Deal::uneven, Deal::some_empty}) {
    Solved const s = by_ranks(3, deal, csr(A), b, yaml);
    EXPECT_TRUE(s.report.converged()) << s.report.message;
    EXPECT_LE((A * s.x - b).norm(), 1.01e-8 * b.norm());
    ASSERT_EQ(s.report.precision.size(), 2u) << s.report.message;
    EXPECT_EQ(s.report.precision[0].values, Real::f32);
    EXPECT_EQ(s.report.precision[0].why, "precision_limit:values");
    EXPECT_EQ(s.report.precision[1].values, Real::f64);
    EXPECT_LT(s.report.precision[0].iterations, s.report.precision[1].iterations / 2);
  }
}

}  // namespace
}  // namespace tcsolve::test
