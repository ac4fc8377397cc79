// SPDX-License-Identifier: Apache-2.0
/// Ranks that solve one system together (core/communicator.hpp), here threads of this process, each
/// with a Context on the host and a stretch of the rows. The rows of a rank are one chunk of a sum,
/// so that the sums of all ranks in rank order are those of one Context, bit by bit; and A is block
/// diagonal, so that a product needs nothing of another rank. A solve by all ranks then has to be
/// the solve of the whole system by one Context, in every bit.
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/norm_inf.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/projection.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/driver/batch.hpp>

#include <tests/support/backend.hpp>
#include <tests/support/block_solvers.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve::test {
namespace {

/// Where the ranks meet. Nobody waits for ever for one that has thrown, or that does not come.
class Meeting {
 public:
  explicit Meeting(int ranks) : posts_(static_cast<std::size_t>(ranks)) {}
  int ranks() const { return static_cast<int>(posts_.size()); }

  void gather(int rank, double const* mine, std::int64_t count, double* all) {
    posts_[static_cast<std::size_t>(rank)].assign(mine, mine + count);
    meet();
    for (std::vector<double> const& post : posts_) {
      if (post.size() != static_cast<std::size_t>(count)) fail("the ranks ask different things");
      all = std::copy(post.begin(), post.end(), all);
    }
    meet();  // all have read
  }
  /// A rank that has thrown comes no more.
  void leave() {
    std::lock_guard const lock(mutex_);
    left_ = true;
    turned_.notify_all();
  }

 private:
  [[noreturn]] static void fail(char const* why) { throw Error(why); }
  void meet() {
    std::unique_lock lock(mutex_);
    if (left_) fail("a rank has left");
    std::uint64_t const turn = turn_;
    if (++here_ == ranks()) {
      here_ = 0;
      ++turn_;
      return turned_.notify_all();
    }
    bool const over =
        turned_.wait_for(lock, std::chrono::seconds(60), [&] { return turn_ != turn || left_; });
    if (!over || turn_ == turn) fail("a rank did not come");
  }

  std::mutex mutex_;
  std::condition_variable turned_;
  std::vector<std::vector<double>> posts_;
  std::uint64_t turn_ = 0;
  int here_ = 0;
  bool left_ = false;
};

class ThreadRank : public Communicator {
 public:
  ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return meeting_.ranks(); }
  void gather(double const* mine, std::int64_t count, double* all) override {
    meeting_.gather(rank_, mine, count, all);
  }

 private:
  Meeting& meeting_;
  int rank_;
};

/// f(ctx, rank) on every rank; rethrows what the first rank that threw has thrown.
template <class F>
void on_ranks(int ranks, F const& f) {
  Meeting meeting(ranks);
  std::exception_ptr thrown;
  std::mutex first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadRank own(meeting, rank);
        Context ctx(Backend::host, {.threads = 1, .communicator = &own});
        f(ctx, rank);
      } catch (...) {
        {
          std::lock_guard const lock(first);
          if (!thrown) thrown = std::current_exception();
        }
        meeting.leave();
      }
    });
  for (std::thread& t : threads) t.join();
  if (thrown) std::rethrow_exception(thrown);
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::vector<double> part_of(std::vector<double> const& v, std::size_t first, std::size_t count) {
  auto const from = v.begin() + static_cast<std::ptrdiff_t>(first);
  return {from, from + static_cast<std::ptrdiff_t>(count)};
}

constexpr Index chunk_rows = 4096;  // of a partial sum on the host

