// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/incomplete.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include <tcsolve/factors/pivots.hpp>

namespace tcsolve {
namespace {

constexpr Index nobody = -1;

/// Entries touched between two tests of the CancelFlag: some milliseconds.
constexpr std::int64_t between_looks = std::int64_t{1} << 20;

/// Appends rows to a matrix.
class RowWriter {
 public:
  RowWriter(Csr<double>& to, Index n) : to_(to) {
    to_ = {};
    to_.rows = to_.cols = n;
  }
  void add(Index j, double value) {
    to_.columns.push_back(j);
    to_.values.push_back(value);
  }
  void end_row() { to_.offsets.push_back(to_.entries()); }
  /// Gives back what the arrays have grown beyond their entries.
  void finish() {
    to_.offsets.shrink_to_fit();
    to_.columns.shrink_to_fit();
    to_.values.shrink_to_fit();
  }

 private:
  Csr<double>& to_;
};

void require_within(Offset entries, Offset limit) {
  if (limit > 0 && entries > limit)
    throw MemoryError(cat("the factors have more than ", limit,
                          " entries; take a smaller fill, a larger drop tolerance, or another "
                          "preconditioner"));
}

/// A row that is being eliminated: its values by column, and which columns are there.
class SparseRow {
 public:
  explicit SparseRow(Index n) : value_(n, 0.0), row_of_(n, nobody) {}
  bool has(Index j) const { return row_of_[j] == row_; }
  double& operator[](Index j) { return value_[j]; }
  void begin(Index row) { row_ = row; }
  /// False where column j was there already.
  bool insert(Index j, double value) {
    if (has(j)) {
      value_[j] += value;
      return false;
    }
    row_of_[j] = row_;
    value_[j] = value;
    return true;
  }

 private:
  std::vector<double> value_;
  std::vector<Index> row_of_;
  Index row_ = nobody;
};

/// The `most` largest of `columns` by the value in w stay; ties go to the smaller column.
void keep_largest(std::vector<Index>& columns, SparseRow& w, Index most) {
  if (most <= 0 || static_cast<Index>(columns.size()) <= most) return;
  std::nth_element(columns.begin(), columns.begin() + most, columns.end(), [&](Index a, Index b) {
    double const x = std::abs(w[a]), y = std::abs(w[b]);
    return x > y || (x == y && a < b);
  });
  columns.resize(static_cast<std::size_t>(most));
}

/// L = U^T, for a symmetric factorisation.
void mirror(TriangularFactors& factors) { factors.lower = transpose(factors.upper.view()); }

/// Rows of U whose next entry lies in column i, for each i: what contributes to row i of a
/// symmetric factorisation.
class ColumnLists {
 public:
  explicit ColumnLists(Index n) : first_(n, nobody), next_(n, nobody), at_(n, 0) {}
  /// f(k, position of u_ki in row k) for every k < i with an entry in column i; then each moves on
  /// to its next entry.
  template <class F>
  void for_column(Index i, Csr<double> const& U, F const& f) {
    for (Index k = first_[i]; k != nobody;) {
      Index const following = next_[k];
      f(k, at_[k]);
      if (++at_[k] < U.offsets[k + 1]) put(k, U.columns[at_[k]]);
      k = following;
    }
  }
  /// Row k of U is complete.
  void enter(Index k, Csr<double> const& U) {
    at_[k] = U.offsets[k];
    if (at_[k] < U.offsets[k + 1]) put(k, U.columns[at_[k]]);
  }

