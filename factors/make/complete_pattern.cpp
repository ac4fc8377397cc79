// SPDX-License-Identifier: Apache-2.0
/// The patterns of complete factors, by the elimination tree.
#include <tcsolve/factors/make/incomplete.hpp>

#include <optional>

#include <tcsolve/factors/make/sparse_rows.hpp>

namespace tcsolve {

using namespace elimination;

namespace {

/// Adds up counts that stand one behind their place.
void accumulate(std::vector<Offset>& offsets) {
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
}

/// For each column of B the rows above its diagonal that have an entry there, ascending.
struct EntriesAbove {
  std::vector<Offset> begin;
  std::vector<Index> rows;
  EntriesAbove(Csr<double> const& B, CancelFlag cancel)
      : begin(static_cast<std::size_t>(B.rows) + 1, 0) {
    CancelEvery at_times(cancel, 4 * between_looks);  // no arithmetic
    auto const each = [&](auto const& f) {
      for (Index i = 0; i < B.rows; ++i) {
        at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
        for (Index const j : B.row_columns(i))
          if (j > i) f(i, j);
      }
    };
    each([&](Index, Index j) { ++begin[j + 1]; });
    accumulate(begin);
    rows.resize(static_cast<std::size_t>(begin.back()));
    std::vector<Offset> next(begin.begin(), begin.end() - 1);
    each([&](Index i, Index j) { rows[next[j]++] = i; });
  }
};

}  // namespace

std::optional<TriangularFactors> complete_pattern(Csr<double> const& B, Offset limit,
                                                  CancelFlag cancel) {
  EntriesAbove const above(B, cancel);
  Index const n = B.rows;
  std::vector<Index> parent(n, nobody), seen_by(n, nobody);
  // f(i, j) for the entries l_ij: the paths in the elimination tree from the columns of row i of B,
  // and of B^T, up to i. False where f says so.
  auto const visit = [&](auto const& f) {
    seen_by.assign(n, nobody);
    CancelEvery at_times(cancel, between_looks);
    for (Index i = 0; i < n; ++i) {
      at_times.add(1);
      seen_by[i] = i;
      auto const climb = [&](Index j) {
        for (; seen_by[j] != i; j = parent[j]) {
          at_times.add(1);
          if (parent[j] == nobody) parent[j] = i;
          seen_by[j] = i;
          if (!f(i, j)) return false;
        }
        return true;
      };
      for (Offset k = B.offsets[i]; k < B.offsets[i + 1] && B.columns[k] < i; ++k)
        if (!climb(B.columns[k])) return false;
      for (Offset k = above.begin[i]; k < above.begin[i + 1]; ++k)
        if (!climb(above.rows[k])) return false;
    }
    return true;
  };
  TriangularFactors factors;
  Csr<double>&L = factors.lower, &U = factors.upper;
  for (Csr<double>* part : {&L, &U}) {
    part->rows = part->cols = n;
    part->offsets.assign(static_cast<std::size_t>(n) + 1, 0);
  }
  Offset count = n;
  if (!visit([&](Index i, Index j) {
        ++L.offsets[i + 1];
        ++U.offsets[j + 1];
        return (count += 2) <= limit;
      }))
    return std::nullopt;
  for (Csr<double>* part : {&L, &U}) {
    accumulate(part->offsets);
    part->columns.resize(static_cast<std::size_t>(part->offsets[n]));
    part->values.assign(part->columns.size(), 0.0);
  }
  std::vector<Offset> next(U.offsets.begin(), U.offsets.end() - 1);
  visit([&](Index i, Index j) {
    U.columns[next[j]++] = i;
    return true;
  });
  next.assign(L.offsets.begin(), L.offsets.end() - 1);
  for (Index j = 0; j < n; ++j)
    for (Index const i : U.row_columns(j)) L.columns[next[i]++] = j;
  factors.inverse_pivots.assign(static_cast<std::size_t>(n), 1.0);
  factors.complete = true;
  return factors;
}

}  // namespace tcsolve
