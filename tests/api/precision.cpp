// SPDX-License-Identifier: Apache-2.0
/// Types as keys: `precision`, and what `auto` makes of it.
#include <cmath>

#include <gmock/gmock.h>

#include <tcsolve/api/precision.hpp>

#include "tests/api/solved_in_types.hpp"
#include "tests/support/formats.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Precisions : public SolvedInTypes {};
TCSOLVE_ON_EACH_BACKEND(Precisions);

/// Systems of docs/results/mixed-h200.md: FP32 took longer where a solve waits
/// for other things than memory.
TEST(PrecisionBySize, SmallBesideTheCacheStaysInFp64) {
  auto const fits = [](Index rows, Offset entries, int basis = 0) {
    CsrView<double> const a{
        rows, rows, entries, OffsetsView(static_cast<std::int64_t*>(nullptr)), nullptr, nullptr};
    return lies_in_cache(a, basis, 60 << 20);
  };
  EXPECT_TRUE(fits(64 * 64 * 64, 190 * 190 * 190)) << "27 points";
  EXPECT_FALSE(fits(80 * 80 * 80, 238 * 238 * 238));
  EXPECT_TRUE(fits(64 * 64 * 64, 7 * 64 * 64 * 64)) << "7 points";
  EXPECT_FALSE(fits(96 * 96 * 96, 7 * 96 * 96 * 96));
  EXPECT_FALSE(fits(3 * 36 * 36 * 36, 9 * 106 * 106 * 106)) << "elasticity";
  EXPECT_TRUE(fits(48 * 48 * 48, 7 * 48 * 48 * 48, 30)) << "gmres(30)";
  EXPECT_FALSE(fits(64 * 64 * 64, 7 * 64 * 64 * 64, 30));
}

TEST_P(Precisions, AsOneWordAreThoseOfTheKeys) {
  Matrix const A = at_time(1, n);
  Column const b = random_column(n, 1);
  std::string const rest =
      "preconditioner: {type: jacobi}\nsolver: {type: cg, rtol: 1e-11}\noperator: {format: csr}\n";
  auto const as_keys = [&](std::string const& values, std::string const& more) {
    return solved(A, b,
                  cat("preconditioner: {type: jacobi}\nsolver: {type: cg, rtol: 1e-11, vectors: "
                      "fp32}\noperator: {format: csr, values: ",
                      values, more, "}\n"));
  };
  Solved const one = solved(A, b, "precision: fp32\n" + rest), two = as_keys("fp32", "");
  EXPECT_TRUE(one.report.converged()) << one.report.message;
  EXPECT_EQ(one.report.precision.front().values, Real::f32);
  EXPECT_EQ(one.report.precision.front().vectors, Real::f32);
  expect_same(one.report, one.x, two.report, two.x);
  Solved const half = solved(A, b, "precision: fp16\n" + rest),
               rows = as_keys("fp16", ", diagonal: auto");
  EXPECT_TRUE(half.report.converged()) << half.report.message;
  EXPECT_EQ(half.report.precision.front().values, Real::f16);
  expect_same(half.report, half.x, rows.report, rows.x);
  Solved const full = solved(A, b, "precision: fp64\n" + rest), plain = solved(A, b, rest);
  EXPECT_EQ(full.report.precision.front().values, Real::f64);
  expect_same(full.report, full.x, plain.report, plain.x);
}

