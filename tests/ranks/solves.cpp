// SPDX-License-Identifier: Apache-2.0
/// LinearSolver over ranks: every method, format and preconditioner that ranks have, against one
/// rank; new values; and what goes wrong on one rank alone.
#include <chrono>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <tests/api/systems.hpp>
#include <tests/ranks/ranks.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve::test {
namespace {

class Method : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(ranks, Method,
                         testing::Values("cg", "chronopoulos_gear", "pipelined_cg", "minres",
                                         "bicgstab", "gmres", "fgmres", "deflated_cg", "lsmr"),
                         [](auto const& info) { return info.param; });

TEST_P(Method, SolvesAsOneRankDoes) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  bool const lsmr = GetParam() == "lsmr";
  std::string const yaml =
      cat("solver: {type: ", GetParam(),
          ", rtol: 1.0e-9, max_iters: 20000}\npreconditioner: {type: ", lsmr ? "none" : "jacobi",
          "}\n");
  Solved const one = by_one(a, b, yaml);
  for (int ranks : {1, 2, 3, 4}) {
    SCOPED_TRACE(ranks);
    expect_alike(by_ranks(ranks, ranks == 4 ? Deal::some_empty : Deal::uneven, a, b, yaml), one,
                 lsmr || GetParam() == "bicgstab" ? 0.15 : 0.03);
  }
}

TEST(RanksSolve, TheSameBitsInEveryRun) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  std::string const yaml = "solver: {type: cg, rtol: 1.0e-9}\npreconditioner: {type: jacobi}\n";
  Solved const first = by_ranks(3, Deal::uneven, a, b, yaml);
  for (int run = 0; run < 20; ++run) {
    Solved const again = by_ranks(3, Deal::uneven, a, b, yaml);
    ASSERT_EQ(again.x, first.x);
    ASSERT_TRUE(same_bits(again.report.true_residual, first.report.true_residual));
  }
}

TEST(RanksSolve, RowsInOwnColumnsMayHaveAnyFormat) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  for (std::string const& format : solver_registries().operators.names())
    for (std::string const values : {"fp64", "fp32"}) {
      SCOPED_TRACE(format + " " + values);
      std::string const yaml = cat(
          "solver: {type: cg, rtol: 1.0e-9}\npreconditioner: {type: jacobi}\noperator: {format: ",
          format, ", values: ", values, "}\n");
      expect_alike(by_ranks(2, Deal::even, a, b, yaml), by_one(a, b, yaml), 0.1);
    }
}

TEST(RanksSolve, VectorsOfFp32) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  std::string const yaml =
      "solver: {type: cg, vectors: fp32, rtol: 1.0e-9}\npreconditioner: {type: jacobi}\n";
  expect_alike(by_ranks(2, Deal::even, a, b, yaml), by_one(a, b, yaml), 0.3);
}

/// The Laplacian of a cube without a boundary condition: x is the shortest solution.
TEST(RanksSolve, WithANullspace) {
  Csr<double> a = spd();
  for (Index i = 0; i < a.rows; ++i) {  // row sums of 0
    double sum = 0;
    Offset diagonal = 0;
    for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
      if (a.columns[e] == i)
        diagonal = e;
      else
        sum += a.values[e];
    a.values[diagonal] = -sum;
  }
  Column b = random_column(a.rows, 5);
  b.array() -= b.mean();
  std::string const yaml =
      "solver: {type: cg, rtol: 1.0e-9}\npreconditioner: {type: jacobi}\nnullspace: {constant: "
      "true}\n";
  Solved const one = by_one(a, b, yaml);
  for (int ranks : {2, 4}) {
    Solved const many = by_ranks(ranks, Deal::some_empty, a, b, yaml);
    expect_alike(many, one);
    EXPECT_NEAR(many.x.mean(), 0, 1e-10 * many.x.norm());
  }
}

