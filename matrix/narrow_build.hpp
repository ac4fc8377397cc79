// SPDX-License-Identifier: Apache-2.0
/// The functions of matrix/narrow.hpp, written once for both backends (kernels/convert.hpp).
///
///     round     round every unscaled value; find the first that does not fit and any subnormal
///     raise     choose rows_i so that the largest exponent of row i becomes `top`
///     balance   three times: shift the middle of the exponents of each row, then column, to 0
///
/// If rounding does not suffice, raise; if raising does not suffice, balance and raise again.
#pragma once

#include <bit>
#include <limits>
#include <utility>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/matrix/narrow.hpp>

namespace tcsolve::narrowing {

template <class S>
struct Limits;
template <>
struct Limits<half> {
  static constexpr int top = 14, smallest_normal = -14;  // largest values get exponent `top`
};
template <>
struct Limits<float> {
  static constexpr int top = 100, smallest_normal = -126;
};
template <>
struct Limits<bfloat16> : Limits<float> {};

constexpr int farthest = 1000;  ///< 2^-farthest and 2^farthest are normal in FP64
constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t no_entry = std::numeric_limits<std::int64_t>::max();

TCSOLVE_HD std::uint64_t bits_of(double v) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(v));
#else
  return std::bit_cast<std::uint64_t>(v);
#endif
}
TCSOLVE_HD double double_of(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

/// e where 2^e <= |v| < 2^(e + 1); v is finite and not zero.
TCSOLVE_HD int exponent(double v) {
  auto const raw = [](double of) { return static_cast<int>(bits_of(of) >> 52 & 0x7ff); };
  int const e = raw(v);
  return e > 0 ? e - 1023 : raw(v * 0x1p54) - 1023 - 54;
}
TCSOLVE_HD bool finite_nonzero(double v) { return v != 0 && v - v == 0; }

/// v 2^e for |e| <= 2000, exact if the result is normal: the two factors have the same sign of
/// exponent, so the intermediate product lies between v and the result.
TCSOLVE_HD double times_power(double v, int e) {
  auto const power = [](int of) { return double_of(static_cast<std::uint64_t>(of + 1023) << 52); };
  return v * power(e / 2) * power(e - e / 2);
}

TCSOLVE_HD int clamped(int e) { return e < -farthest ? -farthest : e > farthest ? farthest : e; }

/// v rounded to S. Every NaN becomes the same quiet NaN: devices do so by themselves, hosts do not.
template <class S>
TCSOLVE_HD S rounded(double v) {
  return v == v ? S(v) : S(std::numeric_limits<float>::quiet_NaN());
}

/// Whether rounding turned a finite nonzero value into one that the rule (Beyond) refuses.
template <class S>
TCSOLVE_HD bool lost(double v, S s, bool zero_too) {
  double const now = double(s);
  return finite_nonzero(v) && (now - now != 0 || (zero_too && now == 0));
}

struct Seen {
  std::int64_t bad;        ///< index of the first entry that does not fit
  std::int32_t subnormal;  ///< 1 if a nonzero unscaled value is below the normal range of S
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
    if (finite_nonzero(v) && exponent(v) < Limits<S>::smallest_normal &&
        glance(&seen->subnormal) == 0)
      put(&seen->subnormal, 1);
  }
};

/// Rounds row i after scaling by its exponent plus those of the columns.
template <class S, class T>
struct RoundScaled {
  CsrView<T> a;
  std::int32_t const *rows, *columns;
  S* to;
  Seen* seen;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end; k += 32) {
        double const v = double(a.values[k]);
        S const s = rounded<S>(times_power(v, rows[i] + columns[a.columns[k]]));
        to[k] = s;
        if (lost(v, s, true)) lower_to(&seen->bad, k);
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
                   [&](int low, int high) { rows[i] = clamped(-(low + high) / 2); });
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
    if (low[j] <= high[j]) columns[j] = clamped(-(low[j] + high[j]) / 2);
  }
};
struct AnySet {
  std::int32_t const* exponents;
  std::int32_t* any;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (exponents[i] != 0 && glance(any) == 0) put(any, 1);
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