/// u cond <= 3e-3 with u = 2^-24: a condition below some 5e4.
TEST_P(Precisions, OfAutoGoByTheCondition) {
  auto const with = [&](double condition, std::string const& more) {
    Column values = graded(n, -1);
    values[n - 1] = 1 / condition;  // alone, it is found in few steps
    Matrix const A = with_eigenvalues(values, 3);
    return solved(
        A, A * random_column(n, 2),
        cat("precision: auto\npreconditioner: {type: jacobi}\noperator: {format: csr}\n", more));
  };
  // On a device the small system would stay in FP64, unless its loop is to be launches.
  std::string const cg = "solver: {type: cg, rtol: 1e-10, max_iters: 4000, execution: graph}\n";
  Solved const well = with(1e2, cg);
  EXPECT_TRUE(well.report.converged()) << well.report.message;
  EXPECT_EQ(well.report.precision.front().values, Real::f32);
  EXPECT_EQ(well.report.precision.front().vectors, Real::f32);
  EXPECT_THAT(well.setup.precision, StartsWith("fp32: while the steps of the solve see no "));
  EXPECT_EQ(well.report.precision.size(), 1u);
  Solved const badly = with(1e8, cg);
  EXPECT_TRUE(badly.report.converged()) << badly.report.message;
  ASSERT_EQ(badly.report.precision.size(), 2u);
  EXPECT_EQ(badly.report.precision.front().values, Real::f32);
  EXPECT_LE(badly.report.precision.front().iterations, 40) << "it is found in few steps";
  EXPECT_EQ(badly.report.precision.front().why, "precision_limit:values");
  EXPECT_EQ(badly.report.precision.back().values, Real::f64);
  Solved const unknown = with(1e2, "solver: {type: minres, execution: graph}\n");
  EXPECT_EQ(unknown.report.precision.front().values, Real::f64);
  EXPECT_THAT(unknown.setup.precision, StartsWith("fp64: minres neither makes r anew"));
  Solved const chosen = with(1e2, "solver: {type: auto}\n");
  EXPECT_THAT(chosen.setup.precision, StartsWith("fp64: auto chooses"));
}

/// Not symmetric, with every eigenvalue 1 <= |lambda| <= 3 or so.
Matrix convection(Index n) { return tridiagonal(n, -1.2, 2.1, -0.6); }

/// The columns of A in units of their own, over so many decades.
Matrix unevenly(Matrix const& A, double decades) {
  return A * graded(static_cast<Index>(A.cols()), -decades).asDiagonal();
}

std::string const general_methods[] = {"bicgstab", "pseudo_block_bicgstab", "gmres"};

/// Methods that tell nothing of cond(M A) on their way: what counts is what FP64 would have done.
TEST_P(Precisions, OfAutoAreFp32WhereAGeneralMatrixIsGoodNatured) {
  Matrix const A = convection(n);
  Column const b = random_column(n, 4);
  for (std::string const& method : general_methods) {
    SCOPED_TRACE(method);
    std::string const rest = cat("solver: {type: ", method, ", rtol: 1e-11, execution: graph}\n",
                                 "preconditioner: {type: jacobi}\noperator: {format: csr}\n");
    Solved const s = solved(A, b, "precision: auto\n" + rest), wide = solved(A, b, rest);
    EXPECT_TRUE(s.report.converged()) << s.report.message;
    expect_solved(A, b, s.x, 1e-11);
    ASSERT_EQ(s.report.precision.size(), 1u) << s.report.message;
    EXPECT_EQ(s.report.precision[0].values, Real::f32) << s.setup.precision;
    EXPECT_EQ(s.report.precision[0].vectors, Real::f32);
    EXPECT_LE(s.report.iterations, 1.2 * wide.report.iterations + 1);
  }
}

/// Early, so that what FP32 was about costs little; and x goes on from where it is.
TEST_P(Precisions, OfAutoGoOnInFp64WhereAGeneralMatrixIsNot) {
  Matrix const uneven = unevenly(convection(n), 6);
  // Of which R tells at once: one eigenvalue is far above the others.
  Column values = graded(n, -1);
  values[n - 1] = 1e6;
  Matrix const outlier = with_eigenvalues(values, 7);
  for (std::string const& method : general_methods) {
    SCOPED_TRACE(method);
    Matrix const& A = method == "gmres" ? outlier : uneven;
    Column const b = method == "gmres" ? random_column(n, 4) : Column(A * random_column(n, 4));
    // Without a preconditioner, which would put the columns right.
    std::string const rest = cat("solver: {type: ", method, ", rtol: 1e-8, max_iters: 20000, ",
                                 "execution: graph}\noperator: {format: csr}\n");
    Solved const s = solved(A, b, "precision: auto\n" + rest), wide = solved(A, b, rest);
    EXPECT_EQ(s.report.outcome(), wide.report.outcome()) << s.report.message;
    ASSERT_EQ(s.report.precision.size(), 2u) << s.report.message;
    EXPECT_EQ(s.report.precision[0].values, Real::f32);
    EXPECT_EQ(s.report.precision[0].why, "precision_limit:values");
    EXPECT_LE(s.report.precision[0].iterations, std::max(20.0, 0.1 * wide.report.iterations));
    EXPECT_EQ(s.report.precision[1].values, Real::f64);
    EXPECT_EQ(s.report.precision[1].vectors, Real::f64);
    if (wide.report.converged()) expect_solved(A, b, s.x, 1e-8);
  }
}

