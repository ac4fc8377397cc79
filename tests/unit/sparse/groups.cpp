// SPDX-License-Identifier: Apache-2.0
/// What the lanes of a group do together (sparse/groups.hpp), where a host has a thread for each
/// lane: the host backend has one lane, and would not notice one that is left out or comes too
/// early.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/sparse/host_groups.hpp>
#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/product_build.hpp>
#include <tcsolve/sparse/triple_product.hpp>
#include <tcsolve/sparse/triple_product_blocks_build.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <numeric>
#include <random>
#include <thread>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

/// Groups that go in step: a barrier, and the largest of what their lanes say.
struct InStep {
  explicit InStep(int lanes) : barrier(lanes) {}
  std::barrier<> barrier;
  std::atomic<std::int64_t> most = 0;
};

class Threads {
 public:
  Threads(int lane, int lanes, InStep& all, std::byte* scratch)
      : lane_(lane), lanes_(lanes), all_(&all), scratch_(scratch) {}
  int lane() const { return lane_; }
  int lanes() const { return lanes_; }
  void sync() const { all_->barrier.arrive_and_wait(); }
  template <class N>
  N most(N n) const {
    std::int64_t seen = all_->most.load();
    while (seen < n && !all_->most.compare_exchange_weak(seen, n)) {}
    sync();
    auto const all = static_cast<N>(all_->most.load());
    sync();
    all_->most = 0;
    sync();
    return all;
  }
  template <class T>
  sparse::Strip<T> strip(std::size_t at) const {
    return {reinterpret_cast<T*>(scratch_ + at)};
  }

 private:
  int lane_, lanes_;
  InStep* all_;
  std::byte* scratch_;
};

/// So many groups of so many lanes go in step.
class ThreadConverter : public host::Converter {
 public:
  ThreadConverter(Arena& arena, int lanes, int groups = 1)
      : Converter(arena), lanes_(lanes), groups_(groups) {}
  template <class F>
  void each_group(std::int64_t n, int lanes, std::size_t bytes, F const& f) {
    EXPECT_LE(bytes, sparse::most_scratch_of(lanes));
    std::int64_t const whole = n / groups_ * groups_;
    in_step(groups_, 0, whole, bytes, f);
    in_step(static_cast<int>(n - whole), whole, n, bytes, f);
  }
  template <class F>
  void each_block(std::int64_t n, std::size_t bytes, F const& f) {
    EXPECT_LE(bytes, sparse::most_scratch_of(sparse::block_lanes));
    in_step(1, 0, n, bytes, f);
  }

 private:
  /// f of first to end - 1, so many at a time.
  template <class F>
  void in_step(int groups, std::int64_t first, std::int64_t end, std::size_t bytes, F const& f) {
    if (first == end) return;
    std::vector<std::vector<double>> scratch(groups,
                                             std::vector<double>(bytes / sizeof(double) + 1, -7));
    InStep all(groups * lanes_);
    std::vector<std::jthread> threads;
    for (int g = 0; g < groups; ++g)
      for (int lane = 0; lane < lanes_; ++lane)
        threads.emplace_back([&, g, lane] {
          for (std::int64_t i = first + g; i < end; i += groups) {
            f(Threads(lane, lanes_, all, reinterpret_cast<std::byte*>(scratch[g].data())), i);
            all.barrier.arrive_and_wait();
          }
        });
  }
  int lanes_, groups_;
};

TEST(SparseGroups, KeysAreSorted) {
  std::mt19937_64 bits(3);
  Arena arena(Space::host);
  for (Index const n : {1, 2, 3, 4, 33, 64, 65, 256})
    for (int const lanes : {1, 2, 4, 8})
      for (int const step : {1, 3}) {
        std::vector<Index> wanted(n), keys(3 * 256, -1);
        for (Index& key : wanted) key = static_cast<Index>(bits() % 100);
        for (Index k = 0; k < n; ++k) keys[k * step] = wanted[k];
        std::ranges::sort(wanted);
        ThreadConverter(arena, lanes).each_group(1, lanes, 0, [&](auto const& group, std::int64_t) {
          sparse::sort_keys(group, sparse::Strip<Index>{keys.data(), step}, n);
        });
        for (Index k = 0; k < n; ++k)
          EXPECT_EQ(keys[k * step], wanted[k]) << n << " keys, " << lanes << " lanes, key " << k;
      }
}

