// SPDX-License-Identifier: Apache-2.0
/// What ranks of devices do (sums, halos, loops), by everything that joins them, beside ranks of
/// the host.
#include <chrono>
#include <optional>

#include <tcsolve/app/run/rank_times.hpp>
#include <tcsolve/core/device_links.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/reductions.hpp>

#include <tests/ranks/ranks.hpp>

namespace tcsolve::test {
namespace {

class DeviceRanks : public OnEachWay {};
TCSOLVE_ON_EACH_WAY(DeviceRanks);

/// A rank's entries of v, in its Context's space.
Array<double> part_of(Context& ctx, Column const& v, std::vector<Index> const& at, int r) {
  return to_space(ctx, v.data() + at[r], static_cast<std::size_t>(at[r + 1] - at[r]));
}
Out<double> view(Context& ctx, Array<double>& v, Index cols = 1) {
  auto const rows = static_cast<Index>(v.size()) / cols;
  return {v.data(), rows, cols, cols, Layout::row_major, ctx.space()};
}

TEST_P(DeviceRanks, ProductsAndTransposesAreThoseOfTheWhole) {
  Csr<double> const a = generate(ConvdiffParams{.n = 14});
  Matrix const A = to_dense(a);
  Column const x = random_column(a.rows, 1), y0 = random_column(a.rows, 2);
  for (Deal const deal : {Deal::even, Deal::uneven, Deal::some_empty}) {
    auto const at = stretches(a.rows, 2, deal);
    Column y = y0, t = y0, z = y0;
    std::vector<double> dots(2);
    on_both([&](Context& ctx, int r) {
      auto const op = operator_of(ctx, deal_rows(ctx, a, at));
      Array<double> in = part_of(ctx, x, at, r), out = part_of(ctx, y0, at, r),
                    back = part_of(ctx, y0, at, r);
      // Both sets of what comes, and one again.
      for (int k = 0; k < 2; ++k) op->apply(ctx, 1.0, view(ctx, in), 0.0, view(ctx, back));
      op->apply(ctx, -0.5, view(ctx, in), 2.0, view(ctx, out));
      Array<double> sigma(ctx.space(), 1), with(ctx.space(), out.size());
      op->apply_dot(ctx, -2.0, view(ctx, in), view(ctx, with), sigma.data());
      dots[r] = to_host(ctx, sigma).front();
      std::ranges::copy(to_host(ctx, with), z.data() + at[r]);
      op->apply(ctx, 3.0, view(ctx, in), 0.0, view(ctx, back), Op::transpose);
      std::ranges::copy(to_host(ctx, out), y.data() + at[r]);
      std::ranges::copy(to_host(ctx, back), t.data() + at[r]);
    });
    EXPECT_NEAR(dots[0], -2 * x.dot(A * x), 1e-9);
    EXPECT_TRUE(same_bits(dots[0], dots[1]));
    EXPECT_LE((y - (2 * y0 - 0.5 * A * x)).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LE((z + 2 * A * x).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LE((t - 3 * A.transpose() * x).cwiseAbs().maxCoeff(), 1e-11);
  }
}

/// Row i has its neighbours, or the one before alone.
Csr<double> neighbours_of(Index n, bool both) {
  Csr<double> a;
  a.rows = a.cols = n;
  a.offsets = {0};
  for (Index i = 0; i < n; ++i) {
    if (i > 0) a.columns.push_back(i - 1), a.values.push_back(both ? 0.5 : 1.0);
    if (both && i + 1 < n) a.columns.push_back(i + 1), a.values.push_back(0.5);
    a.offsets.push_back(static_cast<Offset>(a.columns.size()));
  }
  return a;
}

/// A rank with few rows is a product ahead of one with many, which has not looked yet for what
/// came for the one before; and where one sends only, it is ahead by as much as there is room for.
TEST_P(DeviceRanks, ARankMayBeAheadWhereNoSumLiesBetweenProducts) {
  Index const n = on_devices() ? 400000 : 4000, few = 100, products = 300;
  for (bool const both : {true, false}) {
    // x_i becomes (x_{i-1} + x_{i+1}) / 2, or x_{i-1}, of which rank 0 needs nothing of the other.
    Csr<double> const a = neighbours_of(n, both);
    std::vector<Index> const at{0, few, n};
    Column const x0 = random_column(n, 1);
    Column x = x0, expected = x0;
    for (Index k = 0; k < products; ++k) {
      Column y = Column::Zero(n);
      for (Index i = 0; i < n; ++i)
        for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
          y[i] += a.values[e] * expected[a.columns[e]];
      expected = y;
    }
    on_both([&](Context& ctx, int r) {
      auto const op = operator_of(ctx, deal_rows(ctx, a, at));
      Array<double> in = part_of(ctx, x0, at, r), out = part_of(ctx, x0, at, r);
      for (Index k = 0; k < products; ++k) {
        op->apply(ctx, 1.0, view(ctx, in), 0.0, view(ctx, out));
        std::swap(in, out);
      }
      std::ranges::copy(to_host(ctx, in), x.data() + at[r]);
    });
    EXPECT_TRUE(x == expected) << both;  // a sum of two halves has one order
  }
}

TEST_P(DeviceRanks, SumsAreOfAllRanksWithTheSameBits) {
  for (Index const n : {5, 1000, 300000}) {
    auto const at = stretches(n, 2, Deal::uneven);
    Column const x = random_column(n, 1), y = random_column(n, 2);
    std::vector<double> dots(2), norms(2);
    on_both([&](Context& ctx, int r) {
      Array<double> u = part_of(ctx, x, at, r), v = part_of(ctx, y, at, r);
      Array<double> value(ctx.space(), 1);
      for (int again = 0; again < 50; ++again) {
        dot<double>(ctx, view(ctx, u), view(ctx, v), value.data());
        double const s = to_host(ctx, value).front();
        if (again > 0) EXPECT_TRUE(same_bits(s, dots[r]));
        dots[r] = s;
      }
      norms[r] = norm<double>(ctx, view(ctx, u));
    });
    EXPECT_TRUE(same_bits(dots[0], dots[1]));
    EXPECT_TRUE(same_bits(norms[0], norms[1]));
    EXPECT_NEAR(dots[0], x.dot(y), 1e-12 * x.norm() * y.norm());
    EXPECT_NEAR(norms[0], x.norm(), 1e-13 * x.norm());
  }
}

TEST_P(DeviceRanks, GramMatricesAreOfAllRanksWithTheSameBits) {
  Index const n = 400;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (Index const k : {2, 16, 40}) {  // of 40: more sums than one exchange has
    RowMajor const X = random_matrix(n, k, 6), Y = random_matrix(n, k, 7);
    Matrix const G = X.transpose() * Y;
    auto const at = stretches(n, 2, Deal::uneven);
    std::vector<std::vector<double>> made(2);
    on_both([&](Context& ctx, int r) {
      auto const rows = [&](RowMajor const& of) {
        return to_space(ctx, of.data() + std::int64_t{at[r]} * k,
                        static_cast<std::size_t>(at[r + 1] - at[r]) * k);
      };
      Array<double> x = rows(X), y = rows(Y), c(ctx.space(), static_cast<std::size_t>(k) * k);
      gram(ctx, view(ctx, x, k), view(ctx, y, k), c.data());
      made[r] = to_host(ctx, c);
    });
    EXPECT_LE((Eigen::Map<RowMajor>(made[0].data(), k, k) - G).cwiseAbs().maxCoeff(), 1e-12 * n);
    EXPECT_TRUE(same_bits(made[0], made[1])) << k;
  }
}

std::string config(std::string const& method, std::string const& execution,
                   std::string const& M = "jacobi") {
  return cat("solver: {type: ", method, ", rtol: 1.0e-9, max_iters: 20000, execution: ", execution,
             "}\npreconditioner: {type: ", M, "}\n");
}

TEST_P(DeviceRanks, EveryMethodSolvesAsOneRankDoes) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  for (std::string const method : {"cg", "chronopoulos_gear", "pipelined_cg", "minres", "bicgstab",
                                   "gmres", "fgmres", "deflated_cg", "lsmr"}) {
    bool const lsmr = method == "lsmr";
    std::string const M = lsmr ? "none" : "jacobi";
    Solved const one = by_one(a, b, config(method, "eager", M));
    bool const one_kernel =
        transport() == DeviceTransport::peer && (method == "cg" || method == "chronopoulos_gear" ||
                                                 method == "pipelined_cg" || method == "bicgstab");
    bool const graph = transport() != DeviceTransport::mpi && graphs_by_default();
    for (std::string const execution : {"eager", "graph", "persistent"}) {
      SCOPED_TRACE(method + " " + execution);
      Solved const two = by_both(Deal::uneven, a, b, config(method, execution, M));
      expect_alike(two, one, lsmr || method == "bicgstab" ? 0.15 : 0.03);
      bool const as_asked = execution == "graph" ? graph : execution == "eager" || one_kernel;
      if (on_devices() && as_asked) EXPECT_EQ(name(two.report.execution), execution);
    }
  }
}

TEST_P(DeviceRanks, TheSameBitsInEveryRunAndExecution) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  Solved const first = by_both(Deal::uneven, a, b, config("cg", "eager"));
  Solved const in_one_kernel = by_both(Deal::uneven, a, b, config("cg", "persistent"));
  for (int run = 0; run < 12; ++run) {
    std::string const execution = run % 3 == 0 ? "graph" : run % 3 == 1 ? "eager" : "persistent";
    Solved const& before = execution == "persistent" ? in_one_kernel : first;
    Solved const again = by_both(Deal::uneven, a, b, config("cg", execution));
    ASSERT_EQ(again.x, before.x);
    ASSERT_TRUE(same_bits(again.report.true_residual, before.report.true_residual));
  }
}

TEST_P(DeviceRanks, Preconditioners) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  for (std::string const M : {"none", "block_jacobi, block: 4", "chebyshev, degree: 3",
                              "solver, solver: {type: gmres, max_iters: 5}"}) {
    SCOPED_TRACE(M);
    expect_alike(by_both(Deal::some_empty, a, b, config("fgmres", "auto", M)),
                 by_one(a, b, config("fgmres", "auto", M)), 0.1);
  }
  std::string const schwarz =
      config("cg", "auto", "schwarz, parts: ranks, overlap: 1, inside: {type: ic}");
  expect_alike(by_both(Deal::even, a, b, schwarz), by_ranks(2, Deal::even, a, b, schwarz));
}

TEST_P(DeviceRanks, RowsInOwnColumnsMayHaveAnyFormat) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  for (std::string const& format : solver_registries().operators.names())
    for (std::string const values : {"fp64", "fp32"}) {
      SCOPED_TRACE(format + " " + values);
      std::string const yaml =
          cat(config("cg", "auto"), "operator: {format: ", format, ", values: ", values, "}\n");
      expect_alike(by_both(Deal::even, a, b, yaml), by_one(a, b, yaml), 0.1);
    }
}