/// What updates and the Hessenberg matrix see of the condition, they see from below.
TEST_P(Precisions, OfAutoStayWhereNoStepCanSeeTooMuch) {
  Column values = graded(n, -2.5);
  for (Index i = 0; i < n; i += 2) values[i] = -values[i];  // cond(A) = 316
  Matrix const A = with_eigenvalues(values, 8);
  Column const b = random_column(n, 9);
  for (std::string const& method : general_methods) {
    SCOPED_TRACE(method);
    Solved const s = solved(
        A, b,
        cat("precision: auto\nsolver: {type: ", method,
            ", rtol: 1e-9, max_iters: 400, execution: graph}\n", "operator: {format: csr}\n"));
    EXPECT_NE(s.report.precision[0].why, "precision_limit:values") << s.report.message;
  }
}

/// A basis is narrowed where a device streams it, and nobody has said otherwise.
TEST_P(Precisions, OfAutoNarrowTheBasisBeyondTheCaches) {
  Csr<double> const a = csr(at_time(1, n));
  auto const chosen = [&](std::string const& solver, RunsWhere where) {
    SolverOptions const options = SolverOptions::from_yaml("solver: " + solver + "\n");
    return choose_precision(a.rows, a.cols, options, *SolverParts(options).method, where);
  };
  char const* const varying = "{type: fgmres, restart: 50}";
  EXPECT_TRUE(chosen(varying, RunsWhere::device_memory).narrow_basis);
  EXPECT_EQ(chosen(varying, RunsWhere::device_memory).types, WorkingPrecision{});
  EXPECT_FALSE(chosen(varying, RunsWhere::cache).narrow_basis);
  EXPECT_FALSE(chosen(varying, RunsWhere::host).narrow_basis);
  // FP32 vectors have a basis of their own.
  WorkingPrecision const fp32{Real::f32, Real::f32};
  for (char const* const solver : {"{type: gmres}", "{type: gmres, restart: 50}"})
    for (RunsWhere const where : {RunsWhere::device_memory, RunsWhere::host}) {
      EXPECT_EQ(chosen(solver, where).types, fp32) << solver;
      EXPECT_FALSE(chosen(solver, where).narrow_basis) << solver;
    }
  EXPECT_EQ(chosen("{type: bicgstab}", RunsWhere::device_memory).types, fp32);
  EXPECT_EQ(chosen("{type: bicgstab}", RunsWhere::cache).types, WorkingPrecision{});
  for (char const* const solver : {"{type: gmres, restart: 51}", "{type: gmres, basis: fp64}",
                                   "{type: gmres, execution: persistent}"}) {
    EXPECT_FALSE(chosen(solver, RunsWhere::device_memory).narrow_basis) << solver;
    EXPECT_EQ(chosen(solver, RunsWhere::device_memory).types, WorkingPrecision{}) << solver;
  }
  SolverOptions const narrow =
      with_narrow_basis(SolverOptions::from_yaml("solver: {type: gmres, rtol: 1e-11}\n"));
  Column const b = random_column(n, 4);
  LinearSolver solver(ctx(), narrow);
  solver.set_matrix(a.view());
  Column x = Column::Zero(n);
  EXPECT_TRUE(solve(solver, b, x).converged());
  expect_solved(at_time(1, n), b, x, 1e-11);
}

