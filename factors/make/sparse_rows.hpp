// SPDX-License-Identifier: Apache-2.0
/// What the algorithms of factors/make/incomplete.hpp share: rows as they are eliminated and
/// written.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <tcsolve/factors/make/incomplete.hpp>

namespace tcsolve::elimination {

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

inline void require_within(Offset entries, Offset limit) {
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
inline void keep_largest(std::vector<Index>& columns, SparseRow& w, Index most) {
  if (most <= 0 || static_cast<Index>(columns.size()) <= most) return;
  std::nth_element(columns.begin(), columns.begin() + most, columns.end(), [&](Index a, Index b) {
    double const x = std::abs(w[a]), y = std::abs(w[b]);
    return x > y || (x == y && a < b);
  });
  columns.resize(static_cast<std::size_t>(most));
}

/// L = U^T, for a symmetric factorisation.
inline void mirror(TriangularFactors& factors) { factors.lower = transpose(factors.upper.view()); }

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

}  // namespace tcsolve::elimination
