// SPDX-License-Identifier: Apache-2.0
/// Iterative refinement by name: every step solves in lower precision, x and the verdict are FP64.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "tests/api/systems.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

class Refinement : public OnEachBackend {
 protected:
  static constexpr Index n = 120;
  SolveReport solved(Matrix const& A, Column const& b, Column& x, std::string const& yaml) {
    LinearSolver solver = LinearSolver::from_yaml(ctx(), csr(A).view(), yaml);
    x = Column::Zero(A.rows());
    return solve(solver, b, x);
  }
  /// A step a record, its norm the true residual, and its contraction told.
  static void expect_told(SolveReport const& r) {
    ASSERT_EQ(r.contractions.size(), static_cast<std::size_t>(r.iterations));
    ASSERT_EQ(r.history.size(), r.contractions.size());
    double before = r.initial_residual;
    for (std::size_t k = 0; k < r.history.size(); ++k) {
      EXPECT_EQ(r.history[k].norm, r.history[k].true_residual) << k;
      EXPECT_NEAR(r.contractions[k], r.history[k].norm / before, 1e-6 * r.contractions[k]) << k;
      before = r.history[k].norm;
    }
  }
};
TCSOLVE_ON_EACH_BACKEND(Refinement);

TEST_P(Refinement, OfAnyInnerSolverReachesAnFp64Answer) {
  Matrix const spd = at_time(1, n);
  Matrix general = spd;
  for (Index i = 0; i + 3 < n; ++i) general(i, i + 3) += 0.3;
  struct Inner {
    std::string block;
    bool symmetric;
  };
  for (auto const& [inner, symmetric] :
       {Inner{"{type: cg, rtol: 1e-3, max_iters: 50}", true},
        Inner{"{type: minres, rtol: 1e-3, max_iters: 50}", true},
        Inner{"{type: bicgstab, rtol: 1e-3, max_iters: 50}", false},
        Inner{"{type: gmres, restart: 20, rtol: 1e-3, max_iters: 40}", false},
        Inner{"{type: block_cg, rtol: 1e-3, max_iters: 50}", true}})
    for (std::string const types :
         {"", ", vectors: fp32", ", values: fp16", ", values: fp16, vectors: fp32",
          ", values: bf16, vectors: fp32, residual: twofold"}) {
      bool const floats = types.find("vectors") != std::string::npos;
      if (floats && inner.find("block") != std::string::npos) continue;
      SCOPED_TRACE(cat(inner, types));
      Matrix const& A = symmetric ? spd : general;
      Column const b = random_column(n, 1);
      Column x;
      SolveReport const r = solved(
          A, b, x,
          cat("solver: {type: refinement, rtol: 1e-13, solver: ", inner, types,
              "}\npreconditioner: {type: jacobi}\n", "operator: {format: csr}\nstep_up: never\n"));
      ASSERT_TRUE(r.converged()) << r.message;
      EXPECT_LE((b - A * x).norm(), 1.1e-13 * b.norm());
      EXPECT_GE(r.iterations, 3);
      EXPECT_GT(r.inner_iterations, r.iterations);
      EXPECT_EQ(r.precision.back().vectors, floats ? Real::f32 : Real::f64);
      EXPECT_EQ(r.precision.back().values, types.find("fp16") != std::string::npos   ? Real::f16
                                           : types.find("bf16") != std::string::npos ? Real::bf16
                                           : floats                                  ? Real::f32
                                                                                     : Real::f64);
      expect_told(r);
      for (double const c : r.contractions) EXPECT_LT(c, 0.2);
    }
}

TEST_P(Refinement, ByFactorsInFp32ContractsByTheirRoundoff) {
  Matrix const A = with_eigenvalues(graded(n, -3), 5);  // condition 1e3
  Column const b = random_column(n, 2);
  Column x;
  SolveReport const r = solved(A, b, x,
                               "solver: {type: refinement, rtol: 1e-13}\n"
                               "preconditioner: {type: direct, values: fp32}\n");
  ASSERT_TRUE(r.converged()) << r.message;
  EXPECT_LE((b - A * x).norm(), 1.1e-13 * b.norm());
  EXPECT_LE(r.iterations, 4);
  EXPECT_EQ(r.inner_iterations, 0);
  expect_told(r);
  EXPECT_LT(r.contractions.front(), 1e3 * n * 0x1p-24);
}