/// It is FP64 that says so.
TEST_P(Precisions, OfAutoSayWhatFp64SaysOfAMatrixThatIsNotDefinite) {
  Matrix A = laplace(n);
  A(5, 5) = -3;
  std::string const cg = "solver: {type: cg, max_iters: 50, execution: graph}\n";
  Solved const s = solved(A, random_column(n, 4), "precision: auto\n" + cg);
  EXPECT_EQ(s.report.reason, Stop::indefinite_operator) << s.report.message;
  EXPECT_EQ(s.report.precision.back().values, Real::f64);
}

/// Of eigenvalues over eight decades the steps of the solve see more and more, and it goes on in
/// FP64 before it has lost much.
TEST_P(Precisions, OfAutoAreWatched) {
  Matrix const A = with_eigenvalues(graded(n, -8), 3);
  Matrix const b = A * random_column(n, 5);
  for (std::string const method : {"cg", "pseudo_block_cg"}) {
    std::string const rest =
        cat("solver: {type: ", method, ", rtol: 1e-8, max_iters: 20000, execution: graph}\n",
            "preconditioner: {type: jacobi}\noperator: {format: csr}\n");
    Solved const s = solved(A, b, "precision: auto\n" + rest);
    EXPECT_TRUE(s.report.converged()) << s.report.message;
    EXPECT_LE((A * s.x - b).norm(), 1.01e-8 * b.norm());
    ASSERT_EQ(s.report.precision.size(), 2u) << s.report.message;
    EXPECT_EQ(s.report.precision[0].values, Real::f32);
    EXPECT_EQ(s.report.precision[0].why, "precision_limit:values");
    EXPECT_EQ(s.report.precision[1].values, Real::f64);
    EXPECT_EQ(s.report.precision[1].vectors, Real::f64);
    EXPECT_LT(s.report.precision[0].iterations, s.report.precision[1].iterations / 2);
  }
}

/// A condition that FP32 bears is no reason to end, however many iterations it takes.
TEST_P(Precisions, OfAutoStayWhereTheSolveIsLong) {
  Matrix const A = laplace(200);  // cond 1.6e4: as many iterations, of which 20 steps see little
  Column const b = random_column(A.rows(), 5);
  for (std::string const method : {"cg", "pseudo_block_cg"}) {
    Solved const s =
        solved(A, b,
               cat("precision: auto\nsolver: {type: ", method, ", rtol: 1e-13, max_iters: 20000, ",
                   "execution: graph}\npreconditioner: {type: jacobi}\noperator: {format: csr}\n"));
    EXPECT_TRUE(s.report.converged()) << s.report.message;
    ASSERT_EQ(s.report.precision.size(), 1u) << s.report.message;
    EXPECT_EQ(s.report.precision[0].values, Real::f32) << s.setup.precision;
  }
}

TEST_P(Precisions, FollowOneMatrixAfterTheOther) {
  Column values = graded(n, -1);
  Matrix const well = with_eigenvalues(values, 3);
  values[n - 1] = 1e-7;
  Matrix const badly = with_eigenvalues(values, 3);
  LinearSolver solver = LinearSolver::from_yaml(
      ctx(), csr(well).view(),
      "precision: auto\npreconditioner: {type: jacobi}\noperator: {format: csr}\n"
      "solver: {type: cg, rtol: 1e-9, max_iters: 4000, execution: graph}\n");
  for (Matrix const* A : {&badly, &well}) {
    solver.set_matrix(csr(*A).view());
    Column const b = *A * random_column(n, 6);
    Column x = Column::Zero(n);
    SolveReport const r = solve(solver, b, x);
    EXPECT_EQ(r.precision.front().values, Real::f32) << r.message;
    EXPECT_EQ(r.precision.back().values, A == &well ? Real::f32 : Real::f64) << r.message;
  }
}

