// SPDX-License-Identifier: Apache-2.0
/// New values and new patterns: a solver that has solved before answers, bit for bit, as one that
/// was made for the system at hand.
#include <tcsolve/core/faults.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/memory.hpp"

namespace tcsolve::test {
namespace {

class LinearSolverFollows : public OnEachBackend {
 protected:
  /// Solves with what solver has become and with a solver made of `a`.
  void expect_fresh(LinearSolver& solver, Csr<double> const& a, std::string const& yaml,
                    SolverOptions const& options) {
    Column const b = random_column(a.rows, 8);
    Column x = Column::Zero(a.cols), y = x;
    SolveReport const report = solve(solver, b, x);
    EXPECT_TRUE(report.solved()) << yaml << report.message;
    LinearSolver fresh(ctx(), a.view(), options);
    expect_same(report, x, solve(fresh, b, y), y);
  }
  void follows(std::string const& yaml) {
    SCOPED_TRACE(yaml);
    SolverOptions const options = SolverOptions::from_yaml(yaml);
    LinearSolver solver(ctx(), csr(at_time(0)).view(), options);
    for (double const time : {1.0, 2.5, -3.0}) {
      SCOPED_TRACE(time);
      Csr<double> a = csr(at_time(time));
      solver.update_values(a.view());
      Csr<double> const kept = a;
      a.values.assign(a.values.size(), 1e300);  // the caller's arrays are the caller's again
      expect_fresh(solver, kept, yaml, options);
    }
    Csr<double> const smaller = csr(at_time(1, 75));
    solver.set_matrix(smaller.view());
    expect_fresh(solver, smaller, yaml, options);
    Csr<double> const same = csr(at_time(0));
    solver.set_matrix(Csr<double>(same));
    solver.update_values(same.view());
    expect_fresh(solver, same, yaml, options);
  }
};
TCSOLVE_ON_EACH_BACKEND(LinearSolverFollows);

TEST_P(LinearSolverFollows, InEveryFormatAndOrder) {
  for (std::string const& format : solver_registries().operators.names())
    for (std::string const order : {"none", "rcm"})
      for (std::string const values : {"fp64", "fp32"})
        for (std::string const preconditioner : {"none", "jacobi"})
          follows(cat("solver: {type: cg}\npreconditioner: {type: ", preconditioner,
                      "}\noperator: {format: ", format, ", reorder: ", order, ", values: ", values,
                      "}\n"));
}

TEST_P(LinearSolverFollows, WithEveryMethod) {
  for (std::string const& method : solver_registries().solvers.names()) {
    if (method == "deflated_cg")
      continue;  // learns from earlier solves (tests/solve/deflated_cg.cpp)
    follows(cat("solver: {type: ", method, "}\npreconditioner: {type: ",
                method == "lsmr" ? "none" : "jacobi", "}\noperator: {format: csr}\n"));
  }
}

TEST_P(LinearSolverFollows, WithEveryPreconditioner) {
  for (std::string const block : {"{type: block_jacobi}", "{type: chebyshev}",
                                  "{type: chebyshev, preconditioner: {type: block_jacobi}}",
                                  "{type: solver, solver: {type: cg, max_iters: 5}}"})
    follows(cat("solver: {type: fgmres}\npreconditioner: ", block, "\n"));
}

// A value that a narrower type rounds to zero is taken by update_values() where set_matrix() took
// it.
TEST_P(LinearSolverFollows, WithValuesThatRoundToZero) {
  Csr<double> a = csr(at_time(0));
  a.values[1] = 1e-12;
  for (std::string const& format : solver_registries().operators.names()) {
    std::string const yaml =
        cat("solver: {type: gmres, rtol: 1e-3, max_iters: 3}\noperator: "
            "{format: ",
            format, ", values: fp16}\n");
    SCOPED_TRACE(yaml);
    LinearSolver solver(ctx(), a.view(), SolverOptions::from_yaml(yaml));
    EXPECT_NO_THROW(solver.update_values(a.view()));
    EXPECT_TRUE(solver.ready());
  }
}

// What the operator borrows goes after the operator, and after its conversion beside the caller.
TEST_P(LinearSolverFollows, GoesWhileItsFormatIsBeingConverted) {
  Csr<double> const a = generate(Poisson27Params{.n = 24, .coefficient = Coefficient::random});
  SolverOptions const options = SolverOptions::from_yaml(
      "solver: {type: cg}\npreconditioner: {type: jacobi}\noperator: {format: auto, conversion: "
      "lazy}\n");
  Context any_order(GetParam(), {.deterministic = false});
  for (int time = 0; time < 5; ++time) {
    LinearSolver solver(any_order, a.view(), options);
    EXPECT_TRUE(solver.ready());
  }
}

TEST_P(LinearSolverFollows, WithACacheOfOrders) {
  TemporaryFolder const folder;
  follows(cat("solver: {type: cg}\noperator: {format: ", converted_format().name,
              ", reorder: rcm}\ncache: {directory: ", folder.path().string(), "}\n"));
}

/// What the clock chooses answers right, if not with the same bits.
TEST_P(LinearSolverFollows, WhatTheClockHasChosen) {
  Context free(GetParam(), {.deterministic = false});
  for (std::string const keys :
       {"conversion: lazy", "autotune: measure, budget: 0.01",
        "autotune: measure, budget: 0.01, reorder: rcm", "conversion: lazy, reorder: rcm"}) {
    SCOPED_TRACE(keys);
    LinearSolver solver(
        free, csr(at_time(0)).view(),
        SolverOptions::from_yaml("solver: {type: cg, rtol: 1.0e-9}\npreconditioner: {type: "
                                 "jacobi}\noperator: {format: auto, " +
                                 keys + "}\n"));
    for (double const time : {1.0, 2.0}) {
      Matrix const now = at_time(time);
      solver.update_values(csr(now).view());
      Column const b = random_column(now.rows(), 8);
      Column x = Column::Zero(now.rows());
      EXPECT_TRUE(solve(solver, b, x).converged());
      expect_solved(now, b, x, 1e-9);
    }
  }
}

// ---- memory ----

TEST_P(LinearSolverFollows, CopiedArraysMayGoBorrowedOnesAreUsed) {
  Matrix const dense = at_time(1);
  Column const b = random_column(dense.rows(), 8);
  SolverOptions const options{.solver = "cg", .preconditioner = "jacobi", .matrix_operator = "csr"};
  auto a = std::make_unique<Csr<double>>(csr(dense));
  LinearSolver copied(ctx(), a->view(), options);
  LinearSolver borrowed(ctx(), a->view(), options, Arrays::borrowed);
  auto const values = [](LinearSolver const& solver) {
    return dynamic_cast<CsrOperator<double> const&>(*solver.A()).view().values;
  };
  EXPECT_NE(values(copied), a->values.data());
  bool const here = ctx().space() == Space::host;
  EXPECT_EQ(values(borrowed) == a->values.data(), here);
  Column x = Column::Zero(b.size()), y = x;
  SolveReport const report = solve(copied, b, x);
  expect_same(report, x, solve(borrowed, b, y), y);
  // The values change where they lie; the borrower hears of it.
  Matrix const now = at_time(2);
  std::ranges::copy(csr(now).values, a->values.begin());
  borrowed.update_values(a->view());
  EXPECT_EQ(values(borrowed) == a->values.data(), here);
  y.setZero();
  EXPECT_TRUE(solve(borrowed, b, y).converged());
  expect_solved(now, b, y, 1e-8);
  // A borrower lets old arrays go for new ones.
  Csr<double> const later = csr(at_time(3));
  borrowed.update_values(later.view());
  std::ranges::fill(a->values, 1e300);
  a.reset();
  y.setZero();
  EXPECT_TRUE(solve(borrowed, b, y).converged());
  expect_solved(at_time(3), b, y, 1e-8);
  x.setZero();
  EXPECT_TRUE(solve(copied, b, x).converged());
  expect_solved(dense, b, x, 1e-8);
}

/// In FP64 whatever the format and the order; the device's one kernel is made anew with its
/// program, so that a graph is asked for.
TEST_P(LinearSolverFollows, TakesNoMemoryAfterTheFirstSolves) {
  Csr<double> const a = csr(at_time(0));
  Column const b = random_column(a.rows, 8);
  Column x = Column::Zero(a.rows);
  std::vector<std::string> names{"auto"};
  for (auto const& A : in_every_format<double>(ctx(), a.view()))
    if (formats().find(A->name()) != nullptr) names.push_back(A->name());
  for (std::string const& format : names)
    for (std::string const order : {"none", "rcm"})
      for (std::string const method : {"cg", "bicgstab", "gmres"}) {
        SCOPED_TRACE(cat(format, ", ", order, ", ", method));
        LinearSolver solver(ctx(), a.view(),
                            SolverOptions::from_yaml(
                                cat("solver: {type: ", method, ", execution: graph}\n",
                                    "preconditioner: {type: jacobi}\n",
                                    "operator: {format: ", format, ", reorder: ", order, "}\n")));
        auto const again = [&] {
          x.setZero();
          EXPECT_TRUE(solve(solver, b, x).converged());
        };
        expect_no_memory(again);
        expect_no_memory([&] {
          solver.update_values(a.view());
          again();
        });
      }
}

// ---- errors ----

class LinearSolverState : public OnEachBackend {
 protected:
  void expect_solves(LinearSolver& solver, Matrix const& a) {
    EXPECT_TRUE(solver.ready());
    Column const b = random_column(a.rows(), 8);
    Column x = Column::Zero(a.cols());
    EXPECT_TRUE(solve(solver, b, x).converged());
    expect_solved(a, b, x, 1e-8);
  }
  void expect_empty(LinearSolver& solver) {
    EXPECT_FALSE(solver.ready());
    EXPECT_EQ(solver.A(), nullptr);
    EXPECT_EQ(solver.format(), "");
    std::vector<double> b(120, 1.0), x(120, 0.5);
    std::string const said = message_of<ShapeError>([&] { solver.solve(b, x); });
    EXPECT_NE(said.find("set_matrix"), std::string::npos) << said;
    EXPECT_EQ(x, std::vector<double>(120, 0.5));
    EXPECT_THROW(solver.update_values(csr(at_time(0)).view()), ShapeError);
    EXPECT_THROW(solver.refresh(), ShapeError);
  }
  SolverOptions const options_{.solver = "cg", .preconditioner = "jacobi"};
};
TCSOLVE_ON_EACH_BACKEND(LinearSolverState);

TEST_P(LinearSolverState, IsEmptyWithoutAMatrix) {
  LinearSolver solver(ctx(), options_);
  expect_empty(solver);
  solver.set_matrix(csr(at_time(1)));
  expect_solves(solver, at_time(1));
}

TEST_P(LinearSolverState, StaysWhereNothingWasTouched) {
  LinearSolver solver(ctx(), csr(at_time(1)).view(), options_);
  Csr<double> unsorted = csr(at_time(2));
  std::swap(unsorted.columns[0], unsorted.columns[1]);
  EXPECT_THROW(solver.set_matrix(unsorted.view()), MatrixError);
  EXPECT_THROW(solver.set_matrix(unsorted), MatrixError);
  expect_solves(solver, at_time(1));
  EXPECT_THROW(solver.update_values(csr(at_time(2, 119)).view()), ShapeError);
  Csr<double> one_less = csr(at_time(2));
  one_less.values.pop_back();
  one_less.columns.pop_back();
  --one_less.offsets.back();
  std::string const said = message_of<ShapeError>([&] { solver.update_values(one_less.view()); });
  EXPECT_NE(said.find("entries"), std::string::npos) << said;
  expect_solves(solver, at_time(1));
  std::vector<double> b(7, 1.0), x(120, 0.0);
  EXPECT_THROW(solver.solve(b, x), ShapeError);
  expect_solves(solver, at_time(1));
}

TEST_P(LinearSolverState, IsEmptyAfterASetupThatFailed) {
  Matrix broken = at_time(2);
  broken(17, 17) = 0;
  Csr<double> zero_diagonal = csr(at_time(2));
  for (Offset k = zero_diagonal.offsets[17]; k < zero_diagonal.offsets[18]; ++k)
    if (zero_diagonal.columns[k] == 17) zero_diagonal.values[k] = 0;
  for (std::string const order : {"none", "rcm"}) {
    SCOPED_TRACE(order);
    LinearSolver solver(
        ctx(), SolverOptions::from_yaml("solver: {type: cg}\npreconditioner: {type: jacobi}\n"
                                        "operator: {format: csr, reorder: " +
                                        order + "}\n"));
    solver.set_matrix(csr(at_time(1)));
    std::string said = message_of<SetupError>([&] { solver.set_matrix(csr(broken)); });
    EXPECT_NE(said.find("jacobi: the diagonal entry"), std::string::npos) << said;
    EXPECT_EQ(said.find("as reordered") != std::string::npos, order == "rcm") << said;
    EXPECT_EQ(solver.setup_report().format, "csr") << "how far it came";
    expect_empty(solver);
    solver.set_matrix(csr(at_time(1)));
    expect_solves(solver, at_time(1));
    EXPECT_THROW(solver.update_values(zero_diagonal.view()), SetupError);
    expect_empty(solver);
    solver.set_matrix(csr(at_time(3)));
    expect_solves(solver, at_time(3));
  }
}

TEST_P(LinearSolverState, IsEmptyAfterMemoryRanOut) {
  int failures = 0;
  bool pending = false;
  for (int n = 0; !pending; ++n) {
    SCOPED_TRACE(n);
    LinearSolver solver(ctx(), csr(at_time(1)).view(), options_);
    bool failed = false;
    faults::fail_allocation_after(n);
    try {
      solver.set_matrix(csr(at_time(2)));  // some formats are done without where they do not fit
    } catch (MemoryError const&) { failed = true; }
    pending = faults::pending();
    faults::fail_allocation_after(-1);
    if (failed) {
      ++failures;
      expect_empty(solver);
      solver.set_matrix(csr(at_time(2)));
    }
    expect_solves(solver, at_time(2));
  }
  EXPECT_GT(failures, 8);
}

TEST_P(LinearSolverState, ValuesThatTheFormatCannotHold) {
  LinearSolver solver(
      ctx(), csr(at_time(1)).view(),
      SolverOptions::from_yaml("solver: {type: cg}\n"
                               "operator: {format: csr, values: fp16, scale: refuse}\n"));
  Matrix huge = at_time(1);
  huge *= 1e9;
  std::string const said = message_of<SetupError>([&] { solver.update_values(csr(huge).view()); });
  EXPECT_EQ(said.find("operator {format: csr, values: fp16}: "), 0u) << said;
  expect_empty(solver);
}

}  // namespace
}  // namespace tcsolve::test