TEST(RanksSolve, BlockMethodsAndColumnsInTurn) {
  Csr<double> const a = spd();
  Index const n = a.rows, k = 3;
  Matrix const B = random_matrix(n, k, 8);
  for (std::string const method :
       {"cg", "block_cg", "block_gmres", "pseudo_block_cg", "pseudo_block_gmres"}) {
    SCOPED_TRACE(method);
    Matrix X = Matrix::Zero(n, k);
    auto const at = stretches(n, 2, Deal::uneven);
    std::vector<std::vector<SolveReport>> reports(2);
    on_ranks(2, [&](Context& ctx, int r) {
      LinearSolver solver(
          ctx, SolverOptions::from_yaml(cat("solver: {type: ", method,
                                            ", rtol: 1.0e-9}\npreconditioner: {type: jacobi}\n")));
      solver.set_matrix(deal_rows(ctx, a, at));
      reports[r] = solve_columns(solver, B, at[r], at[r + 1], X);
    });
    expect_columns_told_alike(reports);
    expect_columns_solved(a, B, X);
  }
}

// ---- preconditioners ----

TEST(RanksPrecondition, ByRowsOfTheDiagonal) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  for (std::string const M :
       {"none", "jacobi", "block_jacobi, block: 4", "chebyshev", "chebyshev, degree: 3",
        "solver, solver: {type: gmres, max_iters: 5}"}) {
    SCOPED_TRACE(M);
    std::string const yaml =
        cat("solver: {type: fgmres, rtol: 1.0e-9}\npreconditioner: {type: ", M, "}\n");
    expect_alike(by_ranks(2, Deal::even, a, b, yaml), by_one(a, b, yaml), 0.1);
    expect_alike(by_ranks(4, Deal::some_empty, a, b, yaml), by_one(a, b, yaml), 0.1);
  }
}

/// The spectrum is estimated of all rows: the same polynomial, but for rounding.
TEST(RanksPrecondition, ChebyshevIsThatOfOneRank) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  std::string const yaml = "solver: {type: cg, rtol: 1.0e-9}\npreconditioner: {type: chebyshev}\n";
  Solved const one = by_one(a, b, yaml), many = by_ranks(3, Deal::uneven, a, b, yaml);
  expect_alike(many, one, 0);
  EXPECT_NEAR(many.report.history[2].norm, one.report.history[2].norm,
              1e-8 * one.report.history[2].norm);
}

int iterations_with(std::string const& M, int ranks, std::string const& solver = "cg",
                    Csr<double> const& a = spd()) {
  Column const b = random_column(a.rows, 5);
  std::string const yaml =
      cat("solver: {type: ", solver, ", rtol: 1.0e-9}\npreconditioner: ", M, "\n");
  Solved const solved = ranks == 1 ? by_one(a, b, yaml) : by_ranks(ranks, Deal::even, a, b, yaml);
  EXPECT_TRUE(solved.report.converged()) << M << ": " << solved.report.message;
  EXPECT_LE((to_dense(a) * solved.x - b).norm(), 1.01e-9 * b.norm());
  return solved.report.iterations;
}

TEST(RanksPrecondition, SchwarzHasAnythingInside) {
  std::string const parts = "{type: schwarz, parts: ranks, overlap: ";
  int const ic = iterations_with("{type: ic}", 1), jacobi = iterations_with("{type: jacobi}", 1);
  for (std::string const overlap : {"0", "1"}) {
    SCOPED_TRACE(overlap);
    int const two = iterations_with(parts + overlap + ", inside: {type: ic}}", 2);
    // Rows in both parts are corrected once in all.
    EXPECT_LE(two, overlap == "0" ? 1.5 * ic + 2 : 1.15 * ic);
    EXPECT_LT(two, jacobi);
    EXPECT_EQ(iterations_with(parts + overlap + "}", 2), two);  // A is symmetric: ic
  }
  // A complete factorisation of all there is needs one step; of a block diagonal matrix too.
  EXPECT_LE(iterations_with(parts + "0, inside: {type: direct}}", 1), 2);
  int const without = iterations_with(parts + "0, inside: {type: direct}}", 3),
            layered = iterations_with(parts + "1, inside: {type: direct}}", 3);
  EXPECT_GT(without, 2);
  EXPECT_LT(layered, without);
  for (std::string const inside : {"fsai", "chebyshev", "schwarz", "amg"})
    iterations_with(parts + "1, inside: {type: " + inside + "}}", 2, "fgmres");
}

