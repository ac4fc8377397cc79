// SPDX-License-Identifier: Apache-2.0
/// Independent sets of the Context against a plain serial Luby's algorithm with the same words.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/sparse/independent_set.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

/// Round by round: members have the largest words, within the distance in the graph of A + A^T, of
/// those that wait.
std::vector<Index> round_by_round(Csr<double> const& a, int distance) {
  auto const n = static_cast<std::size_t>(a.rows);
  std::vector<std::vector<Index>> of(n);
  for (Index i = 0; i < a.rows; ++i)
    for (Index const j : a.row_columns(i)) of[i].push_back(j), of[j].push_back(i);
  auto const largest_around = [&](std::vector<std::uint32_t> word) {
    for (int step = 0; step < distance; ++step) {
      std::vector<std::uint32_t> const before = word;
      for (std::size_t i = 0; i < n; ++i)
        for (Index const j : of[i]) word[i] = std::max(word[i], before[j]);
    }
    return word;
  };
  std::vector<Index> numbers(n, -1);
  std::vector<std::uint32_t> word(n, 1);
  for (int round = 0; std::ranges::count(word, 0u) < a.rows; ++round) {
    for (Index i = 0; i < a.rows; ++i)
      if (word[i] != 0) word[i] = sparse::independent_word(i, round);
    std::vector<std::uint32_t> const most = largest_around(word);
    std::vector<std::uint32_t> joined(n);
    for (std::size_t i = 0; i < n; ++i)
      if (word[i] != 0 && word[i] == most[i]) joined[i] = 1, numbers[i] = 0;
    std::vector<std::uint32_t> const out = largest_around(joined);
    for (std::size_t i = 0; i < n; ++i)
      if (out[i] != 0) word[i] = 0;
  }
  Index count = 0;
  for (Index& number : numbers)
    if (number == 0) number = count++;
  return numbers;
}

TEST(IndependentWord, IsAnotherForEveryNumberAndRound) {
  for (int const round : {0, 1, 7}) {
    std::vector<std::uint32_t> words;
    for (Index const first : {0, (1 << 30) - 50000, std::numeric_limits<Index>::max() - 100000})
      for (Index i = first; i < first + 100000; ++i)
        words.push_back(sparse::independent_word(i, round));
    auto const [least, most] = std::ranges::minmax(words);
    EXPECT_GE(least, 1u);
    EXPECT_LE(most, 1u << 31);
    std::ranges::sort(words);
    EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
  }
  int same = 0;
  for (Index i = 0; i < 100000; ++i)
    same += sparse::independent_word(i, 0) == sparse::independent_word(i, 1);
  EXPECT_LE(same, 2);
}

template <class P>
class SparseIndependentSet : public BackendTest<P> {};
TYPED_TEST_SUITE(SparseIndependentSet, DoubleOnBoth, Label);

TYPED_TEST(SparseIndependentSet, IsThatOfRoundsOneByOne) {
  std::vector<Named> list;
  for (auto const& m : adversarial())
    if (m.matrix.rows == m.matrix.cols) list.push_back(m);
  list.push_back({"7-point", generate(Poisson7Params{.n = 14})});
  list.push_back({"27-point", generate(Poisson27Params{.n = 30})});
  list.push_back({"hubs", generate(RmatParams{11, 8, Coefficient::random})});
  list.push_back({"one-sided", random_matrix(2000, 2000, 5, 4)});
  // More vertices than one kernel takes from the start, in short rows and in long ones.
  list.push_back({"many, 27-point", generate(Poisson27Params{.n = 65})});
  for (Index const n : {3000, 300000}) {
    std::set<std::pair<Index, Index>> path;
    for (Index i = 0; i + 1 < n; ++i) path.insert({i, i + 1});
    list.push_back({cat("path of ", n, ", upper half"), with_entries(n, path)});
  }
  for (auto const& [name, a] : list)
    for (int const distance : {1, 2}) {
      SCOPED_TRACE(cat(name, ", distance ", distance));
      CsrStorage<double> const there(this->ctx(), a.view());
      auto const set = sparse::independent_set(this->ctx(), there.view(), distance);
      auto const wanted = round_by_round(a, distance);
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