/// Stepped up, a solver stays so for its matrix, and begins anew with the next.
TEST_P(Precisions, StayAsTheyAreUntilTheNextMatrix) {
  Matrix const hard = random_spd(60, 7, 21), easy = random_spd(60, 1, 22);
  LinearSolver solver = LinearSolver::from_yaml(
      ctx(), csr(hard).view(),
      "solver: {type: cg, rtol: 1e-9, max_iters: 4000, vectors: fp32}\n"
      "preconditioner: {type: jacobi}\noperator: {format: csr, values: bf16}\n");
  Column const b = hard * random_column(60, 7);
  Column x = Column::Zero(60);
  SolveReport const first = solve(solver, b, x);
  ASSERT_GE(first.precision.size(), 2u) << first.message;
  EXPECT_EQ(first.precision.front().values, Real::bf16);
  Real const ended = first.precision.back().values;
  x.setZero();
  SolveReport const second = solve(solver, b, x);
  EXPECT_EQ(second.precision.front().values, ended);
  Matrix const doubled = 2 * hard;
  solver.update_values(csr(doubled).view());
  x.setZero();
  EXPECT_EQ(solve(solver, b, x).precision.front().values, ended);
  solver.set_matrix(csr(easy).view());
  x.setZero();
  SolveReport const anew = solve(solver, b, x);
  EXPECT_TRUE(anew.converged()) << anew.message;
  EXPECT_EQ(anew.precision.front().values, Real::bf16);
}

TEST_P(Precisions, OfEachColumnAreSteppedUp) {
  Matrix const A = random_spd(60, 7, 21);
  for (std::string const method : {"cg", "pseudo_block_cg", "block_cg"}) {
    SCOPED_TRACE(method);
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), csr(A).view(),
        cat("solver: {type: ", method, ", rtol: 1e-8, max_iters: 4000}\n",
            "preconditioner: {type: jacobi}\noperator: {format: csr, values: bf16}\n"));
    Matrix B = A * random_matrix(60, 3, 8), X = Matrix::Zero(60, 3);
    auto const view = [](auto& m) {
      return MultiView<std::remove_reference_t<decltype(*m.data())>>{
          m.data(), Index(m.rows()), Index(m.cols()), m.rows(), Layout::col_major, Space::host};
    };
    Matrix const& fixed = B;
    auto const reports = solver.solve_columns(view(fixed), view(X));
    ASSERT_EQ(reports.size(), 3u);
    for (int j = 0; j < 3; ++j) {
      EXPECT_TRUE(reports[j].converged()) << reports[j].message;
      EXPECT_GE(reports[j].precision.size(), 2u);
      EXPECT_LE((A * X.col(j) - B.col(j)).norm(), 1.01e-8 * B.col(j).norm());
    }
  }
}

// ---- whatever the types ----

