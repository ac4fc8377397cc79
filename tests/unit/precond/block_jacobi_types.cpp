// SPDX-License-Identifier: Apache-2.0
/// Block Jacobi whose blocks are stored in types of their own.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Diagonal blocks [2 1; 1 2] diag(1, 1 / condition), times `scale`, and weak entries between them.
struct Pair {
  double condition = 1, scale = 1;
};
Csr<double> pairs(std::vector<Pair> const& blocks) {
  Csr<double> a;
  a.rows = a.cols = static_cast<Index>(2 * blocks.size());
  for (Index i = 0; i < a.rows; ++i) {
    Pair const& p = blocks[static_cast<std::size_t>(i / 2)];
    for (Index j = std::max<Index>(0, i / 2 * 2 - 2); j < i / 2 * 2 + 2; ++j) {
      double const within = (i == j ? 2 : 1) * (j % 2 == 0 ? 1 : 1 / p.condition);
      a.columns.push_back(j);
      a.values.push_back(p.scale * (j < i / 2 * 2 ? 0.01 : within));
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

class BlockTypes : public OnEachBackend {
 protected:
  BlockJacobi<double> make(Csr<double> const& a, BlockValues values, int block = 2) {
    return {ctx(), a.view(), {.block = block, .values = values}};
  }
  std::vector<double> applied(LinearOperator<double> const& M, std::vector<double> const& x,
                              Op op = Op::none) {
    Guarded<double> gx(ctx(), x), y(ctx(), std::vector<double>(x.size(), nan));
    M.apply(ctx(), 1, gx.in(), 0, y.view(), op);
    return y.get();
  }
};
TCSOLVE_ON_EACH_BACKEND(BlockTypes);

TEST_P(BlockTypes, GoByConditionAndRange) {
  std::vector<Pair> const blocks = {{1}, {2}, {1e4}, {1e10}, {1, 1e-7}, {1, 1e6}, {1}};
  auto const M = make(pairs(blocks), BlockValues::adaptive);
  EXPECT_EQ(M.stored_in(Real::f64), 1) << "condition 1e10";
  EXPECT_EQ(M.stored_in(Real::f32), 3)
      << "condition 1e4, an inverse beyond fp16's range, one below its normal numbers";
  EXPECT_EQ(M.stored_in(Real::f16), 3);
  EXPECT_EQ(M.details(), "7 blocks, 1 in fp64, 3 in fp32, 3 in fp16");
  EXPECT_EQ(make(pairs(blocks), BlockValues::f32).stored_in(Real::f32), 7);
  EXPECT_EQ(make(pairs({{1}, {2}}), BlockValues::f16).stored_in(Real::f16), 2);
  EXPECT_THAT(message_of<SetupError>([&] { make(pairs(blocks), BlockValues::f16); }),
              HasSubstr("rows 7 to 8"));
}

TEST_P(BlockTypes, OfFp64AloneAreTheSameBits) {
  Csr<double> const a = pairs(std::vector<Pair>(50, {1e9}));
  auto const adaptive = make(a, BlockValues::adaptive), wide = make(a, BlockValues::f64);
  EXPECT_EQ(adaptive.stored_in(Real::f64), 50);
  auto const x = random_values(100, 1);
  for (Op op : {Op::none, Op::transpose}) EXPECT_EQ(applied(adaptive, x, op), applied(wide, x, op));
}

/// |M~ x - M x| <= u |M| |x|, u that of the block's type.
TEST_P(BlockTypes, StayWithinTheirRoundoff) {
  for (int block : {1, 3, 8}) {
    Csr<double> const a = dominant(96, 7, 2);
    auto const wide = make(a, BlockValues::f64, block);
    auto const x = random_values(96, 3);
    for (auto const& [values, real] : {std::pair{BlockValues::f64, Real::f64},
                                       {BlockValues::f32, Real::f32},
                                       {BlockValues::f16, Real::f16},
                                       {BlockValues::adaptive, Real::f16}}) {
      auto const M = make(a, values, block);
      for (Op op : {Op::none, Op::transpose}) {
        std::vector<double> magnitude(96, 0.0);
        for (Index j = 0; j < 96; ++j) {
          std::vector<double> e(96, 0.0);
          e[static_cast<std::size_t>(j)] = std::abs(x[static_cast<std::size_t>(j)]);
          auto const column = applied(wide, e, op);
          for (std::size_t i = 0; i < 96; ++i) magnitude[i] += std::abs(column[i]);
        }
        auto const got = applied(M, x, op), exact = applied(wide, x, op);
        double largest = 0;
        for (std::size_t i = 0; i < 96; ++i) {
          EXPECT_LE(std::abs(got[i] - exact[i]), (1.01 * roundoff(real) + 1e-15) * magnitude[i]);
          largest = std::max(largest, std::abs(got[i] - exact[i]));
        }
        if (real != Real::f64) EXPECT_GT(largest, 0.01 * roundoff(real)) << "it is rounded";
      }
    }
  }
}

TEST_P(BlockTypes, CostLessAndConvergeAsFast) {
  Csr<double> const a = generate(ElasticityParams{.n = 8, .coefficient = Coefficient::random});
  auto const A = std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(a));
  auto const bytes = [&](BlockValues values) {
    return BlockJacobiFactory({.block = 24, .values = values}).memory(ctx(), {A->view(), A}).held();
  };
  EXPECT_LT(bytes(BlockValues::f32), 0.6 * bytes(BlockValues::f64));
  EXPECT_LT(bytes(BlockValues::f16), 0.4 * bytes(BlockValues::f64));
  EXPECT_LT(bytes(BlockValues::adaptive), 0.6 * bytes(BlockValues::f64));
  for (Execution const how : executions(GetParam())) {
    std::string const execution = tcsolve::name(how);
    auto const iterations = [&](std::string const& values) {
      LinearSolver solver = LinearSolver::from_yaml(
          ctx(), a.view(),
          "solver: {type: cg, execution: " + execution +
              "}\npreconditioner: {type: block_jacobi, block: 3, values: " + values + "}");
      std::vector<double> const b(static_cast<std::size_t>(a.rows), 1.0);
      std::vector<double> x(b.size(), 0.0);
      SolveReport const report = solver.solve(b, x);
      EXPECT_TRUE(report.converged()) << report.message;
      return static_cast<double>(report.iterations);
    };
    double const wide = iterations("fp64");
    EXPECT_LE(iterations("adaptive"), 1.05 * wide + 1);
    EXPECT_LE(iterations("fp32"), 1.05 * wide + 1);
  }
}

}  // namespace
}  // namespace tcsolve::test