TEST(Ranks, SizesAndDecisionsAreThoseOfAll) {
  std::int64_t const rows[] = {3, 0, 5};
  on_ranks(3, [&](Context& ctx, int rank) {
    Communicator& all = ctx.communicator();
    EXPECT_EQ(all.global_size(rows[rank]), 8);
    EXPECT_EQ(all.first_row(rows[rank]), rank == 2 ? 3 : rank == 1 ? 3 : 0);
    EXPECT_TRUE(all.agree(rank == 1));
    EXPECT_FALSE(all.agree(false));
    EXPECT_EQ(all.agree(1.0 + rank), 3.0);
    EXPECT_TRUE(std::isnan(all.agree(rank == 0 ? std::nan("") : 1.0)));
    EXPECT_EQ(ctx.asked(), Stop::running);
    EXPECT_EQ(ctx.asked(rank == 2), Stop::time_limit);
    if (rank == 0) ctx.cancel();
    EXPECT_EQ(ctx.asked(rank == 2), Stop::cancelled);
  });
  Context alone(Backend::host);
  EXPECT_FALSE(alone.communicator().extends_sums());
  EXPECT_EQ(alone.communicator().global_size(7), 7);
  EXPECT_EQ(alone.communicator().first_row(7), 0);
}

/// Sums and maxima of vectors and blocks, in a Context whose rows begin at `first`.
std::vector<double> sums_of(Context& ctx, std::vector<double> const& x,
                            std::vector<double> const& y, Index columns) {
  There<double> X(ctx, x), Y(ctx, y), C(ctx, std::vector<double>(columns * columns, 0));
  auto const n = static_cast<Index>(x.size());
  auto const block = [&](There<double>& v) {
    return Out<double>{v.data(), n / columns, columns, columns, Layout::row_major, ctx.space()};
  };
  There<double> scalars(ctx, std::vector<double>(4, 0));
  dot<double>(ctx, X.in(), Y.in(), scalars.data());
  dot2<double>(ctx, X.in(), Y.in(), scalars.data() + 1, scalars.data() + 2);
  max_abs<double>(ctx, X.in(), scalars.data() + 3);
  gram(ctx, block(X), block(Y), C.data());
  std::vector<double> out = scalars.all();
  for (double const c : C.all()) out.push_back(c);
  return out;
}

TEST(Ranks, SumsEndOverAllOfThem) {
  constexpr std::size_t n = chunk_rows, columns = 2;  // 2048 rows of 2: two parts of a Gram matrix
  std::vector<double> x = random_values(2 * n, 1), y = random_values(2 * n, 2);
  x[n + 17] = -5;  // the largest of all
  Context one(Backend::host, {.threads = 1});
  // A Gram matrix of 4096 rows has four parts; two ranks have two each, added in another order.
  std::vector<double> const whole = sums_of(one, x, y, columns),
                            half = sums_of(one, part_of(x, 0, n), part_of(y, 0, n), columns);
  std::vector<double> seen[2];
  on_ranks(2, [&](Context& ctx, int rank) {
    seen[rank] = sums_of(ctx, part_of(x, rank * n, n), part_of(y, rank * n, n), columns);
  });
  for (std::size_t k = 0; k < whole.size(); ++k) {
    SCOPED_TRACE(k);
    EXPECT_TRUE(same_bits(seen[0][k], seen[1][k]));
    EXPECT_NE(half[k], whole[k]);  // what a rank has alone
    if (k < 4)
      EXPECT_TRUE(same_bits(seen[0][k], whole[k])) << seen[0][k] << " is not " << whole[k];
    else
      EXPECT_NEAR(seen[0][k], whole[k], 1e-12 * n);
  }
}

TEST(Ranks, RandomNumbersDoNotDependOnThem) {
  std::vector<double> seen[2];
  on_ranks(2, [&](Context& ctx, int rank) {
    Vector<double> v(ctx.space(), rank == 0 ? 30 : 70);
    random_vector<double>(ctx, 5, v);
    seen[rank] = to_host(ctx, v.view().data, ctx.space(), v.rows());
  });
  Context one(Backend::host);
  Vector<double> v(one.space(), 100);
  random_vector<double>(one, 5, v);
  seen[0].insert(seen[0].end(), seen[1].begin(), seen[1].end());
  EXPECT_EQ(seen[0], to_host(one, v.view().data, one.space(), 100));
}

