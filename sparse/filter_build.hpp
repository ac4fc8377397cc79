// SPDX-License-Identifier: Apache-2.0
/// Which entries are strong, and a matrix of those that are kept, written once for both backends
/// (kernels/convert.hpp).
#pragma once

#include <cmath>
#include <limits>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/sparse/filter.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/rows_build.hpp>

namespace tcsolve::sparse {

/// sqrt(|a_ii|)
template <class T>
struct RootOfDiagonal {
  CsrView<T> a;
  double* root;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const at = find_diagonal(a, i);
    root[i] = at < a.offsets[i + 1] ? std::sqrt(size_of_value(double(a.values[at]))) : 0.0;
  }
};
template <class T>
struct MarkStrong {
  CsrView<T> a;
  double theta;
  double const* root;
  std::uint8_t* keep;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end; k += 32) {
        Index const j = a.columns[k];
        bool const weak = size_of_value(double(a.values[k])) <= theta * (root[i] * root[j]);
        keep[k] = i == j || !weak;
      }
    });
  }
};
template <class On, class T>
void mark_strong(On& on, CsrView<T> const& a, double theta, std::uint8_t* keep) {
  auto* const root = on.template take<double>(a.rows);
  on.each(a.rows, RootOfDiagonal<T>{a, root});
  on.each_warp(a.rows, MarkStrong<T>{a, theta, root, keep});
}

struct CountKept {
  PatternView a;
  std::uint8_t const* keep;
  bool lump;
  Offset* length;          // (rows)
  std::int32_t* homeless;  ///< rows from the first on that drops entries and keeps no diagonal
  TCSOLVE_HD void settle(std::int64_t i, Offset kept, bool diagonal) const {
    length[i] = kept;
    if (lump && kept < a.offsets[i + 1] - a.offsets[i] && !diagonal)
      raise_to(homeless, static_cast<std::int32_t>(a.rows - i));
  }
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset kept = 0;
    bool diagonal = false;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      if (keep[k] == 0) continue;
      ++kept;
      diagonal = diagonal || a.columns[k] == i;
    }
    settle(i, kept, diagonal);
  }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    typename Warp::template Of<std::uint32_t> kept, diagonal;
    warp.each([&](int lane) {
      kept[lane] = diagonal[lane] = 0;
      for (Offset k = a.offsets[i] + lane, end = a.offsets[i + 1]; k < end; k += 32)
        if (keep[k] != 0) ++kept[lane], diagonal[lane] |= a.columns[k] == i;
    });
    Offset const of_row = warp.sum(kept);
    bool const has_diagonal = warp.sum(diagonal) != 0;
    warp.each([&](int lane) {
      if (lane == 0) settle(i, of_row, has_diagonal);
    });
  }
};
struct FillKept {
  PatternView a;
  std::uint8_t const* keep;
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset to = offsets[i];
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      if (keep[k] != 0) columns[to++] = a.columns[k];
  }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const end = a.offsets[i + 1];
    Offset to = offsets[i];
    for (Offset first = a.offsets[i]; first < end; first += 32) {
      auto const kept = [&](Offset k) { return k < end && keep[k] != 0; };
      typename Warp::template Of<std::uint32_t> place;
      warp.each([&](int lane) { place[lane] = kept(first + lane); });
      std::uint32_t const all = warp.rank(place);
      warp.each([&](int lane) {
        if (kept(first + lane)) columns[to + place[lane]] = a.columns[first + lane];
      });
      to += all;
    }
  }
};
struct CopyKeep {
  std::uint8_t const* from;
  std::uint8_t* to;
  TCSOLVE_HD void operator()(std::int64_t k) const { to[k] = from[k] != 0; }
};

template <class On>
FilteredPattern filter_pattern(On& on, PatternView const& a, std::uint8_t const* keep, Lump lump) {
  RowLengths rows(on, a.rows);
  on.clear(rows.length() + a.rows, 1);
  each_row_by_length(on, a, CountKept{a, keep, lump == Lump::diagonal, rows.length(), rows.word()});
  auto const found = rows.sum();
  if (found.word != 0)
    throw MatrixError(cat("filter: row ", a.rows - found.word + 1, " drops entries and keeps no ",
                          "diagonal entry that they could be added to"));
  FilteredPattern made;
  made.keep = Array<std::uint8_t>(on.space(), static_cast<std::size_t>(a.entries));
  made.lump = lump;
  made.pattern = with_offsets(on, a.rows, a.cols, rows.offsets(), found.entries);
  on.each(a.entries, CopyKeep{keep, made.keep.data()});
  each_row_by_length(
      on, a, FillKept{a, made.keep.data(), made.pattern.offsets(), made.pattern.columns.data()});
  return made;
}

template <class T>
struct FilterRow {
  std::uint8_t const* keep;
  bool lump;
  OffsetsView offsets;
  T* values;
  TCSOLVE_HD void operator()(CsrView<T> const& a, std::int64_t i) const {
    Offset to = offsets[i], diagonal = -1;
    T dropped = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      if (keep[k] == 0) {
        dropped += a.values[k];
        continue;
      }
      if (a.columns[k] == i) diagonal = to;
      values[to++] = a.values[k];
    }
    // Where nothing is dropped a -0 stays what it is.
    if (lump && to - offsets[i] < a.offsets[i + 1] - a.offsets[i]) values[diagonal] += dropped;
  }
};
template <class On, class T>
void filter_values(On& on, FilteredPattern const& made, CsrView<T> const& a, T* to) {
  on.each_row(
      a.rows, a,
      FilterRow<T>{made.keep.data(), made.lump == Lump::diagonal, made.pattern.offsets(), to});
}

}  // namespace tcsolve::sparse
