// SPDX-License-Identifier: Apache-2.0
/// What tests of several ranks share: threads with a Context each, stretches of rows, matrices in
/// them.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <algorithm>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/comm/board.hpp>
#include <tcsolve/comm/threads.hpp>
#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/device.hpp>
#include <tcsolve/distributed/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/kernels/host/sums.hpp>

#include <tests/support/heap.hpp>
#include <tests/support/matrices.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {

/// Where ranks compute, and what joins them.
struct Way {
  Backend backend;
  DeviceTransport transport;
  bool one_device;  ///< all have the first one, else rank k has device k

  Way(Backend where = Backend::host, DeviceTransport by = DeviceTransport::automatic,
      bool one = false)
      : backend(where), transport(by), one_device(one) {}

  std::string text() const {
    if (backend == Backend::host) return "host";
    return cat("cuda_", name(transport), one_device ? "_on_one" : "");
  }
};

/// Why these ranks cannot be; "" where they can.
inline std::string lacks(Way const& way) {
  std::string why;
  if (way.backend == Backend::host) return "";
  if (!cuda::available(why, way.one_device ? 0 : 1)) return why;
  if (way.transport != DeviceTransport::nccl) return "";
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  return library != nullptr ? "" : dlerror();
}

/// f(ctx, rank) on each of `count` ranks, threads of this process. Under compute-sanitizer
/// (scripts/gpu-check) the others wait longer.
template <class F>
void on_ranks(int count, F const& f, double timeout = 20, Way way = {}) {
  run_threads(
      count,
      [&](Ranks& ranks) {
        int const device = way.backend == Backend::host || way.one_device ? 0 : ranks.rank();
        Context ctx(
            way.backend,
            {.device = device, .threads = 1, .communicator = &ranks, .transport = way.transport});
        f(ctx, ranks.rank());
      },
      std::getenv("TCSOLVE_UNDER_TOOL") != nullptr ? 20 * timeout : timeout);
}

/// Seconds within which ranks of the host throw what one throws: 0.15 at most on two cores beside
/// nine other programs. A sanitizer takes most of the time.
inline double soon() { return sanitized() ? 5 : 1; }

/// The words of the E that f() throws.
template <class E, class F>
std::string words_of(F const& f) {
  try {
    f();
  } catch (E const& e) { return e.what(); }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline Matrix to_dense(Csr<double> const& a) {
  Matrix dense = Matrix::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e) dense(i, a.columns[e]) = a.values[e];
  return dense;
}

inline bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }
inline bool same_bits(std::vector<double> const& a, std::vector<double> const& b) {
  return std::ranges::equal(a, b, [](double p, double q) { return same_bits(p, q); });
}

/// Every rank tells the same of a solve, each step of it, to the bit; seconds are each one's own.
inline void expect_told_alike(std::vector<SolveReport> const& reports) {
  SolveReport const& first = reports.front();
  for (SolveReport const& r : reports) {
    EXPECT_EQ(r.outcome(), first.outcome());
    EXPECT_EQ(r.iterations, first.iterations);
    EXPECT_TRUE(same_bits(r.true_residual, first.true_residual));
    ASSERT_EQ(r.history.size(), first.history.size());
    for (std::size_t k = 0; k < r.history.size(); ++k) {
      Record const &a = r.history[k], &b = first.history[k];
      ASSERT_EQ(a.iteration, b.iteration);
      ASSERT_TRUE(same_bits(a.norm, b.norm)) << "step " << a.iteration;
      ASSERT_TRUE(same_bits(a.true_residual, b.true_residual)) << "step " << a.iteration;
    }
  }
}

/// How rows are dealt: evenly, unevenly, or with ranks that have none.
enum class Deal { even, uneven, some_empty };

inline std::vector<Index> stretches(Index n, int ranks, Deal deal) {
  std::vector<Index> starts{0};
  for (int r = 1; r <= ranks; ++r) {
    double const part = double(r) / ranks;
    Index at = static_cast<Index>(n * part);
    if (deal == Deal::uneven) at = static_cast<Index>(n * part * part);
    if (deal == Deal::some_empty && r % 2 == 1 && r < ranks) at = starts.back();
    starts.push_back(r == ranks ? n : at);
  }
  return starts;
}

/// Rows [first, end) of a with columns of 64 bits.
struct Rows64 {
  std::vector<Offset> offsets{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  std::int64_t cols;

  Rows64(Csr<double> const& a, Index first, Index end) : cols(a.cols) {
    for (Index i = first; i < end; ++i) {
      columns.insert(columns.end(), a.row_columns(i).begin(), a.row_columns(i).end());
      values.insert(values.end(), a.row_values(i).begin(), a.row_values(i).end());
      offsets.push_back(static_cast<Offset>(columns.size()));
    }
  }
  /// With descending columns in every row.
  Rows64 reversed() const {
    Rows64 out = *this;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      std::reverse(out.columns.begin() + offsets[i], out.columns.begin() + offsets[i + 1]);
      std::reverse(out.values.begin() + offsets[i], out.values.begin() + offsets[i + 1]);
    }
    return out;
  }
  CsrView64 view() const {
    return {static_cast<Index>(offsets.size()) - 1,
            cols,
            static_cast<Offset>(columns.size()),
            offsets.data(),
            columns.data(),
            values.data(),
            Space::host};
  }
};

/// The rank's rows of a; starts of its columns where a is not square.
inline DistributedMatrix deal_rows(Context& ctx, Csr<double> const& a,
                                   std::vector<Index> const& starts,
                                   std::vector<Index> const& columns = {}) {
  auto const r = static_cast<std::size_t>(all_ranks(ctx).rank());
  Rows64 const rows(a, starts[r], starts[r + 1]);
  return DistributedMatrix(
      ctx, starts[r], rows.view(),
      columns.empty() ? std::nullopt : std::optional(columns[r + 1] - columns[r]));
}

