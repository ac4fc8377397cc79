// SPDX-License-Identifier: Apache-2.0
/// Many systems by the options of a LinearSolver: the answers and the verdicts of one by one, what
/// is kept for new values, and what is refused.
#include <tcsolve/io/generators.hpp>
#include <tcsolve/matrix/csr_batch.hpp>
#include <tcsolve/solvers/driver/batch_report.hpp>

#include <gmock/gmock.h>

#include <cmath>

#include "tests/api/systems.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Nonsymmetric, of several sizes and patterns.
std::vector<Csr<double>> systems() {
  std::vector<Csr<double>> all;
  for (int n : {3, 5, 4})
    all.push_back(generate(ConvdiffParams{.n = n, .coefficient = Coefficient::random}));
  all.push_back(generate(BandedParams{.n = 77, .half_bandwidth = 4}));
  return all;
}

std::span<double const> span_of(Column const& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}
std::span<double> span_of(Column& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

template <class Thrown, class F>
std::string words_of(F const& f) {
  try {
    f();
  } catch (Thrown const& e) { return e.what(); }
  return "nothing was thrown";
}

class ManySystems : public OnEachBackend {
 protected:
  LinearSolver solver_of(std::string const& yaml) {
    return LinearSolver(ctx(), SolverOptions::from_yaml(yaml));
  }
};
TCSOLVE_ON_EACH_BACKEND(ManySystems);

TEST_P(ManySystems, AreSolvedAsOneByOne) {
  std::vector<Csr<double>> const each = systems();
  CsrBatch const batch = batch_of(each);
  Index const n = batch.matrix.rows;
  Column const b = random_column(n, 3);
  for (std::string const yaml :
       {"solver: {type: bicgstab, rtol: 1e-9}\npreconditioner: {type: jacobi}\n",
        "solver: {type: gmres, rtol: 1e-9, restart: 20}\n"}) {
    SCOPED_TRACE(yaml);
    LinearSolver solver = solver_of(yaml);
    solver.set_systems(batch.matrix.view(), batch.starts);
    EXPECT_EQ(solver.systems(), 4);
    EXPECT_FALSE(solver.ready());
    EXPECT_EQ(solver.setup_report().format, "csr");
    Column x = Column::Zero(n);
    BatchReport const report = solver.solve_systems(span_of(b), span_of(x));
    ASSERT_EQ(report.count(), 4);
    EXPECT_EQ(report.converged(), 4);
    LinearSolver alone = solver_of(yaml);
    for (Index k = 0; k < 4; ++k) {
      Index const first = batch.starts[k], rows = batch.starts[k + 1] - first;
      Column const bk = b.segment(first, rows);
      Column y = Column::Zero(rows);
      alone.set_matrix(each[static_cast<std::size_t>(k)].view());
      SolveReport const one = solve(alone, bk, y);
      ASSERT_TRUE(one.converged()) << one.message;
      EXPECT_LE((x.segment(first, rows) - y).norm(), 1e-6 * y.norm()) << k;
      EXPECT_EQ(report.of(k).outcome(), one.outcome());
      EXPECT_NEAR(report.of(k).rhs_norm, one.rhs_norm, 1e-12 * one.rhs_norm);
    }
  }
}

/// New values have the bits of a new set-up, in whatever order they come; nothing is made anew that
/// takes them in place.
TEST_P(ManySystems, TakeNewValues) {
  CsrBatch const first = batch_of(systems());
  Csr<double> second = first.matrix;
  for (std::size_t k = 0; k < second.values.size(); ++k) second.values[k] *= 1 + 0.1 * (k % 3);
  Index const n = first.matrix.rows;
  Column const b = random_column(n, 5);
  for (std::string const M : {"none", "jacobi", "block_jacobi, block: 1"})
    for (Arrays const arrays : {Arrays::copied, Arrays::borrowed}) {
      SCOPED_TRACE(M);
      std::string const yaml =
          "solver: {type: bicgstab, rtol: 1e-9}\npreconditioner: {type: " + M + "}\n";
      LinearSolver solver = solver_of(yaml), fresh = solver_of(yaml);
      solver.set_systems(first.matrix.view(), first.starts, arrays);
      for (CsrView<double> const& a : {second.view(), first.matrix.view(), second.view()}) {
        solver.update_values(a);
        fresh.set_systems(a, first.starts);
        Column x = Column::Zero(n), y = Column::Zero(n);
        BatchReport const kept = solver.solve_systems(span_of(b), span_of(x));
        EXPECT_EQ(kept.converged(), 4);
        fresh.solve_systems(span_of(b), span_of(y));
        EXPECT_EQ(x, y);
      }
      EXPECT_EQ(solver.setup_report().updates, 3);
    }
}

TEST_P(ManySystems, FailAlone) {
  std::vector<Csr<double>> const each{csr(laplace(9)), csr(diagonal({1, -1, 2})), csr(laplace(20))};
  CsrBatch const batch = batch_of(each);
  LinearSolver solver = solver_of("solver: {type: cg}\n");
  solver.set_systems(batch.matrix.view(), batch.starts);
  Column const b = Column::Ones(32);
  Column x = Column::Zero(32);
  BatchReport const report = solver.solve_systems(span_of(b), span_of(x));
  EXPECT_EQ(report.converged(), 2);
  EXPECT_EQ(report.worst(), 1);
  EXPECT_EQ(report.of(1).outcome(), "indefinite_operator");
}

/// A system that broke down is worse than one that ran out of iterations, whatever its residual.
TEST_P(ManySystems, TheWorstIsThatOfTheLargestExitCode) {
  CsrBatch const batch = batch_of(std::vector{csr(laplace(50)), csr(diagonal({4, -1e-6, 4}))});
  LinearSolver solver = solver_of("solver: {type: cg, max_iters: 3, rtol: 1e-12}\n");
  solver.set_systems(batch.matrix.view(), batch.starts);
  Column b = Column::Ones(53);
  b[51] = 1e-9;
  Column x = Column::Zero(53);
  BatchReport const report = solver.solve_systems(span_of(b), span_of(x));
  EXPECT_EQ(report.of(0).outcome(), "max_iterations");
  EXPECT_EQ(report.of(1).exit_code(), 4) << report.of(1).message;
  EXPECT_EQ(report.worst(), 1);
}

TEST_P(ManySystems, RefuseWhatServesOneSystemAlone) {
  CsrBatch const batch = batch_of(systems());
  auto const refused = [&](std::string const& yaml) {
    LinearSolver solver = solver_of(yaml);
    return words_of<Unsupported>([&] { solver.set_systems(batch.matrix.view(), batch.starts); });
  };
  std::string const method = refused("solver: {type: minres}\n");
  EXPECT_THAT(method, HasSubstr("the solver 'minres' does not serve many systems at once"));
  for (char const* name : {"cg", "bicgstab", "gmres"}) EXPECT_THAT(method, HasSubstr(name));
  for (char const* name : {"lsmr", "fgmres", "auto"}) EXPECT_THAT(method, Not(HasSubstr(name)));
  EXPECT_THAT(refused("solver: {type: auto}\n"), HasSubstr("the solver 'auto'"));
  std::string const M = refused("solver: {type: gmres}\npreconditioner: {type: ilu}\n");
  EXPECT_THAT(M, HasSubstr("the preconditioner 'ilu'"));
  EXPECT_THAT(M, HasSubstr("none, jacobi, block_jacobi"));
  EXPECT_THAT(refused("solver: {type: cg}\npreconditioner: {type: auto}\n"),
              HasSubstr("the preconditioner 'auto'"));
  EXPECT_THAT(refused("solver: {type: cg}\noperator: {format: csr, values: fp32}\n"),
              HasSubstr("FP64"));
  EXPECT_THAT(refused("solver: {type: cg}\noperator: {reorder: rcm}\n"), HasSubstr("order given"));
  EXPECT_THAT(refused("solver: {type: cg}\nnullspace: {constant: true}\n"), HasSubstr("nullspace"));
  EXPECT_THAT(refused("solver: {type: cg}\nrenew: never\n"), HasSubstr("renew"));
  EXPECT_THAT(refused("solver: {type: cg, baseline: rows}\n"), HasSubstr("baseline: rows"));
}

/// Systems and a matrix take each other's place, and what is wrong with one leaves neither.
TEST_P(ManySystems, AndAMatrixTakeEachOthersPlace) {
  CsrBatch const batch = batch_of(std::vector{csr(laplace(5)), csr(laplace(7))});
  LinearSolver solver = solver_of("solver: {type: cg}\n");
  Column const b = Column::Ones(12);
  Column x = Column::Zero(12);
  EXPECT_THROW(solver.solve_systems(span_of(b), span_of(x)), ShapeError);
  solver.set_systems(batch.matrix.view(), batch.starts);
  EXPECT_THROW(solve(solver, b, x), ShapeError);
  EXPECT_EQ(solver.solve_systems(span_of(b), span_of(x)).converged(), 2);
  Column short_b = Column::Ones(11);
  EXPECT_THROW(solver.solve_systems(span_of(short_b), span_of(x)), ShapeError);
  EXPECT_THROW(solver.update_values(csr(laplace(12)).view()), ShapeError);
  EXPECT_EQ(solver.systems(), 2) << "checked before anything is touched";
  solver.set_matrix(batch.matrix.view());
  EXPECT_EQ(solver.systems(), 0);
  x.setZero();
  EXPECT_TRUE(solve(solver, b, x).converged());
  EXPECT_THROW(solver.solve_systems(span_of(b), span_of(x)), ShapeError);
  EXPECT_THROW(solver.set_systems(batch.matrix.view(), {0, 6, 12}), MatrixError) << "coupled";
  EXPECT_EQ(solver.systems(), 0);
  EXPECT_FALSE(solver.ready());
}

TEST_P(ManySystems, EndWhereTheyAreAskedTo) {
  std::vector<Csr<double>> const each(20, generate(Poisson7Params{.n = 6}));
  CsrBatch const batch = batch_of(each);
  LinearSolver solver = solver_of(
      "solver: {type: cg, rtol: 0, atol: 1e-300, max_iters: 100000000, stagnation_window: 0}\n");
  solver.set_systems(batch.matrix.view(), batch.starts);
  Column const b = Column::Ones(batch.matrix.rows);
  Column x = Column::Zero(b.size());
  std::stop_source stop;
  stop.request_stop();
  BatchReport const report =
      solver.solve_systems(span_of(b), span_of(x), {.stop = stop.get_token()});
  EXPECT_LT(report.converged(), 20);
  EXPECT_FALSE(ctx().cancelled()) << "the request of a solve goes with it";
  ctx().cancel();
  EXPECT_THROW(solver.update_values(batch.matrix.view()), Cancelled);
  ctx().clear_cancel();
}

}  // namespace
}  // namespace tcsolve::test
