// SPDX-License-Identifier: Apache-2.0
/// The functions of matrix/narrow.hpp, written once for both backends (kernels/convert.hpp).
///
///     round        round every unscaled value; find the first that does not fit, and whether any
///                  exponent is outside [smallest_normal, top]
///     equilibrate  nothing, one power of two for all, or the same for row and column i
///                  (matrix/equilibrate_build.hpp)
///     raise        choose rows_i so that the largest exponent of row i becomes `top`
///     balance      three times: shift the middle of the exponents of each row, then column, to 0
///
/// Equilibrate; if that does not suffice, raise; if raising does not suffice, balance and raise
/// again: then an entry may become zero that is below u/8 times the largest of its row and the
/// largest of its column.
#pragma once

#include <limits>
#include <utility>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/matrix/diagonal_build.hpp>
#include <tcsolve/matrix/equilibrate_build.hpp>
#include <tcsolve/matrix/narrow.hpp>

namespace tcsolve::narrowing {

/// Whether rounding turned a finite nonzero value into one that the rule (Beyond) refuses.
template <class S>
TCSOLVE_HD bool lost(double v, S s, bool zero_too) {
  double const now = double(s);
  return finite_nonzero(v) && (now - now != 0 || (zero_too && now == 0));
}

struct Seen {
  std::int64_t bad;      ///< index of the first entry that does not fit
  std::int32_t outside;  ///< 1 if the exponent of a value is outside [smallest_normal, top] of S
};
struct Forget {
  Seen* seen;
  TCSOLVE_HD void operator()(std::int64_t) const { *seen = {no_entry, 0}; }
};

template <class S, class T>
struct Round {
  T const* from;
  S* to;
  bool zero_too;
  Seen* seen;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    double const v = double(from[k]);
    S const s = rounded<S>(v);
    to[k] = s;
    if (lost(v, s, zero_too)) lower_to(&seen->bad, k);
    if (!finite_nonzero(v)) return;
    int const e = exponent(v);
    bool const outside = e < Limits<S>::smallest_normal || e > Limits<S>::top;
    if (outside && glance(&seen->outside) == 0) put(&seen->outside, 1);
  }
};

/// Which finite values may become zero: none, all, or those far below the largest exponent of their
/// row, which is the top of S, and below that of their column.
struct MayVanish {
  bool any = false;
  std::int32_t const* columns = nullptr;
  template <class S>
  TCSOLVE_HD bool allows(int exponent, Index j) const {
    if (columns == nullptr) return any;
    int const largest = columns[j] < Limits<S>::top ? columns[j] : Limits<S>::top;
    return exponent + Limits<S>::bits + 3 <= largest;
  }
};

/// Rounds the scaled row i.
template <class S, class T>
struct RoundScaled {
  CsrView<T> a;
  Powers powers;
  MayVanish may;
  S* to;
  Seen* seen;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end; k += 32) {
        double const v = double(a.values[k]);
        Index const j = a.columns[k];
        int const e = powers(i, j);
        S const s = rounded<S>(times_power(v, e));
        to[k] = s;
        if (lost(v, s, true) && (double(s) != 0 || !may.template allows<S>(exponent(v) + e, j)))
          lower_to(&seen->bad, k);
      }
    });
  }
};

/// The least and the greatest exponent of row i, with those of columns; for f.
template <class T, class Warp, class F>
TCSOLVE_HD void each_row_range(CsrView<T> const& a, std::int32_t const* columns, Warp const& warp,
                               std::int64_t i, F const& f) {
  constexpr std::uint32_t offset = 1u << 20;  // so that exponents are not negative
  typename Warp::template Of<std::uint32_t> low, beyond;
  Offset const begin = a.offsets[i], end = a.offsets[i + 1];
  warp.each([&](int lane) {
    low[lane] = beyond[lane] = 0xffffffffu;
    for (Offset k = begin + lane; k < end; k += 32) {
      double const v = double(a.values[k]);
      if (!finite_nonzero(v)) continue;
      auto const e = static_cast<std::uint32_t>(exponent(v) + columns[a.columns[k]] +
                                                static_cast<int>(offset));
      low[lane] = e < low[lane] ? e : low[lane];
      beyond[lane] = ~e < beyond[lane] ? ~e : beyond[lane];
    }
  });
  std::uint32_t const least = warp.least(low), most = ~warp.least(beyond);
  warp.each([&](int lane) {
    if (lane != 0 || least == 0xffffffffu) return;
    f(static_cast<int>(least) - static_cast<int>(offset),
      static_cast<int>(most) - static_cast<int>(offset));
  });
}
template <class T>
struct Raise {
  CsrView<T> a;
  int top;
  std::int32_t const* columns;
  std::int32_t* rows;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    each_row_range(a, columns, warp, i, [&](int, int high) { rows[i] = clamped(top - high); });
  }
};
template <class T>
struct CenterRow {
  CsrView<T> a;
  std::int32_t const* columns;
  std::int32_t* rows;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    each_row_range(a, columns, warp, i,
                   [&](int low, int high) { rows[i] = clamped(-((low + high) >> 1)); });
  }
};
struct ForgetColumn {
  std::int32_t *low, *high;
  TCSOLVE_HD void operator()(std::int64_t j) const { low[j] = highest, high[j] = lowest; }
};
template <class T>
struct RangeColumns {
  CsrView<T> a;
  std::int32_t const* rows;
  std::int32_t *low, *high;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end; k += 32) {
        double const v = double(a.values[k]);
        if (!finite_nonzero(v)) continue;
        std::int32_t const e = exponent(v) + rows[i];
        lower_to(low + a.columns[k], e), raise_to(high + a.columns[k], e);
      }
    });
  }
};
struct CenterColumn {
  std::int32_t const *low, *high;
  std::int32_t* columns;
  TCSOLVE_HD void operator()(std::int64_t j) const {
    if (low[j] <= high[j]) columns[j] = clamped(-((low[j] + high[j]) >> 1));
  }
};
struct AddExponent {
  std::int32_t const* e;
  std::int32_t* to;
  TCSOLVE_HD void operator()(std::int64_t j) const {
    if (to[j] != lowest) to[j] += e[j];
  }
};
struct Farthest {
  std::int32_t const* exponents;
  std::int32_t* most;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    raise_to(most, exponents[i] < 0 ? -exponents[i] : exponents[i]);
  }
};

