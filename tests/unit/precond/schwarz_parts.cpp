// SPDX-License-Identifier: Apache-2.0
/// Parts with their overlap, blocks and sums that are made where the matrix lies
/// (precond/schwarz/part_inverses.hpp) against searches by a queue and the definition.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/schwarz/part_inverses.hpp>
#include <tcsolve/precond/schwarz/schwarz.hpp>

#include <algorithm>
#include <random>
#include <set>

#include "tests/support/each_backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using Lists = std::vector<std::vector<Index>>;

class SchwarzPartsThere : public OnEachBackend {
 protected:
  Lists lists(sparse::OwnedPattern const& a) {
    std::vector<Offset> const offsets = offsets_to_host(ctx(), a.with<double>(nullptr));
    std::vector<Index> const columns = to_host(ctx(), a.columns);
    Lists rows;
    for (Index i = 0; i < a.rows; ++i)
      rows.emplace_back(columns.begin() + offsets[i], columns.begin() + offsets[i + 1]);
    return rows;
  }
};
TCSOLVE_ON_EACH_BACKEND(SchwarzPartsThere);

/// The same sets, ascending; a hub takes part in no overlap.
TEST_P(SchwarzPartsThere, AreThoseOfQueueSearches) {
  std::vector<Named> graphs{{"grid", generate(Poisson7Params{.n = 9})},
                            {"convdiff", generate(ConvdiffParams{.n = 8})},
                            {"random", random_matrix(400, 400, 3, 4)},
                            {"hubs", generate(RmatParams{9, 6, Coefficient::random})}};
  int full = 0;
  for (Named const& named : graphs)
    for (int const size : {1, 7, 60, 5000})
      for (int const overlap : {1, 2})
        for (Index const most : {12, 100, 3000})
          for (bool const restricted : {false, true}) {
            SCOPED_TRACE(cat(named.name, ", ", size, ", ", overlap, ", ", most, ", ", restricted));
            Csr<double> const& a = named.matrix;
            Graph const graph = adjacency(Pattern(a.view()));
            Parts const cut = parts_of(graph, size, PartsBy::grow);
            OverlappingParts wanted = with_overlap(graph, cut, overlap, most);
            Lists takers(static_cast<std::size_t>(a.rows));
            bool cut_short = false;
            for (std::size_t p = 0; p < wanted.rows.size(); ++p) {
              auto& rows = wanted.rows[p];
              auto const taken = restricted ? static_cast<std::size_t>(wanted.own[p]) : rows.size();
              for (std::size_t r = 0; r < taken; ++r)
                takers[rows[r]].push_back(static_cast<Index>(p));
              auto const all = static_cast<Index>(rows.size());
              cut_short = cut_short || all >= std::max(most, wanted.own[p]);
              std::ranges::sort(rows);
            }
            auto const got = parts_with_overlap(ctx(), CsrStorage<double>(ctx(), a.view()).view(),
                                                cut, overlap, most, restricted);
            if (!got) {
              EXPECT_TRUE(cut_short);
              ++full;
              continue;
            }
            EXPECT_EQ(lists(got->rows), wanted.rows);
            EXPECT_EQ(lists(got->takers), takers);
            EXPECT_EQ(got->count(), cut.count);
            double products = 0;
            for (auto const& of : takers)
              for (Index const p : of) products += double(wanted.rows[p].size());
            EXPECT_EQ(products_of(ctx(), *got), products);
          }
  EXPECT_GT(full, 0);
}

/// M of whole numbers, whose inverses are exact: each backend has the same bits.
TEST_P(SchwarzPartsThere, SumTheirInverses) {
  constexpr Index n = 300;
  std::mt19937 draw(3);
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    // Unit lower triangular, no entry above 1: no row is exchanged, inverses are of whole numbers.
    std::set<Index> columns{i};
    for (int k = 0; k < 3 && i > 0; ++k)
      columns.insert(std::max<Index>(0, i - 1 - static_cast<Index>(draw() % 20)));
    for (Index const j : columns)
      a.columns.push_back(j), a.values.push_back(j == i ? 1 : double(draw() % 3) - 1);
    a.offsets.push_back(a.entries());
  }
  CsrStorage<double> const there(ctx(), a.view());
  Parts const cut = parts_of(adjacency(Pattern(a.view())), 12, PartsBy::rows);
  for (bool const restricted : {false, true}) {
    auto const parts = parts_with_overlap(ctx(), there.view(), cut, 1, 1000, restricted);
    ASSERT_TRUE(parts);
    sparse::OwnedPattern const pattern = pattern_of_sum(ctx(), *parts);
    Array<double> sums(ctx().space(), static_cast<std::size_t>(pattern.entries));
    sum_inverses(ctx(), there.view(), *parts, pattern.view(), sums.data());
    Csr<double> const M = to_host(ctx(), pattern.with(std::as_const(sums).data()));
    validate(M.view());
    std::vector<std::vector<double>> exact(n, std::vector<double>(n, 0.0));
    Lists const rows = lists(parts->rows), takers = lists(parts->takers);
    for (std::size_t p = 0; p < rows.size(); ++p) {
      std::size_t const m = rows[p].size();
      std::vector<std::vector<double>> inverse(m, std::vector<double>(m, 0.0));
      for (std::size_t r = 0; r < m; ++r) {  // forward substitution
        inverse[r][r] = 1;
        for (Offset k = a.offsets[rows[p][r]]; k < a.offsets[rows[p][r] + 1]; ++k) {
          auto const at = std::ranges::lower_bound(rows[p], a.columns[k]);
          auto const c = static_cast<std::size_t>(at - rows[p].begin());
          if (c >= r || *at != a.columns[k]) continue;
          for (std::size_t j = 0; j <= c; ++j) inverse[r][j] -= a.values[k] * inverse[c][j];
        }
      }
      for (std::size_t r = 0; r < m; ++r)
        if (std::ranges::binary_search(takers[rows[p][r]], static_cast<Index>(p)))
          for (std::size_t c = 0; c < m; ++c) exact[rows[p][r]][rows[p][c]] += inverse[r][c];
    }
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        auto const columns = M.row_columns(i);
        auto const at = std::ranges::lower_bound(columns, j);
        double const got =
            at != columns.end() && *at == j ? M.row_values(i)[at - columns.begin()] : 0.0;
        ASSERT_EQ(got, exact[i][j]) << i << ", " << j;
      }
  }
}

/// From lists as searches make them, the part's own rows first.
TEST_P(SchwarzPartsThere, AreMadeOfLists) {
  Lists const given{{0, 2, 1}, {1, 3, 0, 2}};
  PartsThere const all = parts_from_lists(ctx(), 4, given, {2, 2}, false),
                   restricted = parts_from_lists(ctx(), 4, given, {2, 2}, true);
  EXPECT_EQ(lists(all.rows), (Lists{{0, 1, 2}, {0, 1, 2, 3}}));
  EXPECT_EQ(lists(all.takers), (Lists{{0, 1}, {0, 1}, {0, 1}, {1}}));
  EXPECT_EQ(lists(restricted.rows), lists(all.rows));
  EXPECT_EQ(lists(restricted.takers), (Lists{{0}, {1}, {0}, {1}}));
  EXPECT_EQ(products_of(ctx(), all), 9 + 16);
  EXPECT_EQ(products_of(ctx(), restricted), 3 + 4 + 3 + 4);
  EXPECT_EQ(all.starts, (std::vector<Offset>{0, 3, 7}));
}

}  // namespace
}  // namespace tcsolve::test
