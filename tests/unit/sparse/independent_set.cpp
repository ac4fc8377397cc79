// SPDX-License-Identifier: Apache-2.0
/// Independent sets of the Context against going through the vertices one by one by descending
/// priority.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/sparse/independent_set.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

/// The neighbours of each vertex in the graph of A + A^T, itself left out.
std::vector<std::set<Index>> neighbours(Csr<double> const& a) {
  std::vector<std::set<Index>> of(a.rows);
  for (Index i = 0; i < a.rows; ++i)
    for (Index const j : a.row_columns(i))
      if (i != j) of[i].insert(j), of[j].insert(i);
  return of;
}

std::vector<Index> one_by_one(Csr<double> const& a, int distance) {
  auto const of = neighbours(a);
  std::vector<Index> order(a.rows), numbers(a.rows, -1);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::greater{}, sparse::independent_priority);
  std::vector<bool> out(a.rows);
  for (Index const i : order) {
    if (out[i]) continue;
    numbers[i] = 0;
    for (Index const j : of[i]) {
      out[j] = true;
      if (distance == 1) continue;
      for (Index const k : of[j]) out[k] = out[k] || k != i;
    }
  }
  Index count = 0;
  for (Index& number : numbers)
    if (number == 0) number = count++;
  return numbers;
}

template <class P>
class SparseIndependentSet : public BackendTest<P> {};
TYPED_TEST_SUITE(SparseIndependentSet, DoubleOnBoth, Label);

TYPED_TEST(SparseIndependentSet, IsThatByDescendingPriority) {
  std::vector<Named> list;
  for (auto const& m : adversarial())
    if (m.matrix.rows == m.matrix.cols) list.push_back(m);
  list.push_back({"7-point", generate(Poisson7Params{.n = 14})});
  list.push_back({"27-point", generate(Poisson27Params{.n = 30})});
  list.push_back({"hubs", generate(RmatParams{11, 8, Coefficient::random})});
  list.push_back({"one-sided", random_matrix(2000, 2000, 5, 4)});
  std::set<std::pair<Index, Index>> path;
  for (Index i = 0; i + 1 < 3000; ++i) path.insert({i, i + 1});
  list.push_back({"path, upper half", with_entries(3000, path)});
  for (auto const& [name, a] : list)
    for (int const distance : {1, 2}) {
      SCOPED_TRACE(cat(name, ", distance ", distance));
      CsrStorage<double> const there(this->ctx(), a.view());
      auto const set = sparse::independent_set(this->ctx(), there.view(), distance);
      auto const wanted = one_by_one(a, distance);
      EXPECT_EQ(to_host(this->ctx(), set.numbers), wanted);
      EXPECT_EQ(set.count, a.rows - std::ranges::count(wanted, -1));
      Csr<double> const t = transpose(a.view());
      if (t.offsets != a.offsets || t.columns != a.columns) continue;
      auto const again =
          sparse::independent_set(this->ctx(), there.view(), distance, sparse::Edges::symmetric);
      EXPECT_EQ(to_host(this->ctx(), again.numbers), wanted);
    }
}

TYPED_TEST(SparseIndependentSet, WhatItCannotTakeIsRefused) {
  CsrStorage<double> const wide(this->ctx(), random_matrix(4, 5, 3, 1));
  CsrStorage<double> const square(this->ctx(), random_matrix(5, 5, 3, 1));
  EXPECT_THROW(sparse::independent_set(this->ctx(), wide.view(), 1), ShapeError);
  EXPECT_THROW(sparse::independent_set(this->ctx(), square.view(), 3), ShapeError);
}

}  // namespace
}  // namespace tcsolve::test