/// A dense system's matrix over ranks, as an operator on CSR.
inline OperatorPtr<double> operator_of(Context& ctx, DistributedMatrix dealt) {
  auto const a = std::make_shared<DistributedMatrix>(std::move(dealt));
  OperatorPtr<double> own;
  alone(ctx, [&] { own = std::make_shared<CsrOperator<double>>(ctx, to_host(ctx, a->own())); });
  return std::make_shared<DistributedOperator>(own, std::make_shared<OuterPart>(ctx, a));
}

struct Solved {
  SolveReport report;
  Column x;
};

inline Solved by_one(Csr<double> const& a, Column const& b, std::string const& yaml) {
  Context ctx(Backend::host, {.threads = 1});
  LinearSolver solver = LinearSolver::from_yaml(ctx, a.view(), yaml);
  Solved out{{}, Column::Zero(a.cols)};
  out.report = solver.solve(std::span<double const>(b.data(), b.size()),
                            std::span<double>(out.x.data(), out.x.size()));
  return out;
}

inline Solved by_ranks(int ranks, Deal deal, Csr<double> const& a, Column const& b,
                       std::string const& yaml, Way way = {}) {
  auto const at = stretches(a.rows, ranks, deal);
  Solved out{{}, Column::Zero(a.cols)};
  std::vector<SolveReport> reports(static_cast<std::size_t>(ranks));
  on_ranks(
      ranks,
      [&](Context& ctx, int r) {
        LinearSolver solver(ctx, SolverOptions::from_yaml(yaml));
        solver.set_matrix(deal_rows(ctx, a, at));
        auto const n = static_cast<std::size_t>(at[r + 1] - at[r]);
        reports[r] = solver.solve(std::span<double const>(b.data() + at[r], n),
                                  std::span<double>(out.x.data() + at[r], n));
      },
      20, way);
  expect_told_alike(reports);
  out.report = reports.front();
  return out;
}

/// Tests of two ranks that go by everything which joins them: on the host, and on devices by each
/// transport. What needs a device for each rank is skipped where there is one.
class OnEachWay : public testing::TestWithParam<Way> {
 protected:
  static constexpr double timeout = 10;
  void SetUp() override {
    if (std::string const why = lacks(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  template <class F>
  void on_both(F const& f) const {
    on_ranks(2, f, timeout, GetParam());
  }
  Solved by_both(Deal deal, Csr<double> const& a, Column const& b, std::string const& yaml) const {
    return by_ranks(2, deal, a, b, yaml, GetParam());
  }
  bool on_devices() const { return GetParam().backend == Backend::cuda; }
  DeviceTransport transport() const { return GetParam().transport; }
};
#define TCSOLVE_ON_EACH_WAY(Suite)                                                           \
  INSTANTIATE_TEST_SUITE_P(by, Suite,                                                        \
                           testing::Values(Way{}, Way{Backend::cuda, DeviceTransport::peer}, \
                                           Way{Backend::cuda, DeviceTransport::nccl},        \
                                           Way{Backend::cuda, DeviceTransport::mpi},         \
                                           Way{Backend::cuda, DeviceTransport::mpi, true}),  \
                           [](auto const& info) { return info.param.text(); })

/// Tests of ranks on the host, and on two devices where there are two.
class OnHostOrDevices : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (std::string const why = lacks(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  bool on_devices() const { return GetParam() == Backend::cuda; }
};

/// The rank's rows [first, end) of A X = B, by a solver that has its rows of A; what it tells of
/// each column.
inline std::vector<SolveReport> solve_columns(LinearSolver& solver, Matrix const& B, Index first,
                                              Index end, Matrix& X) {
  Index const m = end - first, k = static_cast<Index>(B.cols());
  Matrix b = B.middleRows(first, m), x = Matrix::Zero(m, k);
  auto const reports = solver.solve_columns({b.data(), m, k, m, Layout::col_major},
                                            {x.data(), m, k, m, Layout::col_major});
  for (SolveReport const& report : reports) EXPECT_TRUE(report.converged()) << report.message;
  X.middleRows(first, m) = x;
  return reports;
}
/// Of each rank what it tells of each column.
inline void expect_columns_told_alike(std::vector<std::vector<SolveReport>> const& reports) {
  for (std::size_t j = 0; j < reports.front().size(); ++j) {
    std::vector<SolveReport> of_column;
    for (auto const& of_rank : reports) of_column.push_back(of_rank.at(j));
    expect_told_alike(of_column);
  }
}
/// To a relative residual of 1e-9.
inline void expect_columns_solved(Csr<double> const& a, Matrix const& B, Matrix const& X) {
  for (Index j = 0; j < B.cols(); ++j)
    EXPECT_LE((to_dense(a) * X.col(j) - B.col(j)).norm(), 1.01e-9 * B.col(j).norm());
}

inline Csr<double> spd() {
  return generate(Poisson7Params{.n = 12, .coefficient = Coefficient::random, .seed = 3});
}

inline void expect_alike(Solved const& many, Solved const& one, double slack = 0.03) {
  ASSERT_TRUE(one.report.converged()) << one.report.message;
  EXPECT_TRUE(many.report.converged()) << many.report.message;
  EXPECT_NEAR(many.report.iterations, one.report.iterations, 2 + slack * one.report.iterations);
  EXPECT_LE((many.x - one.x).norm(), 1e-6 * one.x.norm());
}

}  // namespace tcsolve::test