/// 2^s A and 2^t b give 2^(t - s) x bit by bit, with the same steps and norms, also where a solve
/// steps up; and so does the same solve again.
TEST_P(Precisions, APowerOfTwoChangesNoBit) {
  Matrix const easy = at_time(6, n), hard = random_spd(60, 7, 21);
  std::string const jacobi = "preconditioner: {type: jacobi}\n", csr_of = "operator: {format: csr";
  struct Case {
    std::string yaml;
    bool steps_up = false;
  };
  for (auto const& [yaml, steps_up] : {
           Case{jacobi + "solver: {type: cg, rtol: 1e-11}\n"},
           Case{"precision: fp32\nsolver: {type: cg, rtol: 1e-11}\n" + jacobi},
           Case{"precision: fp16\nsolver: {type: bicgstab, rtol: 1e-11}\n" + jacobi},
           Case{"precision: auto\nsolver: {type: cg, rtol: 1e-11}\n" + jacobi},
           Case{jacobi + csr_of +
                ", values: bf16, diagonal: row_sums}\nsolver: {type: cg, vectors: "
                "fp32, rtol: 1e-11}\n"},
           Case{jacobi + csr_of +
                ", values: fp16}\nsolver: {type: gmres, basis: fp32, rtol: "
                "1e-11}\n"},
           Case{jacobi + csr_of +
                "}\nsolver: {type: refinement, values: fp16, vectors: fp32, rtol: "
                "1e-11, solver: {type: cg, rtol: 1e-3}}\n"},
           Case{"preconditioner: {type: direct, values: fp32}\nsolver: {type: gmres_ir, rtol: "
                "1e-12}\n"},
           Case{"preconditioner: {type: solver, vectors: fp32, values: fp16, solver: {type: cg, "
                "rtol: 0.1}}\nsolver: {type: cg, beta: flexible, rtol: 1e-10}\n"},
           Case{jacobi + "solver: {type: minres, vectors: fp32, rtol: 1e-11}\n"},
           Case{jacobi + csr_of + ", values: fp16}\nsolver: {type: minres, rtol: 1e-11}\n"},
           Case{jacobi + csr_of +
                ", values: fp16}\nsolver: {type: chronopoulos_gear, vectors: fp32, rtol: "
                "1e-11}\n"},
           Case{jacobi + csr_of +
                ", values: fp16}\nsolver: {type: pseudo_block_cg, vectors: fp32, rtol: 1e-11}\n"},
           Case{jacobi + csr_of +
                ", values: fp16}\nsolver: {type: pseudo_block_gmres, vectors: fp32, rtol: "
                "1e-11}\n"},
           Case{jacobi + csr_of +
                ", values: bf16}\nsolver: {type: pseudo_block_bicgstab, vectors: fp32, rtol: "
                "1e-11}\n"},
           Case{csr_of + ", values: fp32}\nsolver: {type: lsmr, vectors: fp32, rtol: 1e-9}\n"},
           Case{csr_of + ", values: fp16}\nsolver: {type: lsmr, rtol: 1e-9}\n"},
           Case{jacobi + csr_of +
                    ", values: bf16}\nsolver: {type: cg, vectors: fp32, rtol: 1e-9, "
                    "max_iters: 20000}\n",
                true},
       }) {
    SCOPED_TRACE(yaml);
    Matrix const& A = steps_up ? hard : easy;
    Column const b = A * random_column(A.rows(), 15);
    Solved const first = solved(A, b, yaml);
    ASSERT_TRUE(first.report.converged()) << first.report.message;
    EXPECT_EQ(first.report.precision.size() > 1, steps_up);
    for (auto const& [s, t] : {std::pair{0, 0}, {3, -7}, {-20, 40}, {60, 30}}) {
      SCOPED_TRACE(cat("A 2^", s, ", b 2^", t));
      Solved const now = solved(A * std::ldexp(1.0, s), b * std::ldexp(1.0, t), yaml);
      ASSERT_EQ(now.report.iterations, first.report.iterations) << now.report.message;
      EXPECT_TRUE(now.x == first.x * std::ldexp(1.0, t - s));
      ASSERT_EQ(now.report.history.size(), first.report.history.size());
      for (std::size_t k = 0; k < now.report.history.size(); ++k)
        ASSERT_EQ(now.report.history[k].norm, std::ldexp(first.report.history[k].norm, t)) << k;
    }
  }
}

// ---- what makes no sense ----

/// Iterations that auto spends in FP32 are none of those that FP64 may take.
TEST_P(Precisions, OfAutoEndNoWorseThanFp64) {
  Matrix const A = with_eigenvalues(graded(n, -8), 3);
  Column const b = A * random_column(n, 5);
  auto const within = [&](int most, std::string const& precision) {
    return solved(A, b,
                  cat(precision, "solver: {type: cg, rtol: 1e-8, execution: graph, max_iters: ",
                      most, "}\npreconditioner: {type: jacobi}\noperator: {format: csr}\n"));
  };
  int const fp64 = within(20000, "").report.iterations;
  for (int const most : {fp64 + fp64 / 4, fp64 / 8}) {
    Solved const s = within(most, "precision: auto\n");
    EXPECT_EQ(s.report.converged(), most > fp64) << s.report.message;
    EXPECT_LE(s.report.iterations, 2 * most);
    EXPECT_EQ(s.report.precision.back().vectors, Real::f64) << s.report.message;
  }
}

