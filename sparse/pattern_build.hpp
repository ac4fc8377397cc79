// SPDX-License-Identifier: Apache-2.0
/// What the plans of this floor share when they make a pattern, on either backend
/// (kernels/convert.hpp).
#pragma once

#include <limits>

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve::sparse {

/// The first place in [0, n) of ascending `sorted` that holds at least `key`; n: none does.
template <class Sorted, class N, class K>
TCSOLVE_HD N first_not_below(Sorted const& sorted, N n, K key) {
  N low = 0;
  while (n > 0) {
    N const half = n / 2;
    if (sorted[low + half] < key)
      low += half + 1, n -= half + 1;
    else
      n = half;
  }
  return low;
}

/// The last place in [0, n), n > 0, of ascending `sorted` that holds at most `key`; 0: none does.
template <class N, class K>
TCSOLVE_HD N last_not_above(K const* sorted, N n, K key) {
  N low = 0;
  while (n > 1) {
    N const half = n / 2;
    low = sorted[low + half] <= key ? low + half : low;
    n -= half;
  }
  return low;
}

/// f(i, k) for each entry k of row i.
template <class F>
struct EachEntry {
  OffsetsView offsets;
  F f;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    for (Offset k = offsets[i], end = offsets[i + 1]; k < end; ++k) f(i, k);
  }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const begin = offsets[i], end = offsets[i + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end; k += 32) f(i, k);
    });
  }
};
/// A row of so few entries, on average, is walked by a thread sooner than by a warp.
template <class A>
bool has_short_rows(A const& a) {
  constexpr Offset few = 12;
  return a.entries <= few * a.rows;
}
/// f(i) for each row of a where rows are short, else f(warp, i).
template <class On, class A, class F>
void each_row_by_length(On& on, A const& a, F const& f) {
  if (has_short_rows(a))
    on.each(a.rows, f);
  else
    on.each_warp(a.rows, f);
}
/// f(i, k) for each entry k of row i of a, in any order.
template <class On, class A, class F>
void each_entry(On& on, A const& a, F const& f) {
  each_row_by_length(on, a, EachEntry<F>{a.offsets, f});
}

template <class T>
struct Copy {
  T const* from;
  T* to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

template <class From, class O>
struct CopyOffsets {
  From from;
  O* to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = static_cast<O>(from[i]); }
};

/// Lengths of rows and their sums. Behind these lies a word, at first 0, that kernels may write:
/// the host reads it together with the number of entries.
template <class On>
class RowLengths {
 public:
  RowLengths(On& on, Index rows)
      : on_(on),
        rows_(rows),
        length_(on.template take<Offset>(static_cast<std::size_t>(rows) + 1)),
        sums_(on.template take<Offset>(static_cast<std::size_t>(rows) + 2)) {
    on.clear(word(), 2);
  }
  Offset* length() const { return length_; }  ///< (rows + 1), the last one to be 0
  Offset const* offsets() const { return sums_; }
  std::int32_t* word() const { return reinterpret_cast<std::int32_t*>(sums_ + rows_ + 1); }

  struct Found {
    Offset entries;
    std::int32_t word, unused;
  };
  /// Sums the lengths. Waits.
  Found sum() {
    on_.scan(length_, sums_, rows_ + 1, Plus{});
    Found found;
    on_.read(reinterpret_cast<Found const*>(sums_ + rows_), &found, 1);
    return found;
  }

 private:
  On& on_;
  std::int64_t rows_;
  Offset *length_, *sums_;
};

/// A pattern of so many entries with these offsets (rows + 1) in on.space(), whose columns are
/// still to be written. Offsets is Offset const* or OffsetsView.
template <class On, class Offsets>
OwnedPattern with_offsets(On& on, Index rows, Index cols, Offsets offsets, Offset entries) {
  OwnedPattern made;
  made.rows = rows, made.cols = cols, made.entries = entries, made.space = on.space();
  std::int64_t const n = std::int64_t{rows} + 1;
  auto const copy = [&](auto& to) {
    using O = std::remove_pointer_t<decltype(to.data())>;
    to = Array<O>(on.space(), static_cast<std::size_t>(n));
    on.each(n, CopyOffsets<Offsets, O>{offsets, to.data()});
  };
  if (entries <= std::numeric_limits<std::int32_t>::max())
    copy(made.narrow_offsets);
  else
    copy(made.wide_offsets);
  made.columns = Array<Index>(on.space(), static_cast<std::size_t>(entries));
  return made;
}

/// The same, of as many entries as the last offset says.
template <class On>
OwnedPattern with_offsets(On& on, Index rows, Index cols, Offset const* offsets) {
  Offset entries = 0;
  on.read(offsets + rows, &entries, 1);
  return with_offsets(on, rows, cols, offsets, entries);
}

}  // namespace tcsolve::sparse