TEST_P(DeviceRanks, BlockMethods) {
  Csr<double> const a = spd();
  Index const n = a.rows, k = 3;
  Matrix const B = random_matrix(n, k, 8);
  auto const at = stretches(n, 2, Deal::uneven);
  for (std::string const method :
       {"cg", "block_cg", "block_gmres", "pseudo_block_cg", "pseudo_block_gmres"}) {
    SCOPED_TRACE(method);
    Matrix X = Matrix::Zero(n, k);
    std::vector<std::vector<SolveReport>> reports(2);
    on_both([&](Context& ctx, int r) {
      LinearSolver solver(ctx, SolverOptions::from_yaml(config(method, "auto")));
      solver.set_matrix(deal_rows(ctx, a, at));
      reports[r] = solve_columns(solver, B, at[r], at[r + 1], X);
    });
    expect_columns_told_alike(reports);
    expect_columns_solved(a, B, X);
  }
}

/// A solve by two ranks that goes on until rank 1 ends it.
SolveReport endless(Context& ctx, int r, std::string const& execution,
                    decltype(SolveCall::progress) const& watched_by_1) {
  Csr<double> const a = generate(Poisson7Params{.n = 30, .coefficient = Coefficient::random});
  auto const at = stretches(a.rows, 2, Deal::even);
  LinearSolver solver(
      ctx, SolverOptions::from_yaml(cat("solver: {type: cg, rtol: 0, atol: 1.0e-300, max_iters: ",
                                        "100000000, stagnation_window: 0, execution: ", execution,
                                        "}\npreconditioner: {type: jacobi}\n")));
  solver.set_matrix(deal_rows(ctx, a, at));
  std::vector<double> b(static_cast<std::size_t>(at[r + 1] - at[r]), 1.0), x(b.size());
  SolveCall call;
  if (r == 1) call.progress = watched_by_1;
  auto const n = static_cast<Index>(b.size());
  return solver.solve(vector_view(b.data(), n).operator In<double>(), vector_view(x.data(), n),
                      call);
}