/// With every row of the others within one layer, each part is the whole system.
TEST(RanksPrecondition, WhereALayerIsAllRestrictedSchwarzIsExact) {
  Matrix dense = Matrix::Identity(20, 20) * 30 + random_matrix(20, 20, 3);
  EXPECT_LE(
      iterations_with("{type: schwarz, parts: ranks, overlap: 1, combine: restricted, inside: "
                      "{type: direct}}",
                      2, "gmres", csr(dense)),
      2);
}

TEST(RanksPrecondition, NonsymmetricPartsAreRestricted) {
  Matrix dense = to_dense(spd());
  for (Index i = 0; i + 1 < dense.rows(); ++i) dense(i, i + 1) *= 1.5;
  int const ilu = iterations_with("{type: ilu}", 1, "gmres", csr(dense));
  EXPECT_LE(iterations_with("{type: schwarz, parts: ranks, overlap: 1}", 2, "gmres", csr(dense)),
            1.5 * ilu + 2);
}

/// Rows of rank 1 alone are not symmetric, in their pattern and in their values: what a method and
/// M make of that is one word on all ranks, as by_ranks() asks, and none that is false.
TEST(RanksPrecondition, PatternsWhoseSymmetryDiffersHaveOneWord) {
  Matrix dense = to_dense(spd());
  Index const n = static_cast<Index>(dense.rows());
  for (Index i = n / 2; i + 1 < n; ++i) {
    if (i % 3 == 0) dense(i, i + 1) = 0;
    if (i % 3 == 1) dense(i, i + 1) *= 1.5;
  }
  Csr<double> const a = csr(dense);
  Column const b = Column::LinSpaced(n, 1, 2);
  for (std::string const solver : {"cg", "minres", "bicgstab", "gmres"})
    for (std::string const M : {"{type: jacobi}", "{type: schwarz, parts: ranks}",
                                "{type: schwarz, parts: ranks, overlap: 1}", "{type: fsai}",
                                "{type: spai}", "{type: auto}"}) {
      SCOPED_TRACE(solver + " with " + M);
      Solved const made = by_ranks(
          2, Deal::even, a, b,
          "solver: {type: " + solver + ", max_iters: 300}\n" + "preconditioner: " + M + "\n");
      double const residual = residual_norm(a, b, made.x) / b.norm();
      if (made.report.converged()) EXPECT_LE(residual, 1.01e-8);
      if (solver == "gmres" && M.find("schwarz") != std::string::npos)
        EXPECT_TRUE(made.report.converged()) << made.report.message;
    }
}

/// What each rank throws; "" where it throws nothing.
std::vector<std::string> said(int ranks, std::function<void(Context&, int)> const& f) {
  std::vector<std::string> out(static_cast<std::size_t>(ranks));
  on_ranks(ranks, [&](Context& ctx, int r) {
    try {
      f(ctx, r);
    } catch (Error const& e) { out[static_cast<std::size_t>(r)] = e.what(); }
  });
  return out;
}

// ---- auto ----

/// What auto takes for each of these, by one rank and by several; it goes on where a choice fails.
TEST(RanksAuto, ChoosesByTheWholeMatrix) {
  Matrix nonsymmetric = to_dense(spd());
  Index const n = static_cast<Index>(nonsymmetric.rows());
  // The one entry that shows it couples two ranks.
  ASSERT_NE(nonsymmetric(n / 2 - 1, n / 2 - 1 + 144), 0);
  nonsymmetric(n / 2 - 1, n / 2 - 1 + 144) *= 1.5;
  Matrix indefinite = laplace(60) - 0.3 * Matrix::Identity(60, 60);
  for (auto const& [a, solver] : {std::pair{spd(), "cg"}, std::pair{csr(nonsymmetric), "gmres"},
                                  std::pair{csr(indefinite), ""}}) {
    Column const b = random_column(a.rows, 5);
    Solved const solved =
        by_ranks(2, Deal::even, a, b, "solver: {type: auto, rtol: 1.0e-9}\npreconditioner: auto\n");
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    EXPECT_LE((to_dense(a) * solved.x - b).norm(), 1.01e-9 * b.norm());
    ASSERT_FALSE(solved.report.choices.empty());
    std::string const first = solved.report.choices.front().label;
    EXPECT_NE(first.find(solver), std::string::npos) << first;
    for (ChoiceReport const& choice : solved.report.choices) {
      if (choice.label.find(" ic") != std::string::npos)
        EXPECT_NE(choice.label.find("schwarz"), std::string::npos) << choice.label;
    }
  }
}

