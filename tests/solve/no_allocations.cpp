// SPDX-License-Identifier: Apache-2.0
/// After the first solves a time loop takes no memory: new values, setup and solve go with what is
/// there, and the matrix is not copied.
#include <tcsolve/core/faults.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/formats.hpp>
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
      for (int i = 0; i < 2; ++i) step();
      MemoryCounters const before = memory_counters();
      for (int i = 0; i < 3; ++i) step();
      MemoryCounters const now = memory_counters();
      EXPECT_EQ(now.allocations, before.allocations);
      EXPECT_EQ(now.releases, before.releases);
      // b and x go and come; the rest are numbers.
      std::int64_t const copied = (now.copied_bytes - before.copied_bytes) / 3;
      EXPECT_LT(copied, 4 * vector_bytes + 16 * 1024);
      EXPECT_LT(copied, matrix_bytes / 4) << "the test means something";
    }
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