/// One that is asked alone ends all, at the same step.
TEST_P(DeviceRanks, WhoIsAskedToEndEndsAll) {
  for (std::string const execution : {"eager", "graph", "persistent"}) {
    std::vector<SolveReport> reports(2);
    on_both([&](Context& ctx, int r) {
      reports[r] =
          endless(ctx, r, execution, [](IterationEvent const& e) { return e.iteration < 5; });
    });
    EXPECT_EQ(reports[0].reason, Stop::cancelled);
    EXPECT_EQ(reports[1].reason, Stop::cancelled);
    EXPECT_EQ(reports[0].iterations, reports[1].iterations);
  }
}

/// A rank that throws while another one waits for its sum: nobody waits for long.
TEST_P(DeviceRanks, AFaultOfOneEndsTheWaitOfAll) {
  Csr<double> const a = spd();
  auto const at = stretches(a.rows, 2, Deal::even);
  std::vector<std::string> words(2);
  auto const started = std::chrono::steady_clock::now();
  auto const faulty = [&](Context& ctx, int r) {
    try {
      auto const op = operator_of(ctx, deal_rows(ctx, a, at));
      Array<double> x = part_of(ctx, Column::Ones(a.rows), at, r);
      norm<double>(ctx, view(ctx, x));
      if (r == 1) throw MatrixError("a fault");
      norm<double>(ctx, view(ctx, x));
    } catch (std::exception const& e) {
      words[r] = e.what();
      throw;
    }
  };
  EXPECT_THROW(on_both(faulty), MatrixError);
  EXPECT_EQ(words[0], "rank 1: a fault");
  EXPECT_EQ(words[1], "a fault");
  EXPECT_LT(seconds_since(started), on_devices() ? timeout : soon());
}