/// Stably, in pieces that end within a warp or not, several times: no count is left behind.
TEST(SparseGroups, RowsAreOrderedBySize) {
  std::mt19937_64 bits(5);
  Arena arena(Space::host);
  host::Converter on(arena);
  for (std::int64_t const n : {0, 1, 31, 255, 256, 257, 5000}) {
    sparse::RowsBySize const rows(on, n);
    sparse::SizeCounts const counts = rows.counts();
    for (int turn = 0; turn < 4; ++turn) {
      bool const lengths = turn % 2 == 1, again = turn == 1;
      std::vector<std::uint32_t> size(n);
      for (std::int64_t i = 0; i < n; ++i) {
        size[i] = turn == 3 ? 4 : static_cast<std::uint32_t>(bits() % counts.sizes);
        counts.add(i, size[i]);
        rows.length()[i] = 3 * i;
      }
      rows.length()[n] = 0;
      if (again) counts.try_again(), counts.try_again();
      std::vector<Index> order(n), wanted(n);
      sparse::RowsFound const found = rows.order(on, size.data(), order.data(), lengths);
      std::iota(wanted.begin(), wanted.end(), 0);
      std::ranges::stable_sort(wanted, {}, [&](Index i) { return size[i]; });
      EXPECT_EQ(order, wanted) << n;
      EXPECT_EQ(found.again, again);
      EXPECT_EQ(found.entries, lengths ? 3 * n * (n - 1) / 2 : 0);
      for (std::uint32_t s = 0; s < found.begin.size(); ++s)
        EXPECT_EQ(found.begin[s], std::ranges::count_if(size, [&](auto of) { return of < s; }));
      if (lengths) EXPECT_EQ(rows.offsets()[n / 2], 3 * (n / 2) * (n / 2 - 1) / 2);
    }
  }
}

/// By four lanes as by one, in tables of several sizes, some of which are too small at first; by
/// groups alone and by three in step, whose rows are of different lengths; with columns kept from
/// the count, and without room for them.
TEST(SparseGroups, ProductsOfSeveralLanesAreThoseOfOne) {
  Context ctx(Backend::host);
  std::vector<std::pair<Csr<double>, Csr<double>>> list{
      {generate(Poisson7Params{.n = 4}), generate(Poisson7Params{.n = 4})},
      {generate(Poisson27Params{.n = 4}), generate(Poisson27Params{.n = 4})},
      {mixed_rows(30, 25, 4), mixed_rows(25, 400, 9)},
      {random_matrix(20, 150, 60, 5), random_matrix(150, 1200, 12, 6)}};
  for (auto& [a, b] : list) {
    // Whole numbers: this file may be compiled with contraction, the library is not.
    for (Csr<double>* m : {&a, &b})
      for (std::size_t k = 0; k < m->values.size(); ++k) m->values[k] = double(k % 13) - 5;
    sparse::Product const one(ctx, a.view(), b.view());
    std::vector<double> wanted(static_cast<std::size_t>(one.pattern().entries));
    one.values(ctx, a.view(), b.view(), wanted.data());
    for (int const groups : {1, 3})
      for (bool const keep : {true, false}) {
        auto const fresh = [&] { return ThreadConverter(ctx.arena(), 4, groups); };
        sparse::ProductPattern const made = sparse::product_pattern(
            fresh, PatternView(a.view()), PatternView(b.view()), {.keep = keep ? 2.0 : 0.0});
        std::vector<double> values(wanted.size(), -1);
        ASSERT_EQ(made.pattern.entries, one.pattern().entries);
        sparse::product_values(fresh, made, a.view(), b.view(), values.data());
        EXPECT_EQ(to_host(ctx, made.pattern.with<double>(values.data())),
                  to_host(ctx, one.pattern().with<double>(wanted.data())));
      }
  }
}

/// The same of P^T A P with one entry in a row of P: rows of A go to lanes.
TEST(SparseGroups, AggregatesOfSeveralLanesAreThoseOfOne) {
  Context ctx(Backend::host);
  std::vector<std::pair<Csr<double>, Csr<double>>> list{
      {generate(Poisson7Params{.n = 4}), random_matrix(64, 9, 1, 3)},
      {generate(Poisson27Params{.n = 4}), random_matrix(64, 3, 1, 4)},
      {mixed_rows(150, 150, 4), random_matrix(150, 40, 1, 5)}};
  for (auto& [a, p] : list) {
    for (Csr<double>* m : {&a, &p})
      for (std::size_t k = 0; k < m->values.size(); ++k) m->values[k] = double(k % 13) - 5;
    Csr<double> const pt = transpose(p.view());
    sparse::TripleProduct const one(ctx, a.view(), p.view());
    std::vector<double> wanted(static_cast<std::size_t>(one.pattern().entries));
    one.values(ctx, a.view(), p.view(), wanted.data());
    for (int const groups : {1, 3}) {
      auto const fresh = [&] { return ThreadConverter(ctx.arena(), 4, groups); };
      auto on = fresh();
      auto const made = sparse::aggregate_pattern(
          on, PatternView(a.view()), PatternView(p.view()), PatternView(pt.view()), {},
          [&](PatternView const& left, sparse::RightFactor const& right) {
            return sparse::product_pattern(fresh, left, right, {});
          });
      ASSERT_TRUE(made);
      std::vector<double> values(wanted.size(), -1);
      ASSERT_EQ(made->pattern.entries, one.pattern().entries);
      sparse::aggregate_values(on, *made, a.view(), p.view(), PatternView(pt.view()),
                               values.data());
      EXPECT_EQ(to_host(ctx, made->pattern.with<double>(values.data())),
                to_host(ctx, one.pattern().with<double>(wanted.data())));
    }
  }
}