/// What rounding has done to row i.
template <class S>
struct Figures {
  Powers powers;
  float const* kept;  ///< (rows, block), or null
  int block;
  NarrowFigures* all;
  template <class T>
  TCSOLVE_HD void operator()(CsrView<T> const& a, std::int64_t i) const {
    std::int64_t overflow = 0, underflow = 0, zeros = 0;
    double size = 0, change = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      double const v = double(a.values[k]);
      if (!finite_nonzero(v)) continue;
      int const e = powers(i, a.columns[k]);
      double const plain = double(rounded<S>(v)), s = double(rounded<S>(times_power(v, e)));
      overflow += plain - plain != 0;
      underflow += exponent(v) < Limits<S>::smallest_normal;
      zeros += s == 0;
      size += v < 0 ? -v : v;
      change += times_power(s, -e) - v;
    }
    for (int c = 0; kept != nullptr && c < block; ++c) {
      auto const j = static_cast<Index>(i / block * block + c);
      change += times_power(double(kept[i * block + c]), -powers(i, j));
    }
    if (overflow > 0) atomic_add(&all->overflow, overflow);
    if (underflow > 0) atomic_add(&all->underflow, underflow);
    if (zeros > 0) atomic_add(&all->zeros, zeros);
    if (change != 0) raise_to(&all->row_sum_change, change / size);
  }
};

/// Finds the row, column and value of entry `*bad`.
struct Place {
  Index row, column;
  double value;
};
template <class T>
struct Find {
  CsrView<T> a;
  std::int64_t bad;
  Place* place;
  TCSOLVE_HD void operator()(std::int64_t) const {
    Index low = 0, high = a.rows;  // offsets[low] <= bad < offsets[high]
    while (high - low > 1) {
      Index const middle = low + (high - low) / 2;
      (a.offsets[middle] <= bad ? low : high) = middle;
    }
    *place = {low, a.columns[bad], double(a.values[bad])};
  }
};

template <class On, class S, class T>
class Narrowing {
 public:
  Narrowing(On& on, CsrView<T> const& a, S* to)
      : on_(on), a_(a), to_(to), seen_(on.template take<Seen>(1)) {}

  Narrowed run(Beyond beyond, KeptDiagonal kept) {
    on_.each(1, Forget{seen_});
    on_.each(a_.entries, Round<S, T>{a_.values, to_, beyond != Beyond::refuse_infinite, seen_});
    Seen seen = look();
    if (beyond == Beyond::scale) seen = scale(seen);
    if (seen.bad != no_entry) {
      refuse(seen.bad);
    } else if (beyond != Beyond::refuse_infinite) {
      m_.diagonal = kept_beside<S>(on_, a_, powers(), kept, m_.block);
      count();
    }
    return std::move(m_);
  }