/// Carson and Higham (2018): with cond(A) u above 1 a step by the factors alone may hardly
/// contract; GMRES on the same factors does in each.
TEST_P(Refinement, GmresOnFactorsContractsWhereFactorsAloneHardlyDo) {
  Matrix a = random_spd(60, 9, 6);
  Matrix const s = Matrix::Identity(60, 60) + 0.2 * random_matrix(60, 60, 7);
  a = s * a;
  Column const b = a * random_column(60, 8);
  std::string const factors = "preconditioner: {type: direct, values: fp32}\nstep_up: never\n";
  Column x;
  SolveReport const alone = solved(a, b, x, "solver: {type: refinement, rtol: 1e-12}\n" + factors);
  EXPECT_GT(std::ranges::max(alone.contractions), 0.5) << alone.message;
  for (std::string const residual : {"fp64", "twofold"}) {
    SCOPED_TRACE(residual);
    SolveReport const ir = solved(
        a, b, x, cat("solver: {type: gmres_ir, rtol: 1e-12, residual: ", residual, "}\n", factors));
    EXPECT_TRUE(ir.converged()) << ir.message;
    EXPECT_LE((b - a * x).norm(), 1.1e-12 * b.norm());
    EXPECT_LT(std::ranges::max(ir.contractions), 0.1) << ir.message;
    expect_told(ir);
  }
}

TEST_P(Refinement, GmresOnIlu) {
  Matrix general = at_time(2, n);
  for (Index i = 0; i + 3 < n; ++i) general(i, i + 3) += 0.3;
  Column const b = random_column(n, 3);
  Column x;
  SolveReport const r =
      solved(general, b, x,
             "solver: {type: gmres_ir, vectors: fp32, values: fp32, rtol: 1e-13, inner_iters: 20}\n"
             "preconditioner: {type: ilu, values: fp32}\n");
  ASSERT_TRUE(r.converged()) << r.message;
  EXPECT_LE((general * x - b).norm(), 1.1e-13 * b.norm());
  EXPECT_EQ(r.precision.back().vectors, Real::f32);
}

/// BF16 leaves three digits, and a condition of 1e5 none of them.
TEST_P(Refinement, AStepThatDoesNotContractStepsUpOrEndsByName) {
  Matrix const A = with_eigenvalues(graded(n, -5), 9);
  Column const b = A * random_column(n, 4);
  std::string const yaml =
      "solver: {type: refinement, values: bf16, vectors: fp32, rtol: 1e-11,\n"
      "         solver: {type: gmres, restart: 120, max_iters: 120, rtol: 1e-3}}\n"
      "preconditioner: {type: jacobi}\noperator: {format: csr}\n";
  Column x;
  SolveReport const held = solved(A, b, x, yaml + "step_up: never\n");
  EXPECT_EQ(held.outcome(), "precision_limit:values") << held.message;
  EXPECT_GT(held.contractions.back(), 0.5);
  SolveReport const up = solved(A, b, x, yaml);
  EXPECT_TRUE(up.converged()) << up.message;
  EXPECT_LE((b - A * x).norm(), 1.1e-11 * b.norm());
  ASSERT_GE(up.precision.size(), 2u);
  EXPECT_EQ(up.precision.front().values, Real::bf16);
  EXPECT_EQ(up.precision.front().why, "precision_limit:values");
  EXPECT_EQ(up.contractions.size(), static_cast<std::size_t>(up.iterations));
}

/// The last step up has all keys change at once, which one by one would not go together.
TEST_P(Refinement, StepsUpToFp64VectorsWhateverKeysThereAre) {
  Matrix const A = with_eigenvalues(graded(n, -9), 9);
  Column const b = A * random_column(n, 4);
  std::string const jacobi = "preconditioner: {type: jacobi}\noperator: {format: csr}\n";
  std::string const inner = "{type: gmres, restart: 120, max_iters: 120, rtol: 1e-3";
  auto const last = [&](std::string const& yaml) {
    SCOPED_TRACE(yaml);
    Column x;
    SolveReport const r = solved(A, b, x, yaml);
    EXPECT_TRUE(r.converged() || r.reason == Stop::precision_limit) << r.message;
    EXPECT_GE(r.precision.size(), 2u);
    EXPECT_EQ(r.precision.back().values, Real::f64) << r.message;
    EXPECT_EQ(r.precision.back().vectors, Real::f64) << r.message;
    EXPECT_LE((b - A * x).norm(), 1.01 * r.true_residual + 1e-14 * b.norm());
  };
  last(cat("solver: {type: refinement, values: fp16, vectors: fp32, rtol: 1e-11, solver: ", inner,
           "}}\n", jacobi));
  last(cat("solver: {type: refinement, values: fp32, rtol: 1e-11, solver: ", inner,
           ", vectors: fp32}}\n", jacobi));
  last(cat("precision: fp16\nsolver: {type: refinement, rtol: 1e-11, solver: ", inner, "}}\n",
           jacobi));
  last(
      "solver: {type: gmres_ir, values: fp16, vectors: fp32, rtol: 1e-11}\n"
      "preconditioner: {type: ilu, values: fp16}\n");
  last(
      "solver: {type: gmres, restart: 120, max_iters: 20000, vectors: fp32, basis: fp32, "
      "execution: persistent, rtol: 1e-13}\n" +
      jacobi);
}