/// The same by blocks, some nodes at a time; there are none in the last aggregate.
TEST(SparseGroups, BlocksOfAggregatesAreThoseOfOneLane) {
  Context ctx(Backend::host);
  Csr<double> a = generate(ElasticityParams{.n = 4});
  Index const node = 3, coarse = 6, nodes = a.rows / node, aggregates = 5;
  Csr<double> p{.rows = a.rows, .cols = coarse * aggregates, .offsets = {0}};
  for (Index i = 0; i < p.rows; ++i) {
    Index const of = i / node * 7 % (aggregates - 1);
    for (Index s = 0; s < coarse; ++s) p.columns.push_back(of * coarse + s);
    p.offsets.push_back(static_cast<Offset>(p.columns.size()));
  }
  p.values.resize(p.columns.size());
  for (Csr<double>* m : {&a, &p})
    for (std::size_t k = 0; k < m->values.size(); ++k) m->values[k] = double(k % 13) - 5;
  sparse::TripleProduct const one(ctx, a.view(), p.view(), {}, node, coarse);
  std::vector<double> wanted(static_cast<std::size_t>(one.pattern().entries)), values(wanted);
  one.values(ctx, a.view(), p.view(), wanted.data());

  sparse::AggregateProduct plan;
  plan.factors = sparse::factors_by_blocks(ctx, a.view(), p.view(), {node, node, coarse});
  ASSERT_TRUE(plan.factors);
  ASSERT_EQ(plan.factors->a.rows, nodes);
  plan.pt = sparse::Transpose(ctx, plan.factors->b.with<double>(nullptr)).release();
  ThreadConverter on(ctx.arena(), 4);
  auto made = sparse::aggregate_pattern(
      on, plan.factors->a.view(), plan.factors->b.view(), plan.pt.view(), {},
      [&](PatternView const& left, sparse::RightFactor const& right) {
        return sparse::product_pattern([&] { return ThreadConverter(ctx.arena(), 4); }, left, right,
                                       {});
      });
  ASSERT_TRUE(made);
  plan.made = std::move(*made);
  sparse::block_aggregate_values(on, plan, a.view(), p.view(), values.data());
  EXPECT_EQ(values, wanted);
}

/// Asks, and runs nothing.
struct ScratchConverter : host::Converter {
  using Converter::Converter;
  std::vector<int> asked;
  template <class F>
  void each_group(std::int64_t, int lanes, std::size_t bytes, F const&) {
    EXPECT_LE(bytes, sparse::most_scratch_of(lanes)) << lanes << " lanes";
    asked.push_back(lanes);
  }
};

/// Short aggregates have a part of a warp each, but where the rows of C are too long for it.
TEST(SparseGroups, AggregatesTakeNoMoreThanABlockHas) {
  Context ctx(Backend::host);
  Csr<double> const a = mixed_rows(4000, 4000, 7), p = random_matrix(4000, 3800, 1, 8),
                    pt = transpose(p.view());
  sparse::ProductLimits const limits{.walked = 1 << 20};
  host::GroupConverter each(ctx.arena());
  auto const made = sparse::aggregate_pattern(
      each, a.view(), p.view(), pt.view(), limits,
      [&](PatternView const& left, sparse::RightFactor const& right) {
        return sparse::product_pattern([&] { return host::GroupConverter(ctx.arena()); }, left,
                                       right, limits);
      });
  ASSERT_TRUE(made);
  ScratchConverter on(ctx.arena());
  sparse::aggregate_values(on, *made, a.view(), p.view(), PatternView(pt.view()),
                           static_cast<double*>(nullptr));
  EXPECT_TRUE(std::ranges::count(on.asked, sparse::part_lanes) > 0);
  EXPECT_TRUE(std::ranges::count(on.asked, 32) > 0);
}

}  // namespace
}  // namespace tcsolve::test