/// Unknown i + 1 stands in equation i: a rank's own columns are singular, so that its factors fail,
/// and those of all rows do not.
TEST(RanksAuto, EndsWithCompleteFactorsOfAllRows) {
  constexpr Index n = 210;
  Csr<double> a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    a.columns.push_back((i + 1) % n);
    a.values.push_back(2 + 0.1 * (i % 7));
    a.offsets.push_back(a.entries());
  }
  Column const b = random_column(n, 5);
  for (int ranks : {2, 3}) {
    Solved const solved = by_ranks(ranks, Deal::even, a, b,
                                   "solver: {type: auto, rtol: 1.0e-9}\npreconditioner: auto\n");
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    EXPECT_LE((to_dense(a) * solved.x - b).norm(), 1.01e-9 * b.norm());
    EXPECT_EQ(solved.report.choices.back().label, "gmres {restart: 50} with direct")
        << solved.report.message;
    EXPECT_GT(solved.report.choices.size(), 1u);
  }
}

/// What does not fit on a rank none begins, and the next choice is taken by all.
TEST(RanksAuto, GoesOnWhereAChoiceDoesNotFit) {
  Csr<double> const a = beam(1e-4);
  Column const b = random_column(a.rows, 1);
  struct Limit {  // jacobi fits, and factors of a part do not
    explicit Limit(std::int64_t bytes) { faults::limit_available_memory(bytes); }
    ~Limit() { faults::limit_available_memory(-1); }
  } const limit(5 * a.entries());
  Solved const solved =
      by_ranks(2, Deal::even, a, b, "solver: {type: auto, rtol: 1.0e-9}\npreconditioner: auto\n");
  EXPECT_TRUE(solved.report.converged()) << solved.report.message;
  ASSERT_EQ(solved.report.choices.size(), 4u) << solved.report.message;
  EXPECT_EQ(solved.report.choices[0].preconditioner, "jacobi");
  for (int k : {1, 2})
    EXPECT_NE(solved.report.choices[k].outcome.find("needs about"), std::string::npos)
        << solved.report.choices[k].outcome;
  EXPECT_EQ(solved.report.choices[3].preconditioner, "jacobi");
}

TEST(RanksAuto, InsideAnotherPreconditionerIsTheFirstThatRanksHave) {
  for (int ranks : {2, 3})
    iterations_with(
        "{type: solver, solver: {type: gmres, max_iters: 5}, preconditioner: {type: auto}}", ranks,
        "fgmres");
}

TEST(RanksAuto, NeedsASquareMatrix) {
  Csr<double> const a = csr(random_matrix(12, 8, 3));
  std::vector<std::string> const said_by = said(2, [&](Context& ctx, int) {
    LinearSolver(ctx, SolverOptions::from_yaml("solver: {type: auto}\n"))
        .set_matrix(deal_rows(ctx, a, {0, 6, 12}, {0, 4, 8}));
  });
  EXPECT_EQ(said_by[0],
            "auto over 2 ranks, of a matrix of 12 x 8; name lsmr, which needs no square one");
  EXPECT_EQ(said_by[1], said_by[0]);
}

// ---- new values ----

