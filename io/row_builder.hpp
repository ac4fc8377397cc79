// SPDX-License-Identifier: Apache-2.0
/// CSR from a function that emits one row: called once to count and once to store, rows in
/// parallel.
#pragma once

#include <tcsolve/core/parallel.hpp>
#include <tcsolve/matrix/csr.hpp>

#include <utility>

namespace tcsolve {

/// Rows first, first + 1, .. end - 1 of a matrix.
struct RowRange {
  Index first = 0, end = 0;
  Index size() const { return end - first; }
};

/// What a row function is given in the counting pass. It may skip the values: `stores` is false.
struct EntryCounter {
  static constexpr bool stores = false;
  Offset count = 0;
  void operator()(std::int64_t, double) { ++count; }
};

/// What it is given in the storing pass.
struct EntryStore {
  static constexpr bool stores = true;
  Index* column;
  double* value;
  void operator()(std::int64_t j, double a_ij) {
    *column++ = static_cast<Index>(j);
    *value++ = a_ij;
  }
};

/// Row i of the result is what row(of.first + i, emit) emits: emit(column, value), columns
/// ascending. `row` is called from several threads. The result does not depend on their number.
/// Throws Cancelled.
template <class Row>
Csr<double> build_by_rows(RowRange of, Index cols, Workers const& workers, Row const& row) {
  constexpr std::int64_t grain = 4096;
  std::int64_t const rows = of.size(), first_row = of.first;
  Csr<double> a;
  a.rows = of.size();
  a.cols = cols;
  a.offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
  parallel_ranges(workers, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      EntryCounter emit;
      row(first_row + i, emit);
      a.offsets[static_cast<std::size_t>(i) + 1] = emit.count;
    }
  });
  for (std::size_t i = 1; i < a.offsets.size(); ++i) a.offsets[i] += a.offsets[i - 1];
  a.columns.resize(static_cast<std::size_t>(a.offsets.back()));
  a.values.resize(static_cast<std::size_t>(a.offsets.back()));
  parallel_ranges(workers, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    auto const first = a.offsets[static_cast<std::size_t>(begin)];
    EntryStore emit{a.columns.data() + first, a.values.data() + first};
    for (std::int64_t i = begin; i < end; ++i) row(first_row + i, emit);
  });
  return a;
}

}  // namespace tcsolve