/// An observer of one rank throws while the loops of both run.
TEST_P(DeviceRanks, AFaultBesideALoopEndsAll) {
  for (std::string const execution : {"eager", "graph", "persistent"}) {
    SCOPED_TRACE(execution);
    auto struck = std::chrono::steady_clock::now();
    auto const faulty = [&](Context& ctx, int r) {
      endless(ctx, r, execution, [&](IterationEvent const& e) {
        if (e.iteration < 5) return true;
        struck = std::chrono::steady_clock::now();
        throw MatrixError("a fault");
      });
      ctx.communicator().agree(false);  // where the other one learns of it at the latest
    };
    EXPECT_THROW(on_both(faulty), MatrixError);
    EXPECT_LT(seconds_since(struck), on_devices() ? timeout : soon());
  }
}

TEST_P(DeviceRanks, PartsOfAnIterationAreTimedOnAll) {
  Csr<double> const a = generate(Poisson7Params{.n = 24});
  auto const at = stretches(a.rows, 2, Deal::uneven);
  std::vector<RankTimes> times(2);
  on_both([&](Context& ctx, int r) {
    LinearSolver solver(ctx, SolverOptions::from_yaml(config("cg", "auto")));
    solver.set_matrix(deal_rows(ctx, a, at));
    times[r] = time_parts(solver, 0.1);
  });
  for (RankTimes const& t : times) {
    EXPECT_GT(t.product, 0);
    EXPECT_GE(t.waiting, 0);
  }
  EXPECT_EQ(std::min(times[0].waiting, times[1].waiting), 0);
  EXPECT_TRUE(same_bits(times[0].halo, times[1].halo) && times[0].halo >= 0);
  EXPECT_TRUE(same_bits(times[0].sum, times[1].sum) && times[0].sum >= 0);
}