TEST(RanksSolve, NewValuesAreThoseOfANewSolver) {
  Csr<double> const a = spd();
  Csr<double> c = a;
  for (Index i = 0; i < c.rows; ++i)
    for (Offset e = c.offsets[i]; e < c.offsets[i + 1]; ++e)
      c.values[e] *= c.columns[e] == i ? 1.5 : 1.0;
  Column const b = random_column(a.rows, 5);
  for (std::string const M : {"{type: jacobi}", "{type: chebyshev}", "{type: fsai}", "{type: spai}",
                              "{type: schwarz, parts: ranks, overlap: 1, inside: {type: ic}}"}) {
    SCOPED_TRACE(M);
    std::string const yaml = cat("solver: {type: cg, rtol: 1.0e-9}\npreconditioner: ", M, "\n");
    Solved const expected = by_ranks(2, Deal::even, c, b, yaml);
    auto const at = stretches(a.rows, 2, Deal::even);
    Column x = Column::Zero(a.rows);
    on_ranks(2, [&](Context& ctx, int r) {
      LinearSolver solver(ctx, SolverOptions::from_yaml(yaml));
      solver.set_matrix(deal_rows(ctx, a, at));
      Rows64 const rows(c, at[r], at[r + 1]);
      solver.update_values(std::span<double const>(rows.values));
      auto const n = static_cast<std::size_t>(at[r + 1] - at[r]);
      EXPECT_TRUE(solver
                      .solve(std::span<double const>(b.data() + at[r], n),
                             std::span<double>(x.data() + at[r], n))
                      .converged());
    });
    EXPECT_EQ(x, expected.x);
  }
}

// ---- what is refused, and what fails on one rank ----

LinearSolver solver_of(Context& ctx, std::string const& yaml) {
  return LinearSolver(ctx, SolverOptions::from_yaml(yaml));
}

TEST(RanksRefuse, APreconditionerOfOneRank) {
  Csr<double> const a = spd();
  auto const at = stretches(a.rows, 2, Deal::even);
  auto const refusal = [&](std::string const& yaml) {
    auto const all =
        said(2, [&](Context& ctx, int) { solver_of(ctx, yaml).set_matrix(deal_rows(ctx, a, at)); });
    EXPECT_EQ(all[0], all[1]);
    return all[0];
  };
  EXPECT_EQ(refusal("solver: {type: cg}\npreconditioner: {type: ic}\n"),
            "the preconditioner 'ic' over 2 ranks; take preconditioner: {type: schwarz, parts: "
            "ranks, inside: {type: ic}} (its other keys go inside as well), or jacobi");
}

TEST(RanksRefuse, DifferentOptions) {
  Csr<double> const a = spd();
  auto const at = stretches(a.rows, 2, Deal::even);
  for (std::string const &what : said(2, [&](Context&ctx, int r) {
         solver_of(ctx, r == 0 ? "solver: {type: cg}\n" : "solver: {type: cg, rtol: 1.0e-5}\n")
             .set_matrix(deal_rows(ctx, a, at));
       }))
    EXPECT_EQ(what, "the options of rank 1 are not those of rank 0");
}

TEST(RanksFail, AVectorOfTheWrongLengthOnOneRankIsAnErrorOfAll) {
  Csr<double> const a = spd();
  auto const at = stretches(a.rows, 2, Deal::even);
  on_ranks(2, [&](Context& ctx, int r) {
    LinearSolver solver = solver_of(ctx, "solver: {type: cg}\n");
    solver.set_matrix(deal_rows(ctx, a, at));
    std::vector<double> b(at[r + 1] - at[r] + (r == 1), 1.0), x(at[r + 1] - at[r]);
    std::string const what = words_of<ShapeError>([&] { solver.solve(b, std::span<double>(x)); });
    EXPECT_EQ(what.find("rank 1: ") == 0, r == 0) << what;
    EXPECT_NE(what.find("b is"), std::string::npos) << what;
    b.resize(x.size());
    EXPECT_TRUE(solver.solve(b, std::span<double>(x)).converged());  // all is well again
  });
}