/// Without an inner solver a correction is M r, and the operator alone has types.
TEST_P(Refinement, ByMAloneStepsUpTheOperator) {
  Matrix const A = at_time(1, n);
  Column const b = A * random_column(n, 4);
  for (std::string const types :
       {"precision: fp16\n", "precision: fp32\n", "operator: {format: csr, values: fp16}\n"}) {
    SCOPED_TRACE(types);
    Column x;
    SolveReport const r = solved(A, b, x,
                                 "solver: {type: refinement, rtol: 1e-14}\n"
                                 "preconditioner: {type: direct, values: fp32}\n" +
                                     types);
    EXPECT_TRUE(r.converged()) << r.message;
    EXPECT_LE((b - A * x).norm(), 1.1e-14 * b.norm());
  }
}

TEST_P(Refinement, FollowsNewValues) {
  LinearSolver solver = LinearSolver::from_yaml(
      ctx(), csr(at_time(0, n)).view(),
      "solver: {type: refinement, vectors: fp32, rtol: 1e-12, solver: {type: cg, rtol: 1e-4}}\n"
      "preconditioner: {type: jacobi}\n");
  Column const b = random_column(n, 5);
  for (double const time : {0.0, 1.0, 2.0}) {
    Matrix const A = at_time(time, n);
    solver.update_values(csr(A).view());
    Column x = Column::Zero(n);
    SolveReport const r = solve(solver, b, x);
    EXPECT_TRUE(r.converged()) << r.message;
    expect_solved(A, b, x, 1e-12);
  }
}

TEST(RefinementKeys, ThatMakeNoSenseAreRefusedWithTheReason) {
  auto const error = [](std::string const& yaml) -> std::string {
    try {
      LinearSolver::from_yaml(csr(laplace(10)).view(), yaml + "backend: host\n");
    } catch (Error const& e) { return e.what(); }
    return "";
  };
  EXPECT_THAT(
      error("solver: {type: refinement, values: fp64, vectors: fp32, solver: {type: cg}}\n"),
      HasSubstr("stored in fp32 at the widest"));
  EXPECT_THAT(error("solver: {type: gmres_ir, values: fp64, vectors: fp32}\n"),
              HasSubstr("stored in fp32 at the widest"));
  EXPECT_THAT(error("solver: {type: refinement, vectors: fp32, solver: {type: block_cg}}\n"),
              HasSubstr("block_cg has FP64 vectors alone"));
  EXPECT_THAT(
      error("solver: {type: refinement, vectors: fp32, solver: {type: cg, vectors: fp64}}\n"),
      HasSubstr("'vectors' is fp32 here and fp64 in the inner solver"));
  EXPECT_THAT(error("solver: {type: refinement, values: fp32}\npreconditioner: {type: jacobi}\n"),
              HasSubstr("those of the inner 'solver'"));
  EXPECT_THAT(error("solver: {type: refinement, solver: {type: auto}}\n"),
              HasSubstr("name a method"));
  EXPECT_THAT(error("solver: {type: refinement, solver: {type: cg, max_iters: 0}}\n"),
              HasSubstr("at least one iteration"));
  EXPECT_THAT(error("solver: {type: refinement}\n"), HasSubstr("needs a preconditioner"));
  EXPECT_THAT(error("solver: {type: gmres_ir}\n"), HasSubstr("GMRES on factors"));
  EXPECT_THAT(error("solver: {type: gmres_ir, vectors: fp32}\npreconditioner: {type: direct}\n"),
              HasSubstr("no wider than the vectors"));
  EXPECT_THAT(error("solver: {type: refinement, values: fp16, solver: {type: cg}}\n"
                    "operator: {values: fp32}\n"),
              HasSubstr("A is stored once"));
  EXPECT_THAT(error("solver: {type: refinement, values: fp16,\n"
                    "         solver: {type: refinement, values: fp16, solver: {type: cg}}}\n"),
              HasSubstr("refinement within refinement"));
  EXPECT_THAT(error("solver: {type: refinement, solver: {type: refinement, solver: {type: cg}}}\n"),
              HasSubstr("refinement within refinement"));
  EXPECT_THAT(error("solver: {type: refinement, solver: {type: gmres_ir}}\n"),
              HasSubstr("refinement within refinement"));
}

}  // namespace
}  // namespace tcsolve::test
