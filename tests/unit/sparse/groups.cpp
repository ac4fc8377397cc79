// SPDX-License-Identifier: Apache-2.0
/// What the lanes of a group do together (sparse/groups.hpp), where a host has a thread for each
/// lane: the host backend has one lane, and would not notice one that is left out or comes too
/// early.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/product_build.hpp>

#include <algorithm>
#include <barrier>
#include <numeric>
#include <random>
#include <thread>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

class Threads {
 public:
  Threads(int lane, int lanes, std::barrier<>& all, std::byte* scratch)
      : lane_(lane), lanes_(lanes), all_(&all), scratch_(scratch) {}
  int lane() const { return lane_; }
  int lanes() const { return lanes_; }
  void sync() const { all_->arrive_and_wait(); }
  template <class T>
  sparse::Strip<T> strip(std::size_t at) const {
    return {reinterpret_cast<T*>(scratch_ + at)};
  }

 private:
  int lane_, lanes_;
  std::barrier<>* all_;
  std::byte* scratch_;
};

class ThreadConverter : public host::Converter {
 public:
  ThreadConverter(Arena& arena, int lanes) : Converter(arena), lanes_(lanes) {}
  template <class F>
  void each_group(std::int64_t n, int, std::size_t bytes, F const& f) {
    EXPECT_LE(bytes, sparse::most_scratch);
    std::vector<double> scratch(bytes / sizeof(double) + 1, -7);
    std::barrier all(lanes_);
    std::vector<std::jthread> threads;
    for (int lane = 0; lane < lanes_; ++lane)
      threads.emplace_back([&, lane] {
        for (std::int64_t i = 0; i < n; ++i) {
          f(Threads(lane, lanes_, all, reinterpret_cast<std::byte*>(scratch.data())), i);
          all.arrive_and_wait();
        }
      });
  }

 private:
  int lanes_;
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

/// By four lanes as by one, in tables of several sizes, some of which are too small at first.
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
    auto const fresh = [&] { return ThreadConverter(ctx.arena(), 4); };
    sparse::ProductPattern const made =
        sparse::product_pattern(fresh, PatternView(a.view()), PatternView(b.view()), {});
    std::vector<double> values(wanted.size(), -1);
    ASSERT_EQ(made.pattern.entries, one.pattern().entries);
    sparse::product_values(fresh, made, a.view(), b.view(), values.data());
    EXPECT_EQ(to_host(ctx, made.pattern.with<double>(values.data())),
              to_host(ctx, one.pattern().with<double>(wanted.data())));
  }
}

}  // namespace
}  // namespace tcsolve::test