 private:
  Seen look() {
    Seen seen;
    on_.read(seen_, &seen, 1);
    return seen;
  }
  Array<std::int32_t> zeros(Index n) {
    Array<std::int32_t> z(on_.space(), static_cast<std::size_t>(n));
    if (n > 0) on_.clear(z.data(), n);
    return z;
  }
  void raise() {
    on_.each_warp(a_.rows, Raise<T>{a_, Limits<S>::top, columns_.data(), rows_.data()});
  }
  Powers powers() const { return {m_.shift, rows_.data(), columns_.data()}; }
  Seen round(MayVanish const& may) {
    on_.each(1, Forget{seen_});
    on_.each_warp(a_.rows, RoundScaled<S, T>{a_, powers(), may, to_, seen_});
    return look();
  }
  /// The exponents that the columns of the matrix reach with rows_.
  void range_columns(std::int32_t* low, std::int32_t* high) {
    on_.each(a_.cols, ForgetColumn{low, high});
    on_.each_warp(a_.rows, RangeColumns<T>{a_, rows_.data(), low, high});
  }
  Seen balance() {
    auto* const low = on_.template take<std::int32_t>(a_.cols);
    auto* const high = on_.template take<std::int32_t>(a_.cols);
    for (int turn = 0; turn < 3; ++turn) {
      on_.each_warp(a_.rows, CenterRow<T>{a_, columns_.data(), rows_.data()});
      range_columns(low, high);
      on_.each(a_.cols, CenterColumn{low, high, columns_.data()});
    }
    raise();
    range_columns(low, high);
    on_.each(a_.cols, AddExponent{columns_.data(), high});
    return round({.columns = high});
  }
  Seen scale(Seen const& plain) {
    bool const in_range = plain.bad == no_entry && plain.outside == 0;
    Equilibration even = equilibrate<S>(on_, a_, in_range);
    if (even.suffices) {
      m_.shift = even.shift;
      m_.symmetric = even.exponents.size() > 0;
      if (m_.symmetric) {
        columns_ = zeros(a_.cols);
        on_.each(a_.cols, CopyExponent{even.exponents.data(), columns_.data()});
        rows_ = std::move(even.exponents);
      }
      return m_.symmetric || m_.shift != 0 ? round({.any = even.drops}) : plain;
    }
    rows_ = zeros(a_.rows), columns_ = zeros(a_.cols);
    raise();
    Seen const seen = round({});
    return seen.bad == no_entry ? seen : balance();
  }
  /// The figures of what was rounded, and the exponents that are not zero everywhere.
  void count() {
    auto* const figures = on_.template take<NarrowFigures>(1);
    on_.clear(figures, 1);
    on_.each_row(a_.rows, a_, Figures<S>{powers(), m_.diagonal.data(), m_.block, figures});
    on_.read(figures, &m_.figures, 1);
    m_.figures.scaled = m_.shift != 0 ? MatrixScale::one_power : MatrixScale::nothing;
    if (rows_.size() == 0 && columns_.size() == 0) return;
    auto* const most = on_.template take<std::int32_t>(2);
    on_.clear(most, 2);
    on_.each(a_.rows, Farthest{rows_.data(), most});
    on_.each(a_.cols, Farthest{columns_.data(), most + 1});
    std::int32_t found[2];
    on_.read(most, found, 2);
    m_.farthest = found[0] > found[1] ? found[0] : found[1];
    if (found[0] != 0) m_.row_exponents = std::move(rows_);
    if (found[1] != 0) m_.column_exponents = std::move(columns_);
    if (m_.farthest > 0)
      m_.figures.scaled = m_.symmetric ? MatrixScale::symmetric : MatrixScale::rows_and_columns;
  }
  void refuse(std::int64_t bad) {
    auto* const there = on_.template take<Place>(1);
    on_.each(1, Find<T>{a_, bad, there});
    Place place;
    on_.read(there, &place, 1);
    m_.fits = false;
    m_.row = place.row, m_.column = place.column, m_.value = place.value;
  }

  On& on_;
  CsrView<T> a_;
  S* to_;
  Seen* seen_;
  Narrowed m_;
  Array<std::int32_t> rows_, columns_;
};

template <class S, class On, class T>
Narrowed narrow_values(On& on, CsrView<T> const& a, Beyond beyond, KeptDiagonal kept, S* to) {
  return Narrowing<On, S, T>(on, a, to).run(beyond, kept);
}

struct UnscaledRow {
  Powers powers;
  double* norm;
  template <class S>
  TCSOLVE_HD void operator()(CsrView<S> const& b, std::int64_t i) const {
    double sum = 0;
    for (Offset k = b.offsets[i], end = b.offsets[i + 1]; k < end; ++k) {
      double const v = double(b.values[k]);
      sum += times_power(v < 0 ? -v : v, -powers(i, b.columns[k]));
    }
    raise_to(norm, sum);
  }
};
template <class On, class S>
double norm_without_scales(On& on, CsrView<S> const& b, int shift, std::int32_t const* rows,
                           std::int32_t const* columns) {
  auto* const norm = on.template take<double>(1);
  on.clear(norm, 1);
  on.each_row(b.rows, b, UnscaledRow{{shift, rows, columns}, norm});
  double largest = 0;
  on.read(norm, &largest, 1);
  return largest;
}

}  // namespace tcsolve::narrowing
