// SPDX-License-Identifier: Apache-2.0
/// The memory that a rank is said to take before its matrix is read, against what the Contexts of
/// two ranks have held; and that a loop which has begun takes nothing more.
#include <deque>
#include <mutex>

#include <tcsolve/app/config/memory_plan.hpp>
#include <tcsolve/app/run/rank_plans.hpp>
#include <tcsolve/app/run/rank_times.hpp>
#include <tcsolve/core/faults.hpp>

#include <tests/ranks/ranks.hpp>
#include <tests/support/each_backend.hpp>

namespace tcsolve::test {
namespace {

class RankMemory : public OnHostOrDevices {};
TCSOLVE_ON_EACH_BACKEND(RankMemory);

Csr<double> large() {
  return generate(Poisson7Params{.n = 72, .coefficient = Coefficient::random, .seed = 3});
}

/// Solvers, and preconditioners whose memory is counted.
std::vector<std::string> configs() {
  std::string const jacobi = "preconditioner: {type: jacobi}\n", csr = "operator: {format: csr}\n";
  return {"solver: {type: cg, rtol: 1.0e-6}\n" + jacobi + csr,
          "solver: {type: gmres, restart: 30, rtol: 1.0e-6}\n" + jacobi + csr,
          "solver: {type: bicgstab, rtol: 1.0e-6}\npreconditioner: {type: none}\n" + csr};
}

/// Notes how many allocations the process has made when an iteration is told.
struct AllocationsSeen : Observer {
  void on(IterationEvent const&) override {
    if (first < 0) first = memory_counters().allocations;
  }
  std::int64_t first = -1;
};

TEST_P(RankMemory, IsToldBeforeItIsTaken) {
  Csr<double> const a = large();
  auto const at = stretches(a.rows, 2, Deal::even);
  Column const b = random_column(a.rows, 1);
  for (std::string const& yaml : configs()) {
    SCOPED_TRACE(yaml);
    Column x = Column::Zero(a.rows);
    double predicted = 0, held = 0, before = 0;
    bool larger_before = false;
    std::mutex one;
    on_ranks(
        2,
        [&](Context& ctx, int r) {
          LinearSolver solver(ctx, SolverOptions::from_yaml(yaml));
          ProblemSize part;
          part.rows = part.cols = at[r + 1] - at[r];
          part.entries = a.offsets[at[r + 1]] - a.offsets[at[r]];
          double const mine = space_bytes(ctx, solver.parts(), false, part, a.cols);
          Ranks& ranks = all_ranks(ctx);
          if (r == 0) forget_host_peak(), before = double(memory_counters().host_bytes);
          double const peak = on_devices() ? double(cuda::peak_memory(*ctx.device())) : 0;
          barrier(ranks);
          solver.set_matrix(deal_rows(ctx, a, at));
          auto const n = static_cast<std::size_t>(at[r + 1] - at[r]);
          EXPECT_TRUE(solver
                          .solve(std::span<double const>(b.data() + at[r], n),
                                 std::span<double>(x.data() + at[r], n))
                          .converged());
          time_parts(solver, 0.01);
          barrier(ranks);
          std::lock_guard<std::mutex> const turn(one);
          predicted += mine;
          if (!on_devices()) return;
          larger_before = larger_before || peak > mine / 2;
          held += double(cuda::peak_memory(*ctx.device()));
        },
        60, GetParam());
    if (larger_before) GTEST_SKIP() << "the process has held more before";
    if (!on_devices()) held = double(memory_counters().most_host_bytes) - before;
    RecordProperty("predicted_over_held", cat(predicted / held));
    EXPECT_LE(std::abs(predicted - held), 0.1 * held)
        << "predicted " << predicted << ", held " << held;
  }
}

TEST_P(RankMemory, ALoopThatHasBegunTakesNothingMore) {
  Csr<double> const a = large();
  auto const at = stretches(a.rows, 2, Deal::even);
  Column const b = random_column(a.rows, 1);
  for (std::string const& yaml : configs()) {
    SCOPED_TRACE(yaml);
    Column x = Column::Zero(a.rows);
    std::int64_t first = 0, last = 0;
    on_ranks(
        2,
        [&](Context& ctx, int r) {
          LinearSolver solver(ctx, SolverOptions::from_yaml(yaml));
          solver.set_matrix(deal_rows(ctx, a, at));
          AllocationsSeen seen;
          ctx.attach(&seen);
          Ranks& ranks = all_ranks(ctx);
          auto const n = static_cast<std::size_t>(at[r + 1] - at[r]);
          solver.solve(std::span<double const>(b.data() + at[r], n),
                       std::span<double>(x.data() + at[r], n));
          if (r == 0) first = seen.first;
          barrier(ranks);
          if (r == 0) last = memory_counters().allocations;
          barrier(ranks);
          ctx.detach(&seen);
        },
        60, GetParam());
    EXPECT_GT(first, 0);
    EXPECT_EQ(first, last);
  }
}

/// A X, X row-major.
std::vector<double> product(Csr<double> const& a, std::vector<double> const& x, Index cols) {
  std::vector<double> y(static_cast<std::size_t>(std::int64_t{a.rows} * cols));
  for (Index i = 0; i < a.rows; ++i)
    for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
      for (Index c = 0; c < cols; ++c)
        y[std::int64_t{i} * cols + c] += a.values[e] * x[std::int64_t{a.columns[e]} * cols + c];
  return y;
}

/// Memory that halos share goes from one that has gone to the next.
TEST_P(RankMemory, HalosComeAndGo) {
  constexpr Index wide = 64;
  std::vector<Csr<double>> const systems{csr(laplace(60)), generate(ConvdiffParams{.n = 9}),
                                         generate(ConvdiffParams{.n = 20})};
  struct Given {
    std::vector<Index> at;
    std::vector<double> x, y, back;
  };
  std::vector<Given> given;
  for (Csr<double> const& a : systems) {
    Column const x = random_column(a.rows * wide, 1);
    Given g{stretches(a.rows, 2, Deal::uneven), {x.data(), x.data() + x.size()}, {}, {}};
    g.y = product(a, g.x, wide), g.back = product(transpose(a.view()), g.x, wide);
    given.push_back(std::move(g));
  }
  on_ranks(
      2,
      [&](Context& ctx, int r) {
        std::deque<std::pair<std::size_t, OperatorPtr<double>>> kept;
        for (std::size_t turn = 0; turn < 15; ++turn) {
          std::size_t const k = turn % systems.size();
          kept.emplace_back(k, operator_of(ctx, deal_rows(ctx, systems[k], given[k].at)));
          if (kept.size() > 2) kept.pop_front();
          for (auto const& [which, op] : kept) {
            Given const& g = given[which];
            Index const n = g.at[r + 1] - g.at[r];
            std::int64_t const first = std::int64_t{g.at[r]} * wide;
            auto const count = static_cast<std::size_t>(n) * wide;
            Array<double> x = to_space(ctx, g.x.data() + first, count), y(ctx.space(), count);
            Out<double> const X{x.data(), n, wide, wide, Layout::row_major, ctx.space()},
                Y{y.data(), n, wide, wide, Layout::row_major, ctx.space()};
            for (Op const way : {Op::none, Op::transpose}) {
              op->apply(ctx, 1.0, X, 0.0, Y, way);
              std::vector<double> const got = to_host(ctx, y);
              std::vector<double> const& due = way == Op::none ? g.y : g.back;
              double off = 0;
              for (std::size_t i = 0; i < count; ++i)
                off = std::max(off, std::abs(got[i] - due[first + static_cast<std::int64_t>(i)]));
              EXPECT_LE(off, 1e-11) << turn;
            }
          }
        }
      },
      60, GetParam());
}

/// At most so many bytes are said to be available; not beyond a test.
struct Available {
  explicit Available(std::int64_t bytes) { faults::limit_available_memory(bytes); }
  ~Available() { faults::limit_available_memory(-1); }
};

/// Another format than CSR is for where the vectors of the solve have room beside it.
TEST(FormatBesideVectors, IsTakenWhereTheSolveLeavesRoom) {
  Csr<double> const a = generate(Poisson27Params{.n = 20, .coefficient = Coefficient::random});
  auto const at = stretches(a.rows, 2, Deal::even);
  auto const formats = [&](std::string const& method) {
    std::vector<std::string> taken(2);
    on_ranks(2, [&](Context& ctx, int r) {
      LinearSolver solver(ctx, SolverOptions::from_yaml("solver: {type: " + method +
                                                        "}\npreconditioner: {type: jacobi}\n"));
      solver.set_matrix(deal_rows(ctx, a, at));
      taken[r] = solver.setup_report().format;
    });
    EXPECT_EQ(taken[0], taken[1]);
    return taken[0];
  };
  std::string const few = "cg", many = "gmres, restart: 300";
  EXPECT_NE(formats(many), "csr");
  Available const limit(2 << 20);  // the basis takes 10 MB a rank
  EXPECT_NE(formats(few), "csr");
  EXPECT_EQ(formats(many), "csr");
}

}  // namespace
}  // namespace tcsolve::test
