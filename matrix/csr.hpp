// SPDX-License-Identifier: Apache-2.0
/// Compressed sparse rows (CSR), the interchange format of the package.
///
///            cols 0 1 2 3
///     row 0  [ 5 . . 2 ]      offsets  0     2  3     5          rows + 1 positions
///     row 1  [ . 7 . . ]      columns  0  3  1  0  2             ascending within a row
///     row 2  [ 1 . 4 . ]      values   5  2  7  1  4             explicit zeros are kept
///
/// Canonical: columns sorted and unique in each row. Bytes: 4 (rows + 1) or 8 (rows + 1) for the
/// offsets, 4 per entry for the column and sizeof(value) per entry.
#pragma once

#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// A CSR matrix that owns its arrays in host memory: what readers and generators make.
template <class T>
struct Csr {
  Index rows = 0;
  Index cols = 0;
  std::vector<Offset> offsets{0};  // (rows + 1)
  std::vector<Index> columns;      // (entries)
  std::vector<T> values;           // (entries)

  Offset entries() const { return static_cast<Offset>(columns.size()); }
  std::span<Index const> row_columns(Index i) const {
    return {columns.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  std::span<T const> row_values(Index i) const {
    return {values.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  CsrView<T> view() const {
    return {rows, cols, entries(), offsets.data(), columns.data(), values.data(), Space::host};
  }
  friend bool operator==(Csr const&, Csr const&) = default;
};

enum class Duplicates { refuse, sum };
enum class NonFinite { refuse, keep };

/// Checks a host CSR: offsets ascend from 0 to `entries`, columns lie in [0, cols), are sorted and
/// unique in each row, values are finite. Throws MatrixError naming the row and the fault.
/// Cost: one pass over the arrays.
template <class T>
void validate(CsrView<T> const& a, NonFinite = NonFinite::refuse);

/// Checks what a product relies on: arrays that are there, offsets that ascend from 0 to `entries`,
/// columns in [0, cols). Throws MatrixError naming the row and the fault. Cost: a pass over the
/// pattern.
template <class T>
void require_indices(CsrView<T> const& a);

/// A matrix of arrays of other integer types, counting from `base`: 64-bit columns, unsigned
/// numbers, Fortran's 1-based ones.
///
///     Csr<double> a = csr_from(ia, ja, values, n, 1);     // std::vector<std::size_t> ia, ja
///
/// Rows are offsets.size() - 1. Throws MatrixError as require_indices(), SizeError for extents
/// beyond 32 bits. Cost: a copy.
template <std::ranges::contiguous_range Offsets, std::ranges::contiguous_range Columns,
          std::ranges::contiguous_range Values>
auto csr_from(Offsets const& offsets, Columns const& columns, Values const& values,
              std::int64_t cols, int base = 0) {
  Csr<std::ranges::range_value_t<Values>> a;
  std::size_t const entries = std::size(columns);
  if (std::size(offsets) == 0)
    throw MatrixError("CSR: offsets are empty; n rows have n + 1 of them");
  if (std::size(values) != entries)
    throw MatrixError(
        cat("CSR: there are ", entries, " columns and ", std::size(values), " values"));
  a.rows = narrow(static_cast<std::int64_t>(std::size(offsets)) - 1, "rows");
  a.cols = narrow(cols, "cols");
  a.offsets.clear();
  for (auto const offset : offsets) a.offsets.push_back(static_cast<Offset>(offset) - base);
  a.columns.reserve(entries);
  for (auto const column : columns) {
    // What does not fit stays out of range, for require_indices() to name its row.
    bool const fits = std::cmp_greater_equal(column, base) && std::cmp_less(column, cols + base);
    a.columns.push_back(fits ? static_cast<Index>(static_cast<std::int64_t>(column) - base) : -1);
  }
  a.values.assign(std::begin(values), std::end(values));
  require_indices(a.view());
  return a;
}

/// The canonical form of a host CSR whose rows may be unsorted: columns sorted, duplicates refused
/// (MatrixError) or summed in storage order. Cost: one pass, plus a sort of each unsorted row.
template <class T>
Csr<T> canonical(CsrView<T> const& a, Duplicates = Duplicates::refuse,
                 NonFinite = NonFinite::refuse);

/// A^T, canonical. Cost: two passes.
template <class T>
Csr<T> transpose(CsrView<T> const& a);

/// Values rounded to U (nearest, ties to even), same pattern. Throws MatrixError when a finite
/// value of a would become infinite in U, ShapeError where the arrays of a do not fit together.
template <class U, class T>
Csr<U> converted(Csr<T> const& a);

/// Facts about a square or rectangular host matrix, gathered in one pass (and one transpose).
struct CsrSummary {
  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index min_row = 0, max_row = 0, empty_rows = 0;
  Index zero_diagonal = 0;         ///< rows whose diagonal entry is absent or zero
  Index negative_diagonal = 0;     ///< rows whose diagonal entry is negative
  Index dominant_rows = 0;         ///< |a_ii| >= sum_{j != i} |a_ij|
  Index bandwidth = 0;             ///< max |i - j| over stored entries
  bool pattern_symmetric = false;  ///< a_ij stored if and only if a_ji is
  double asymmetry = 0;            ///< ||A - A^T||_F / ||A||_F; 0 for a symmetric matrix
  double norm_inf = 0;             ///< max row sum of |a_ij|
  double norm_frobenius = 0;
  double max_abs = 0;
  std::vector<Offset> histogram;  ///< rows of length 0, 1, 2, 3-4, 5-8, 9-16, ...
};
CsrSummary summarize(Csr<double> const& a);

}  // namespace tcsolve
