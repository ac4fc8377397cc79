// SPDX-License-Identifier: Apache-2.0
/// Prolongations of one vector, written once for both backends (kernels/convert.hpp). A row is a
/// thread's, which keeps what it has found in an array of its own.
#pragma once

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/precond/amg/joined_pattern.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/rounded.hpp>

namespace tcsolve {

/// Where row j of T has its entry; -1 where it has none.
template <class A>
TCSOLVE_HD Offset entry_of_row(A const& T, Index j) {
  Offset const at = T.offsets[j];
  return at < T.offsets[std::int64_t{j} + 1] ? at : -1;
}

/// The aggregates of row i of F T, ascending; returns how many, most_joined + 1 for more than there
/// is room for.
TCSOLVE_HD int join_row(CsrView<double> const& f, PatternView const& T, std::int64_t i,
                        Index* found) {
  int n = 0;
  for (Offset k = f.offsets[i], end = f.offsets[i + 1]; k < end; ++k) {
    Offset const at = entry_of_row(T, f.columns[k]);
    if (at < 0) continue;
    Index const J = T.columns[at];
    int to = n;
    while (to > 0 && found[to - 1] > J) --to;
    if (to > 0 && found[to - 1] == J) continue;
    if (n == most_joined) return most_joined + 1;
    for (int m = n; m > to; --m) found[m] = found[m - 1];
    found[to] = J;
    ++n;
  }
  return n;
}

struct CountJoined {
  PatternView T;
  Index rows;
  Offset* length;          // (rows + 1)
  std::int32_t* too_many;  ///< set where a row has more than there is room for
  TCSOLVE_HD void operator()(CsrView<double> const& f, std::int64_t i) const {
    Index found[most_joined];
    int const n = i < rows ? join_row(f, T, i, found) : 0;
    length[i] = n;
    if (n > most_joined) put(too_many, 1);
  }
};
struct FillJoined {
  PatternView T;
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(CsrView<double> const& f, std::int64_t i) const {
    Index found[most_joined];
    int const n = join_row(f, T, i, found);
    Offset const to = offsets[i];
    for (int k = 0; k < n; ++k) columns[to + k] = found[k];
  }
};

template <class On>
std::optional<sparse::OwnedPattern> joined_pattern(On& on, CsrView<double> const& f,
                                                   PatternView const& T) {
  sparse::RowLengths rows(on, f.rows);
  on.each_rows_of_columns(std::int64_t{f.rows} + 1, 1, f,
                          CountJoined{T, f.rows, rows.length(), rows.word()});
  auto const found = rows.sum();
  if (found.word != 0) return std::nullopt;  // too many
  sparse::OwnedPattern made =
      sparse::with_offsets(on, f.rows, T.cols, rows.offsets(), found.entries);
  on.each_rows_of_columns(f.rows, 1, f, FillJoined{T, made.offsets(), made.columns.data()});
  return made;
}

struct SmoothJoined {
  CsrView<double> T;
  double const* d;
  double omega;
  PatternView pattern;
  double* p;
  TCSOLVE_HD void operator()(CsrView<double> const& f, std::int64_t i) const {
    Offset const begin = pattern.offsets[i];
    auto const n = static_cast<int>(pattern.offsets[i + 1] - begin);
    Index const* const columns = pattern.columns + begin;
    double sum[most_joined];
    for (int q = 0; q < n; ++q) sum[q] = 0;
    for (Offset k = f.offsets[i], end = f.offsets[i + 1]; k < end; ++k) {
      Offset const at = entry_of_row(T, f.columns[k]);
      if (at < 0) continue;
      int const q = sparse::first_not_below(columns, n, T.columns[at]);
      sum[q] = sparse::sum_of(sum[q], sparse::product_of(f.values[k], T.values[at]));
    }
    Offset const own = entry_of_row(T, static_cast<Index>(i));
    for (int q = 0; q < n; ++q) {
      double const t = own >= 0 && T.columns[own] == columns[q] ? T.values[own] : 0.0;
      p[begin + q] = t - omega * d[i] * sum[q];
    }
  }
};
template <class On>
void smooth_joined(On& on, CsrView<double> const& f, CsrView<double> const& T, double const* d,
                   double omega, sparse::OwnedPattern const& pattern, double* p) {
  on.each_row(f.rows, f, SmoothJoined{T, d, omega, pattern.view(), p});
}

}  // namespace tcsolve