TEST(RanksFail, NaNOnOneRankIsTheVerdictOfAll) {
  Csr<double> const a = spd();
  Column b = random_column(a.rows, 5);
  b[a.rows - 1] = std::nan("");
  Solved const solved = by_ranks(2, Deal::even, a, b, "solver: {type: cg}\n");
  EXPECT_EQ(solved.report.outcome(), "nonfinite:rhs");
  Csr<double> c = a;
  c.values.back() = std::nan("");
  b[a.rows - 1] = 1;
  EXPECT_EQ(by_ranks(2, Deal::even, c, b, "solver: {type: cg}\n").report.reason, Stop::nonfinite);
}

TEST(RanksFail, APartThatHasNoFactorsIsTheSetUpErrorOfAll) {
  Csr<double> a = spd();
  for (Index i = a.rows - 3; i < a.rows; ++i)  // rows of rank 1 alone
    for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
      if (a.columns[e] == i) a.values[e] = 0;
  auto const at = stretches(a.rows, 2, Deal::even);
  auto const all = said(2, [&](Context& ctx, int) {
    solver_of(ctx, "solver: {type: cg}\npreconditioner: {type: jacobi}\n")
        .set_matrix(deal_rows(ctx, a, at));
  });
  EXPECT_FALSE(all[1].empty());
  EXPECT_EQ(all[0], "rank 1: " + all[1]);
}

/// A fault in each phase, on each rank: everybody hears of it, nobody waits.
TEST(RanksFail, AFaultInAnyPhaseEndsAll) {
  Csr<double> const a = spd();
  auto const at = stretches(a.rows, 3, Deal::even);
  struct Fault : Error {
    using Error::Error;
  };
  struct Thrower : Observer {
    int at;
    int seen = 0;
    void strike() {
      if (++seen == at) throw Fault("a fault");
    }
    void on(IterationEvent const&) override { strike(); }
    void on(PhaseEvent const&) override { strike(); }
  };
  int struck = 0;
  for (int guilty = 0; guilty < 3; ++guilty)
    for (int when : {1, 2, 3, 4, 5, 6, 8, 12, 20}) {
      std::vector<std::string> words(3);
      auto const start = std::chrono::steady_clock::now();
      try {
        on_ranks(3, [&](Context& ctx, int r) {
          Thrower thrower;
          thrower.at = when;
          if (r == guilty) ctx.attach(&thrower);
          try {
            LinearSolver solver =
                solver_of(ctx, "solver: {type: cg}\npreconditioner: {type: jacobi}\n");
            solver.set_matrix(deal_rows(ctx, a, at));
            std::vector<double> b(at[r + 1] - at[r], 1.0), x(b.size());
            solver.solve(b, std::span<double>(x));
          } catch (std::exception const& e) {
            words[r] = e.what();
            throw;
          }
        });
      } catch (std::exception const&) {
        ++struck;
        EXPECT_LT(seconds_since(start), soon());
        for (int r = 0; r < 3; ++r)
          EXPECT_NE(words[r].find("a fault"), std::string::npos)
              << "rank " << r << ", event " << when << " of rank " << guilty << ": " << words[r];
      }
    }
  EXPECT_EQ(struck, 27);
}

TEST(RanksSolve, WhoIsAskedToEndEndsAll) {
  Csr<double> const a = spd();
  auto const at = stretches(a.rows, 2, Deal::even);
  std::vector<SolveReport> reports(2);
  on_ranks(2, [&](Context& ctx, int r) {
    LinearSolver solver = solver_of(ctx, "solver: {type: cg, rtol: 1.0e-14, max_iters: 100000}\n");
    solver.set_matrix(deal_rows(ctx, a, at));
    std::vector<double> b(at[r + 1] - at[r], 1.0), x(b.size());
    SolveCall call;
    if (r == 1) call.progress = [](IterationEvent const& e) { return e.iteration < 5; };
    reports[r] = solver.solve(vector_view(b.data(), at[r + 1] - at[r]).operator In<double>(),
                              vector_view(x.data(), at[r + 1] - at[r]), call);
  });
  EXPECT_EQ(reports[0].reason, Stop::cancelled);
  EXPECT_EQ(reports[1].reason, Stop::cancelled);
  EXPECT_EQ(reports[0].iterations, reports[1].iterations);
  EXPECT_LT(reports[0].iterations, 20);
}

}  // namespace
}  // namespace tcsolve::test
