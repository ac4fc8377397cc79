// SPDX-License-Identifier: Apache-2.0
/// Products of sparse vectors by their definition, in twofold arithmetic, and what they are tested
/// with.
#pragma once

#include <tcsolve/sparse/spmspv.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {

/// Index and value of each entry.
template <class T>
using Sparse = std::map<Index, T>;

template <class T>
SparseVector<T> in_space(Context& ctx, Index rows, Sparse<T> const& entries, int side) {
  std::vector<Index> indices;
  std::vector<T> values;
  for (auto const& [i, v] : entries) indices.push_back(i), values.push_back(v);
  return SparseVector<T>::from_entries(ctx, rows, indices, values, side);
}
template <class T>
Sparse<T> on_host(Context& ctx, SparseVector<T> const& x) {
  auto const [indices, values] = x.to_entries(ctx);
  Sparse<T> entries;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    EXPECT_TRUE(k == 0 || indices[k - 1] < indices[k]);
    entries[indices[k]] = values[k];
  }
  return entries;
}

/// `count` entries at random, or in one run.
template <class T>
Sparse<T> drawn(Index rows, Index count, bool clustered, unsigned seed) {
  std::mt19937 draw(seed);
  Sparse<T> entries;
  if (rows == 0) return entries;
  auto const any = [&] { return static_cast<Index>(draw() % static_cast<unsigned>(rows)); };
  Index const first = any();
  for (Index k = 0; k < count; ++k)
    entries[clustered ? (first + k) % rows : any()] = T(1 + draw() % 100) / T(16);
  return entries;
}

/// y = alpha A x + beta y as the definition says, and a bound of the error of each element.
template <class T>
struct ByDefinition {
  std::map<Index, long double> value, size;
};
template <class T>
ByDefinition<T> by_definition(Csr<double> const& a, SparseProduct<T> const& how, Sparse<T> const& x,
                              Sparse<T> const& old, Sparse<T> const* mask = nullptr) {
  ByDefinition<T> y;
  for (Index i = 0; i < a.rows; ++i) {
    if (mask != nullptr && mask->contains(i) == how.complement) continue;
    long double sum = 0, size = 0;
    bool any = false;
    auto const meet = [&](long double v, long double xj) {
      if (how.semiring == Semiring::plus_times)
        sum += v * xj, size += std::fabs(v * xj);
      else if (how.semiring == Semiring::or_and)
        sum = sum != 0 || (v != 0 && xj != 0) ? 1 : 0;
      else
        sum = any ? std::min(sum, xj) : xj;
      any = true;
    };
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (auto const at = x.find(a.columns[k]); at != x.end()) meet(a.values[k], at->second);
    if (how.semiring == Semiring::plus_times) sum *= how.alpha, size *= std::fabs(how.alpha);
    if (auto const at = old.find(i); how.beta != T(0) && at != old.end()) {
      if (how.semiring == Semiring::plus_times)
        sum += static_cast<long double>(how.beta) * at->second,
            size += std::fabs(static_cast<long double>(how.beta) * at->second), any = true;
      else
        meet(1, at->second);
    }
    if (any) y.value[i] = sum, y.size[i] = size;
  }
  return y;
}

template <class T>
void expect_product(Sparse<T> const& got, ByDefinition<T> const& wanted, double unit,
                    Index longest) {
  ASSERT_EQ(got.size(), wanted.value.size());
  for (auto const& [i, v] : wanted.value) {
    auto const at = got.find(i);
    ASSERT_TRUE(at != got.end()) << "row " << i;
    ASSERT_LE(std::fabs(static_cast<long double>(at->second) - v),
              1.01 * (longest + 3) * unit * wanted.size.at(i))
        << "row " << i;
  }
}

/// Every density, way and request on a matrix: multiply(how, x, y) against the definition.
template <class T, class Multiply>
void expect_products(Context& ctx, Csr<double> const& a, std::vector<SpmspvWay> const& ways,
                     Multiply const& multiply) {
  Index longest = 0;
  for (Index i = 0; i < a.rows; ++i)
    longest = std::max(longest, static_cast<Index>(a.row_columns(i).size()));
  double const unit = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
  unsigned seed = 1;
  for (int const side : {16, 32, 64})
    for (Index const count : {Index{0}, Index{1}, a.cols / 1000 + 2, a.cols / 20 + 3, 3 * a.cols})
      for (bool const clustered : {false, true}) {
        auto const x = drawn<T>(a.cols, count, clustered, ++seed);
        auto const old = drawn<T>(a.rows, a.rows / 50 + 1, !clustered, ++seed);
        auto const open = drawn<T>(a.rows, a.rows / 3 + 1, clustered, ++seed);
        SparseVector<T> const there = in_space(ctx, a.cols, x, side),
                              mask = in_space(ctx, a.rows, open, side);
        std::vector<SparseProduct<T>> requests{{},
                                               {.alpha = T(-2), .beta = T(0.5)},
                                               {.mask = &mask},
                                               {.beta = T(1), .mask = &mask, .complement = true},
                                               {.semiring = Semiring::or_and},
                                               {.beta = T(1), .semiring = Semiring::min_first}};
        for (std::size_t r = 0; r < requests.size(); ++r) {
          SCOPED_TRACE(cat("side ", side, ", ", x.size(), " entries, request ", r));
          SparseProduct<T>& how = requests[r];
          auto const wanted = by_definition(a, how, x, old, how.mask != nullptr ? &open : nullptr);
          Sparse<T> first;
          for (SpmspvWay const way : ways) {
            how.way = way;
            SparseVector<T> y = in_space(ctx, a.rows, old, side);
            multiply(how, there, y);
            auto const got = on_host(ctx, y);
            expect_product(got, wanted, unit, longest);
            if (testing::Test::HasFatalFailure()) return;
            if (way != ways.front()) EXPECT_EQ(got, first) << "another way, other bits";
            first = got;
          }
        }
      }
}

}  // namespace tcsolve::test