/// The blocks of the diagonal one after the other.
Csr<double> block_diagonal(std::vector<Csr<double>> const& blocks) {
  Csr<double> out;
  for (Csr<double> const& a : blocks) {
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
        out.columns.push_back(a.columns[e] + out.rows);
        out.values.push_back(a.values[e]);
      }
      out.offsets.push_back(out.entries());
    }
    out.rows = out.cols = out.rows + a.rows;
  }
  return out;
}

struct Answer {
  SolveReport report;
  Column x;
};

Answer answer_of(Context& ctx, Csr<double> const& a, Column const& b, std::string const& method) {
  auto const A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(a));
  auto const M = std::make_shared<Jacobi<double>>(ctx, A->view());
  auto const solver = make_solver(method, {.rtol = 1e-9, .max_iters = 3000}, Execution::eager, 20);
  solver->setup(ctx, A, M);
  Answer out{{}, Column::Zero(b.size())};
  out.report = solve(*solver, b, out.x);
  return out;
}

void expect_same(SolveReport const& a, SolveReport const& b) {
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.cause, b.cause);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.restarts, b.restarts);
  EXPECT_TRUE(same_bits(a.rhs_norm, b.rhs_norm));
  EXPECT_TRUE(same_bits(a.true_residual, b.true_residual));
  EXPECT_TRUE(same_bits(a.backward_error, b.backward_error));
  EXPECT_TRUE(same_bits(a.attainable, b.attainable));
  EXPECT_TRUE(same_bits(a.rowwise_error, b.rowwise_error));
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t k = 0; k < a.history.size(); ++k)
    EXPECT_TRUE(same_bits(a.history[k].norm, b.history[k].norm)) << "iteration " << k + 1;
}

/// One block a rank: the same system by all ranks and by one Context.
void expect_solved_alike(std::vector<Csr<double>> const& blocks, std::string const& method) {
  auto const ranks = static_cast<int>(blocks.size());
  Csr<double> const whole = block_diagonal(blocks);
  Column const b = random_column(whole.rows, 3);
  Context one(Backend::host, {.threads = 1});
  Answer const expected = answer_of(one, whole, b, method);
  ASSERT_TRUE(expected.report.converged()) << expected.report.message;
  std::vector<Answer> answers(blocks.size());
  on_ranks(ranks, [&](Context& ctx, int rank) {
    Index const rows = blocks[static_cast<std::size_t>(rank)].rows;
    auto const first = static_cast<Index>(ctx.communicator().first_row(rows));
    answers[static_cast<std::size_t>(rank)] =
        answer_of(ctx, blocks[static_cast<std::size_t>(rank)], b.segment(first, rows), method);
  });
  Index first = 0;
  for (Answer const& answer : answers) {
    expect_same(answer.report, expected.report);
    EXPECT_EQ(answer.x, expected.x.segment(first, answer.x.size()));
    first += static_cast<Index>(answer.x.size());
  }
}

Csr<double> chunk_of(std::uint64_t seed, Coefficient coefficient = Coefficient::random) {
  return generate(Poisson7Params{.n = 16, .coefficient = coefficient, .seed = seed});
}

class EveryMethod : public testing::TestWithParam<std::string> {};

TEST_P(EveryMethod, OfTwoRanksHasTheBitsOfOne) {
  Csr<double> const a = chunk_of(1), c = chunk_of(2, Coefficient::constant);
  ASSERT_EQ(a.rows, chunk_rows);
  expect_solved_alike({a, c}, GetParam());
  // The comparison can fail: a rank by itself goes another way.
  Context one(Backend::host, {.threads = 1});
  Column const b = random_column(2 * chunk_rows, 3);
  EXPECT_NE(answer_of(one, block_diagonal({a, c}), b, GetParam()).report.history.front().norm,
            answer_of(one, a, b.head(chunk_rows), GetParam()).report.history.front().norm);
}
INSTANTIATE_TEST_SUITE_P(Ranks, EveryMethod, testing::ValuesIn(methods()),
                         [](auto const& info) { return info.param; });