TEST_P(DeviceRanks, NewValuesAreThoseOfANewSolver) {
  Csr<double> const a = spd();
  Csr<double> c = a;
  for (double& v : c.values) v *= 2;
  Column const b = random_column(a.rows, 5);
  auto const at = stretches(a.rows, 2, Deal::even);
  Solved const expected = by_both(Deal::even, c, b, config("cg", "auto"));
  Column x = Column::Zero(a.rows);
  on_both([&](Context& ctx, int r) {
    LinearSolver solver(ctx, SolverOptions::from_yaml(config("cg", "auto")));
    solver.set_matrix(deal_rows(ctx, a, at));
    auto const n = static_cast<std::size_t>(at[r + 1] - at[r]);
    std::span<double const> const mine(b.data() + at[r], n);
    std::span<double> const to(x.data() + at[r], n);
    solver.solve(mine, to);
    Rows64 const rows(c, at[r], at[r + 1]);
    solver.update_values(std::span<double const>(rows.values));
    std::ranges::fill(to, 0.0);
    EXPECT_TRUE(solver.solve(mine, to).converged());
  });
  EXPECT_EQ(x, expected.x);
}

/// The rows of one rank are symmetric no longer, and a format that stored one half of them changes
/// what was recorded: all ranks record anew.
TEST_P(DeviceRanks, NewValuesMayChangeTheProductOfOneRank) {
  Csr<double> const a = generate(Poisson7Params{.n = 10});
  auto const at = stretches(a.rows, 2, Deal::even);
  Csr<double> c = a;
  for (Offset p = c.offsets[at[1]]; p < c.offsets[at[2]]; ++p)
    if (c.values[p] < 0) c.values[p] *= 1 + 0.01 * static_cast<double>(p % 7);
  Column const b = random_column(a.rows, 5);
  for (std::string const& format : solver_registries().operators.names()) {
    SCOPED_TRACE(format);
    std::string const yaml = cat(config("bicgstab", "auto"), "operator: {format: ", format, "}\n");
    Column x = Column::Zero(a.rows);
    on_both([&](Context& ctx, int r) {
      LinearSolver solver(ctx, SolverOptions::from_yaml(yaml));
      solver.set_matrix(deal_rows(ctx, a, at));
      auto const n = static_cast<std::size_t>(at[r + 1] - at[r]);
      std::span<double const> const mine(b.data() + at[r], n);
      std::span<double> const to(x.data() + at[r], n);
      EXPECT_TRUE(solver.solve(mine, to).converged());
      Rows64 const rows(c, at[r], at[r + 1]);
      solver.update_values(std::span<double const>(rows.values));
      std::ranges::fill(to, 0.0);
      EXPECT_TRUE(solver.solve(mine, to).converged());
    });
    EXPECT_LE((to_dense(c) * x - b).norm(), 1.01e-9 * b.norm());
  }
}

TEST(DeviceRanksAgree, TheAnswerIsTheSameHoweverDevicesAreJoinedGpu) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  std::optional<Solved> first;
  for (Way const way :
       {Way{Backend::cuda, DeviceTransport::mpi, true}, Way{Backend::cuda, DeviceTransport::mpi},
        Way{Backend::cuda, DeviceTransport::peer}, Way{Backend::cuda, DeviceTransport::nccl}}) {
    if (!lacks(way).empty()) continue;
    SCOPED_TRACE(way.text());
    Solved const now = by_ranks(2, Deal::uneven, a, b, config("gmres", "eager"), way);
    if (!first) first = now;
    EXPECT_EQ(now.report.iterations, first->report.iterations);
    EXPECT_LE((now.x - first->x).norm(), 1e-8 * first->x.norm());
  }
  if (!first) GTEST_SKIP() << "no device";
}