  Narrowed run(Beyond beyond) {
    on_.each(1, Forget{seen_});
    on_.each(a_.entries, Round<S, T>{a_.values, to_, beyond != Beyond::refuse_infinite, seen_});
    Seen seen = look();
    bool const enough = seen.bad == no_entry && (beyond != Beyond::scale || seen.subnormal == 0);
    if (!enough && beyond == Beyond::scale) seen = scale();
    if (seen.bad != no_entry) refuse(seen.bad);
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
  Seen round() {
    on_.each(1, Forget{seen_});
    on_.each_warp(a_.rows, RoundScaled<S, T>{a_, rows_.data(), columns_.data(), to_, seen_});
    return look();
  }
  void balance() {
    auto* const low = on_.template take<std::int32_t>(a_.cols);
    auto* const high = on_.template take<std::int32_t>(a_.cols);
    for (int turn = 0; turn < 3; ++turn) {
      on_.each_warp(a_.rows, CenterRow<T>{a_, columns_.data(), rows_.data()});
      on_.each(a_.cols, ForgetColumn{low, high});
      on_.each_warp(a_.rows, RangeColumns<T>{a_, rows_.data(), low, high});
      on_.each(a_.cols, CenterColumn{low, high, columns_.data()});
    }
  }
  Seen scale() {
    rows_ = zeros(a_.rows), columns_ = zeros(a_.cols);
    raise();
    Seen seen = round();
    if (seen.bad != no_entry) {
      balance();
      raise();
      seen = round();
    }
    auto* const any = on_.template take<std::int32_t>(2);
    on_.clear(any, 2);
    on_.each(a_.rows, AnySet{rows_.data(), any});
    on_.each(a_.cols, AnySet{columns_.data(), any + 1});
    std::int32_t set[2];
    on_.read(any, set, 2);
    if (set[0] != 0) m_.row_exponents = std::move(rows_);
    if (set[1] != 0) m_.column_exponents = std::move(columns_);
    return seen;
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
Narrowed narrow_values(On& on, CsrView<T> const& a, Beyond beyond, S* to) {
  return Narrowing<On, S, T>(on, a, to).run(beyond);
}

template <class T>
struct Undo {
  std::int32_t const* exponents;
  T* factors;
  std::int64_t* outside;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    int const e = -exponents[i];
    factors[i] = T(times_power(1.0, e));
    constexpr int low = std::numeric_limits<T>::min_exponent - 1,
                  high = std::numeric_limits<T>::max_exponent - 1;
    if (e < low || e > high) lower_to(outside, i);
  }
};
template <class On, class T>
void undo_exponents(On& on, std::int32_t const* exponents, std::size_t n, UndoneExponents<T>& m) {
  if (n == 0) return;
  m.factors = Array<T>(on.space(), n);
  auto* const outside = on.template take<std::int64_t>(1);
  std::int64_t first = no_entry;
  on.write(&first, outside, 1);
  on.each(static_cast<std::int64_t>(n), Undo<T>{exponents, m.factors.data(), outside});
  on.read(outside, &first, 1);
  if (first != no_entry) m.outside = first;
}

template <class S>
struct UnscaledRow {
  std::int32_t const *rows, *columns;
  double* norm;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    double sum = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      double const v = double(a.values[k]);
      int const e =
          (rows == nullptr ? 0 : rows[i]) + (columns == nullptr ? 0 : columns[a.columns[k]]);
      sum += times_power(v < 0 ? -v : v, -e);
    }
    raise_to(norm, sum);
  }
};
template <class On, class S>
double norm_without_scales(On& on, CsrView<S> const& a, std::int32_t const* rows,
                           std::int32_t const* columns) {
  auto* const norm = on.template take<double>(1);
  on.clear(norm, 1);
  on.each_row(a.rows, a, UnscaledRow<S>{rows, columns, norm});
  double largest = 0;
  on.read(norm, &largest, 1);
  return largest;
}

}  // namespace tcsolve::narrowing