TEST(Ranks, ThreeGoOneWayAsWell) {
  expect_solved_alike({chunk_of(1), chunk_of(2), chunk_of(3)}, "cg");
}

/// Their parts are shorter than a chunk, so that the bits of one Context are not to be had; ranks
/// have the same ones all the same.
TEST(Ranks, BlockMethodsGoOneWayToo) {
  std::vector<Csr<double>> const blocks{chunk_of(1), chunk_of(2)};
  Csr<double> const whole = block_diagonal(blocks);
  Matrix const B = random_column(whole.rows * 2, 4).reshaped(whole.rows, 2);
  for (std::string const& method : methods("pseudo_block_cg pseudo_block_gmres")) {
    SCOPED_TRACE(method);
    auto const solved = [&](Context& ctx, Csr<double> const& a, Matrix const& b, Matrix& x) {
      auto const A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(a));
      auto const solver = make_block_solver(method, {.rtol = 1e-9, .max_iters = 3000});
      solver->setup(ctx, A, std::make_shared<Jacobi<double>>(ctx, A->view()));
      return solve_block(*solver, b, x);
    };
    Context one(Backend::host, {.threads = 1});
    Matrix X, parts[2];
    std::vector<SolveReport> const expected = solved(one, whole, B, X);
    std::vector<SolveReport> reports[2];
    on_ranks(2, [&](Context& ctx, int rank) {
      reports[rank] =
          solved(ctx, blocks[rank], B.middleRows(rank * chunk_rows, chunk_rows), parts[rank]);
    });
    for (std::size_t j = 0; j < expected.size(); ++j) {
      ASSERT_TRUE(reports[0][j].converged()) << reports[0][j].message;
      expect_same(reports[0][j], reports[1][j]);
      EXPECT_NEAR(reports[0][j].iterations, expected[j].iterations, 2);
    }
    for (int rank = 0; rank < 2; ++rank)
      EXPECT_LE((parts[rank] - X.middleRows(rank * chunk_rows, chunk_rows)).norm(),
                1e-6 * X.norm());
  }
}

/// Asks its Context to end at an iteration.
struct Impatient : Observer {
  Context* ctx = nullptr;
  void on(IterationEvent const& e) override {
    if (e.iteration == 7) ctx->cancel();
  }
};

TEST(Ranks, WhoIsAskedToEndEndsAll) {
  std::vector<Csr<double>> const blocks{chunk_of(1), chunk_of(2)};
  Answer answers[2];
  on_ranks(2, [&](Context& ctx, int rank) {
    Impatient observer;
    observer.ctx = &ctx;
    if (rank == 1) ctx.attach(&observer);
    answers[rank] = answer_of(ctx, blocks[rank], random_column(chunk_rows, rank), "cg");
  });
  EXPECT_EQ(answers[0].report.reason, Stop::cancelled);
  EXPECT_LT(answers[0].report.iterations, 20);
  expect_same(answers[0].report, answers[1].report);
}

TEST(Ranks, WhatHasNotLearntOfThemSaysSo) {
  auto const refused = [](char const* what, auto const& f) {
    try {
      on_ranks(2, [&](Context& ctx, int) { f(ctx); });
      ADD_FAILURE() << what << " is taken";
    } catch (Unsupported const& e) { EXPECT_STREQ(e.what(), cat(what, " over 2 ranks").c_str()); }
  };
  refused("a batch", [](Context& ctx) {
    BatchSolver batch(make_solver("cg", {}));
    batch.setup(ctx, chunk_of(1).view(), {0, chunk_rows});
  });
}

}  // namespace
}  // namespace tcsolve::test