 private:
  void put(Index k, Index column) {
    next_[k] = first_[column];
    first_[column] = k;
  }
  std::vector<Index> first_, next_;
  std::vector<Offset> at_;
};

}  // namespace

namespace {

/// The triangles of B.
TriangularFactors pattern_without_fill(Csr<double> const& B, CancelFlag cancel) {
  TriangularFactors factors;
  RowWriter lower(factors.lower, B.rows), upper(factors.upper, B.rows);
  CancelEvery at_times(cancel, between_looks);
  for (Index i = 0; i < B.rows; ++i) {
    at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
    for (Index const j : B.row_columns(i))
      if (j < i)
        lower.add(j, 0);
      else if (j > i)
        upper.add(j, 0);
    lower.end_row();
    upper.end_row();
  }
  lower.finish();
  upper.finish();
  factors.inverse_pivots.assign(static_cast<std::size_t>(B.rows), 1.0);
  return factors;
}

}  // namespace

TriangularFactors fill_pattern(Csr<double> const& B, int level, Offset limit, CancelFlag cancel) {
  if (level == 0) {
    require_within(B.entries(), limit);
    return pattern_without_fill(B, cancel);
  }
  Index const n = B.rows;
  TriangularFactors factors;
  RowWriter lower(factors.lower, n), upper(factors.upper, n);
  std::vector<int> levels_of_upper;  // beside the entries of U
  std::vector<int> level_of(n, 0);
  std::vector<Index> row_of(n, nobody);
  std::vector<Index> eliminated, kept;
  std::priority_queue<Index, std::vector<Index>, std::greater<>> open;
  CancelEvery at_times(cancel, between_looks);
  for (Index i = 0; i < n; ++i) {
    at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
    eliminated.clear();
    kept.clear();
    auto const insert = [&](Index j, int l) {
      if (row_of[j] == i) {
        level_of[j] = std::min(level_of[j], l);
        return;
      }
      row_of[j] = i;
      level_of[j] = l;
      if (j < i)
        open.push(j);
      else if (j > i)
        kept.push_back(j);
    };
    for (Index const j : B.row_columns(i)) insert(j, 0);
    while (!open.empty()) {
      Index const k = open.top();
      open.pop();
      eliminated.push_back(k);
      at_times.add(8 + factors.upper.offsets[k + 1] - factors.upper.offsets[k]);
      for (Offset e = factors.upper.offsets[k]; e < factors.upper.offsets[k + 1]; ++e)
        if (int const l = level_of[k] + levels_of_upper[e] + 1; l <= level)
          insert(factors.upper.columns[e], l);
    }
    std::sort(kept.begin(), kept.end());
    for (Index const j : eliminated) lower.add(j, 0);
    for (Index const j : kept) {
      upper.add(j, 0);
      levels_of_upper.push_back(level_of[j]);
    }
    lower.end_row();
    upper.end_row();
    require_within(factors.lower.entries() + factors.upper.entries(), limit);
  }
  lower.finish();
  upper.finish();
  factors.inverse_pivots.assign(static_cast<std::size_t>(n), 1.0);
  return factors;
}

void factorise_on_pattern(Csr<double> const& B, double floor, TriangularFactors& factors,
                          CancelFlag cancel) {
  Index const n = B.rows;
  Csr<double>&L = factors.lower, &U = factors.upper;
  SparseRow w(n);
  factors.replaced = 0;
  factors.shift = 0;
  CancelEvery at_times(cancel, between_looks);
  for (Index i = 0; i < n; ++i) {
    at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
    w.begin(i);
    w.insert(i, 0);
    for (Index const j : L.row_columns(i)) w.insert(j, 0);
    for (Index const j : U.row_columns(i)) w.insert(j, 0);
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
      if (w.has(B.columns[k])) w[B.columns[k]] = B.values[k];
    for (Offset e = L.offsets[i]; e < L.offsets[i + 1]; ++e) {
      Index const k = L.columns[e];
      double const v = w[k];  // (L D)_ik
      if (v != 0) {
        at_times.add(U.offsets[k + 1] - U.offsets[k]);
        if (factors.complete)
          for (Offset f = U.offsets[k]; f < U.offsets[k + 1]; ++f)
            w[U.columns[f]] -= v * U.values[f];
        else
          for (Offset f = U.offsets[k]; f < U.offsets[k + 1]; ++f)
            if (w.has(U.columns[f])) w[U.columns[f]] -= v * U.values[f];
      }
      L.values[e] = v * factors.inverse_pivots[k];
    }
    double const inverse = inverse_pivot(w[i], floor * row_size(B.view(), i), factors.replaced);
    factors.inverse_pivots[i] = inverse;
    for (Offset f = U.offsets[i]; f < U.offsets[i + 1]; ++f)
      U.values[f] = w[U.columns[f]] * inverse;
  }
}

void cholesky_on_pattern(Csr<double> const& B, TriangularFactors& factors, CancelFlag cancel) {
  Index const n = B.rows;
  Csr<double>& U = factors.upper;
  std::vector<double> const diagonal = positive_diagonal(B);
  factors.replaced = 0;
  factors.shift = with_shifts(factors.shift, [&](double shift) {
    ColumnLists rows_at(n);
    SparseRow row(n);
    CancelEvery at_times(cancel, between_looks);
    for (Index i = 0; i < n; ++i) {
      at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
      row.begin(i);
      row.insert(i, 0);
      for (Index const j : U.row_columns(i)) row.insert(j, 0);
      for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
        if (B.columns[k] >= i && row.has(B.columns[k])) row[B.columns[k]] = B.values[k];
      row[i] = (1 + shift) * diagonal[i];
      rows_at.for_column(i, U, [&](Index k, Offset at) {
        double const v = U.values[at] / factors.inverse_pivots[k];  // (L D)_ik
        at_times.add(U.offsets[k + 1] - at);
        if (factors.complete)
          for (Offset f = at; f < U.offsets[k + 1]; ++f) row[U.columns[f]] -= v * U.values[f];
        else
          for (Offset f = at; f < U.offsets[k + 1]; ++f)
            if (row.has(U.columns[f])) row[U.columns[f]] -= v * U.values[f];
      });
      if (!(row[i] > least_pivot * diagonal[i])) return false;
      factors.inverse_pivots[i] = 1 / row[i];
      for (Offset f = U.offsets[i]; f < U.offsets[i + 1]; ++f)
        U.values[f] = row[U.columns[f]] / row[i];
      rows_at.enter(i, U);
    }
    return true;
  });
  mirror(factors);
}

TriangularFactors threshold_lu(Csr<double> const& B, Dropping const& dropping, double floor,
                               Offset limit, CancelFlag cancel) {
  Index const n = B.rows;
  TriangularFactors factors;
  RowWriter lower(factors.lower, n), upper(factors.upper, n);
  Csr<double> const& U = factors.upper;
  factors.inverse_pivots.reserve(static_cast<std::size_t>(n));
  SparseRow w(n);
  std::vector<Index> left, right;
  std::priority_queue<Index, std::vector<Index>, std::greater<>> open;
  CancelEvery at_times(cancel, between_looks / 4);  // columns are searched for in heaps
  for (Index i = 0; i < n; ++i) {
    at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
    double const size = row_size(B.view(), i), least = dropping.tolerance * size;
    w.begin(i);
    w.insert(i, 0);
    left.clear();
    right.clear();
    auto const enter = [&](Index j) {
      if (j < i)
        open.push(j);
      else if (j > i)
        right.push_back(j);
    };
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
      if (w.insert(B.columns[k], B.values[k])) enter(B.columns[k]);
    while (!open.empty()) {
      Index const k = open.top();
      open.pop();
      double const v = w[k];  // (L D)_ik
      if (!(std::abs(v) > least)) continue;
      left.push_back(k);
      at_times.add(8 + U.offsets[k + 1] - U.offsets[k]);
      for (Offset f = U.offsets[k]; f < U.offsets[k + 1]; ++f)
        if (w.insert(U.columns[f], -v * U.values[f])) enter(U.columns[f]);
      w[k] = v * factors.inverse_pivots[k];
    }
    std::erase_if(right, [&](Index j) { return !(std::abs(w[j]) > least); });
    keep_largest(left, w, dropping.most);
    keep_largest(right, w, dropping.most);
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    double const inverse = inverse_pivot(w[i], floor * size, factors.replaced);
    factors.inverse_pivots.push_back(inverse);
    for (Index const j : left) lower.add(j, w[j]);
    for (Index const j : right) upper.add(j, w[j] * inverse);
    lower.end_row();
    upper.end_row();
    require_within(factors.lower.entries() + factors.upper.entries(), limit);
  }
  lower.finish();
  upper.finish();
  return factors;
}

TriangularFactors threshold_cholesky(Csr<double> const& B, Dropping const& dropping, Offset limit,
                                     CancelFlag cancel) {
  Index const n = B.rows;
  std::vector<double> const diagonal = positive_diagonal(B);
  TriangularFactors factors;
  factors.shift = with_shifts(0, [&](double shift) {
    RowWriter upper(factors.upper, n);
    Csr<double> const& U = factors.upper;
    factors.inverse_pivots.clear();
    factors.inverse_pivots.reserve(static_cast<std::size_t>(n));
    ColumnLists rows_at(n);
    SparseRow w(n);
    std::vector<Index> right;
    CancelEvery at_times(cancel, between_looks / 4);
    for (Index i = 0; i < n; ++i) {
      at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
      double const least = dropping.tolerance * row_size(B.view(), i);
      w.begin(i);
      w.insert(i, (1 + shift) * diagonal[i]);
      right.clear();
      for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
        if (Index const j = B.columns[k]; j > i && w.insert(j, B.values[k])) right.push_back(j);
      rows_at.for_column(i, U, [&](Index k, Offset at) {
        double const v = U.values[at] / factors.inverse_pivots[k];  // (L D)_ik
        at_times.add(U.offsets[k + 1] - at);
        w[i] -= v * U.values[at];
        for (Offset f = at + 1; f < U.offsets[k + 1]; ++f)
          if (w.insert(U.columns[f], -v * U.values[f])) right.push_back(U.columns[f]);
      });
      if (!(w[i] > least_pivot * diagonal[i])) return false;
      std::erase_if(right, [&](Index j) { return !(std::abs(w[j]) > least); });
      keep_largest(right, w, dropping.most);
      std::sort(right.begin(), right.end());
      double const inverse = 1 / w[i];
      factors.inverse_pivots.push_back(inverse);
      for (Index const j : right) upper.add(j, w[j] * inverse);
      upper.end_row();
      rows_at.enter(i, U);
      require_within(2 * U.entries(), limit);
    }
    upper.finish();
    return true;
  });
  mirror(factors);
  return factors;
}

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