TEST_P(Precisions, OfAutoAreFp64WhereNothingMayStepUp) {
  Matrix const A = at_time(1, n);
  Solved const s = solved(A, random_column(n, 5),
                          "precision: auto\nstep_up: never\npreconditioner: {type: jacobi}\n"
                          "solver: {type: cg, execution: graph}\n");
  EXPECT_EQ(s.report.precision.back().values, Real::f64);
  EXPECT_THAT(s.setup.precision, StartsWith("fp64: with 'step_up: never'"));
}

/// A^T is not corrected: the entries are stored as they are, or it is refused by name.
TEST_P(Precisions, AsOneWordServeLeastSquares) {
  Matrix const A = at_time(1, n);
  Column const b = A * random_column(n, 6);
  Solved const s = solved(A, b, "precision: fp16\nsolver: {type: lsmr, rtol: 1e-9}\n");
  EXPECT_TRUE(s.report.solved()) << s.report.message;
  EXPECT_LE((A * s.x - b).norm(), 1e-6 * b.norm());
  try {
    solved(A, b, "operator: {values: fp16, diagonal: exact}\nsolver: {type: lsmr}\n");
    ADD_FAILURE() << "it was taken";
  } catch (ConfigError const& e) {
    EXPECT_THAT(e.what(), HasSubstr("'diagonal: exact' corrects products with A, and lsmr"));
  }
}

TEST_P(Precisions, AsOneWordSayWhatTheMethodHasNot) {
  Matrix const A = at_time(1, n);
  Solved const s = solved(A, random_column(n, 6),
                          "precision: fp32\nsolver: {type: block_cg}\n"
                          "preconditioner: {type: jacobi}\n");
  EXPECT_TRUE(s.report.converged()) << s.report.message;
  EXPECT_EQ(s.setup.precision, "fp32: the matrix alone, since block_cg has FP64 vectors");
}

TEST(PrecisionKeys, ThatMakeNoSenseAreRefusedWithTheReason) {
  auto const error = [](std::string const& yaml) -> std::string {
    try {
      LinearSolver::from_yaml(csr(laplace(10)).view(), yaml + "backend: host\n");
    } catch (ConfigError const& e) { return e.what(); }
    return "";
  };
  EXPECT_THAT(error("solver: {type: cg, vectors: fp32}\noperator: {values: fp64}\n"),
              HasSubstr("stored in fp32 at the widest"));
  EXPECT_THAT(error("solver: {type: cg, basis: fp16}\n"), HasSubstr("unknown key 'basis'"));
  EXPECT_THAT(error("solver: {type: gmres, basis: fp64, vectors: fp32}\n"), HasSubstr("basis"));
  EXPECT_THAT(error("precision: fp32\nsolver: {type: cg}\noperator: {values: fp16}\n"),
              HasSubstr("'operator.values' is given beside 'precision: fp32'"));
  EXPECT_THAT(error("precision: auto\nsolver: {type: cg, vectors: fp32}\n"),
              HasSubstr("'solver.vectors' is given beside 'precision: auto'"));
  EXPECT_THAT(error("solver: {type: fgmres}\npreconditioner: {type: solver, values: fp64, vectors: "
                    "fp32, solver: {type: cg}}\n"),
              HasSubstr("stored in fp32 at the widest"));
  EXPECT_THAT(error("solver: {type: fgmres}\npreconditioner: {type: solver, vectors: fp32, solver: "
                    "{type: cg, vectors: fp64}}\n"),
              HasSubstr("fp32 here and fp64 in the inner solver"));
}

/// r is handed to a method at norm 1, and x is corrected in FP64: no tolerance is below what FP32
/// can hold.
TEST_P(Precisions, Fp32VectorsMeetATolerationBelowTheirRange) {
  Matrix const A = at_time(5, n);
  Column const b = 1e-150 * random_column(n, 14);
  Solved const s = solved(A, b,
                          "solver: {type: cg, vectors: fp32, baseline: absolute, atol: 1e-160}\n"
                          "preconditioner: {type: jacobi}\n");
  EXPECT_TRUE(s.report.converged()) << s.report.message;
  EXPECT_LE((1e150 * (b - A * s.x)).norm(), 1.01e-10);
}

}  // namespace
}  // namespace tcsolve::test