/// What a Context of two ranks says when it is made.
std::vector<std::string> notes_of(DeviceTransport transport, bool one_device, bool& devices) {
  struct Notes : Observer {
    void on(LogEvent const& e) override { lines.push_back(e.text); }
    std::vector<std::string> lines;
  };
  std::vector<std::string> said;
  run_threads(2, [&](Ranks& ranks) {
    Notes notes;
    int const device = one_device ? 0 : ranks.rank();
    Context ctx(Backend::cuda, {.device = device, .communicator = &ranks, .transport = transport},
                &notes);
    if (ranks.rank() != 0) return;
    said = notes.lines;
    devices = cuda::transport(*ctx.device()) == DeviceTransport::mpi;
  });
  return said;
}

TEST(DeviceRanksRefuse, OneDeviceForTwoGpu) {
  TCSOLVE_SKIP_IF_ABSENT(Backend::cuda);
  for (auto const transport :
       {DeviceTransport::peer, DeviceTransport::nccl, DeviceTransport::peer}) {
    bool by_hosts = false;
    EXPECT_THROW(notes_of(transport, true, by_hosts), Unsupported) << name(transport);
  }
}

/// Two devices without a link that kernels store over: who asks for that is told, else it is passed
/// over.
TEST(DeviceRanksRefuse, NoPeerAccessGpu) {
  std::string why;
  if (!cuda::available(why, 1)) GTEST_SKIP() << "two devices: " << why;
  struct Fault {
    Fault() { cuda::refuse_peer_access(true); }
    ~Fault() { cuda::refuse_peer_access(false); }
  } const fault;
  bool by_hosts = false;
  EXPECT_NE(words_of<Unsupported>([&] {
              notes_of(DeviceTransport::peer, false, by_hosts);
            }).find("does not reach the memory of device"),
            std::string::npos);
  std::vector<std::string> const notes = notes_of(DeviceTransport::automatic, false, by_hosts);
  ASSERT_FALSE(notes.empty());
  EXPECT_NE(notes[0].find("not joined by peer: "), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("take 'transport: nccl' or 'mpi'"), std::string::npos) << notes[0];
}

/// Where nothing is named, what does not work is passed over, with a note for each.
TEST(DeviceRanksRefuse, WhatFailsFallsToTheNextGpu) {
  TCSOLVE_SKIP_IF_ABSENT(Backend::cuda);
  bool by_hosts = false;
  std::vector<std::string> notes = notes_of(DeviceTransport::automatic, true, by_hosts);
  EXPECT_TRUE(by_hosts);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("not joined by peer: ranks 0 and 1 have the same device"),
            std::string::npos)
      << notes[0];
  EXPECT_NE(notes[1].find("not joined by nccl"), std::string::npos) << notes[1];
  std::string why;
  if (!cuda::available(why, 1)) GTEST_SKIP() << "two devices: " << why;
  // What is tried out brings wrong numbers.
  struct Fault {
    Fault(unsigned bits) { faults::fail_transports(bits); }
    ~Fault() { faults::fail_transports(0); }
  };
  auto const bit = [](DeviceTransport t) { return 1u << static_cast<int>(t); };
  {
    Fault const both(bit(DeviceTransport::peer) | bit(DeviceTransport::nccl));
    notes = notes_of(DeviceTransport::automatic, false, by_hosts);
    EXPECT_TRUE(by_hosts);
    ASSERT_EQ(notes.size(), 2u);
    EXPECT_NE(notes[0].find("to try it out"), std::string::npos) << notes[0];
  }
  Fault const all(~0u);
  for (auto const transport : {DeviceTransport::peer, DeviceTransport::mpi})
    EXPECT_THROW(notes_of(transport, false, by_hosts), Unsupported);
  EXPECT_THROW(notes_of(DeviceTransport::automatic, false, by_hosts), Unsupported);
}

}  // namespace
}  // namespace tcsolve::test
