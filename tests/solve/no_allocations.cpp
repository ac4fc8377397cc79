// SPDX-License-Identifier: Apache-2.0
/// After the first solves a time loop takes no memory: new values, setup and solve go with what is
/// there, and the matrix is not copied.
#include <algorithm>

#include <tcsolve/core/faults.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/formats.hpp>
#include <tests/support/memory.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

class TimeLoop : public InEveryPlace {};
TCSOLVE_IN_EVERY_PLACE(TimeLoop);

TEST_P(TimeLoop, TakesNoMemoryAndCopiesNoMatrix) {
  Csr<double> const a = generate(Poisson27Params{.n = 16, .coefficient = Coefficient::random});
  CsrStorage<double> there(ctx(), a.view());
  CsrView<double> const values = there.view();
  Column const b = Column::Ones(a.rows);
  Column x = Column::Zero(a.rows);
  auto const matrix_bytes = static_cast<std::int64_t>(a.values.size() * sizeof(double));
  std::int64_t const vector_bytes = std::int64_t{8} * a.rows;
  auto const M = std::make_shared<Jacobi<double>>(ctx(), values);
  for (auto const& A : in_every_format<double>(ctx(), values))
    for (std::string const& method : methods("cg bicgstab gmres")) {
      SCOPED_TRACE(cat(A->name(), ", ", method));
      auto solver = make_solver(method, {.rtol = 1e-8}, execution());
      solver->setup(ctx(), A, M);
      auto const step = [&] {
        A->update_values(ctx(), values);
        // One kernel is made anew with its program.
        if (execution() != Execution::persistent) solver->setup(ctx(), A, M);
        x.setZero();
        EXPECT_TRUE(solve(*solver, b, x).converged());
      };
      // b and x go and come; the rest are numbers.
      std::int64_t const copied = expect_no_memory(step);
      EXPECT_LT(copied, 4 * vector_bytes + 16 * 1024);
      EXPECT_LT(copied, matrix_bytes / 4) << "the test means something";
    }
}

/// FP32 vectors and narrow values: r is made anew on the way, from A in FP64.
TEST_P(TimeLoop, UpdatesTakeNoMemory) {
  Csr<double> const a = generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random});
  auto const A_true = std::make_shared<CsrOperator<double>>(ctx(), a.view());
  auto const M = std::make_shared<Jacobi<float>>(ctx(), A_true->view());
  Column const b = random_column(a.rows, 31);
  Column x = Column::Zero(a.rows);
  auto const check = [&]<class S>(S) {
    Csr<S> const narrow = converted<S>(a);
    CsrStorage<S> const there(ctx(), narrow);
    for (std::string const& method : methods("cg bicgstab")) {
      SCOPED_TRACE(cat(method, ", values of ", sizeof(S), " bytes"));
      auto const A = std::make_shared<CsrOperator<float, S>>(ctx(), narrow);
      auto solver = make_solver<float>(method, {.rtol = 1e-10}, execution());
      solver->setup_working(ctx(), A, M, A_true);
      auto const step = [&] {
        A->update_values(ctx(), there.view());
        // One kernel is made anew with its program.
        if (execution() != Execution::persistent) solver->setup_working(ctx(), A, M, A_true);
        x.setZero();
        SolveReport const report = solve(*solver, b, x);
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_GE(std::ranges::count(report.history, Mark::update, &Record::mark), 1);
      };
      expect_no_memory(step);
    }
  };
  check(float{});
  check(half{});
}

/// What holds nothing between two solves serves two solvers that are never at work at once.
TEST_P(TimeLoop, SolversShareTheirBases) {
  Csr<double> const a = generate(ConvdiffParams{.n = 8}),
                    other = generate(ConvdiffParams{.n = 8, .velocity = 3});
  CsrStorage<double> const here(ctx(), a.view()), there(ctx(), other.view());
  auto const A = std::make_shared<CsrOperator<double>>(ctx(), here.view()),
             B = std::make_shared<CsrOperator<double>>(ctx(), there.view());
  Column const b = Column::Ones(a.rows);
  auto const answer = [&](Solver& solver) {
    Column x = Column::Zero(a.rows);
    EXPECT_TRUE(solve(solver, b, x).converged());
    return x;
  };
  for (auto const& [method, bases] : {std::pair{"gmres", 1}, std::pair{"fgmres", 2}}) {
    SCOPED_TRACE(method);
    auto const made = [&, &method = method](OperatorPtr<double> const& of, Solver const* with,
                                            std::int64_t& taken) {
      auto solver = make_solver(method, {.rtol = 1e-8}, execution());
      if (with != nullptr) solver->share(*with);
      std::int64_t const before = memory_counters().allocations;
      solver->setup(ctx(), of);
      taken = memory_counters().allocations - before;
      return solver;
    };
    std::int64_t first = 0, alone = 0, sharing = 0;
    auto const forward = made(A, nullptr, first), apart = made(B, nullptr, alone),
               beside = made(B, forward.get(), sharing);
    EXPECT_EQ(sharing, alone - bases);
    Column const x = answer(*forward), y = answer(*apart);
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_EQ(answer(*beside), y);
      EXPECT_EQ(answer(*forward), x);
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
