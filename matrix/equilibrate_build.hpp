// SPDX-License-Identifier: Apache-2.0
/// Powers of two that leave a symmetric matrix symmetric, written once for both backends
/// (kernels/convert.hpp):
///
///     e_i       exponent of a_ii; of a row without a diagonal that of its largest entry
///     nothing   where all exponents are those of normal numbers
///     shift     one power of two for all entries, where the exponents that matter span no more
///               than those of normal numbers
///     D A D     where neither does, or A is symmetric and max e - min e > p, u = 2^-p the roundoff
///               of S: d_i = (max_k e_k - e_i) / 2 rounded down, and a shift
///
/// so that the diagonal of D A D has one or two exponents, and u ||D A D|| is below it: no rounding
/// of a large row then drowns the curvature of a small one. Of a symmetric A an entry matters where
/// |a_ij| >= u sqrt|a_ii a_jj| / 8: smaller ones change the energy x^T A x of
/// a definite A by less than the rounding of the diagonal does, and may become zero. Of any other A
/// all entries matter, and the shift alone is looked for. Exponents are all that decides, relative
/// to each other: 2^s A becomes the same matrix as A.
#pragma once

#include <limits>
#include <utility>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/matrix/powers.hpp>

namespace tcsolve::narrowing {

using powers::exponent;
using powers::finite_nonzero;
using powers::times_power;

template <class S>
struct Limits;
template <>
struct Limits<half> {
  static constexpr int top = 14, smallest_normal = -14;  // largest values get exponent `top`
  static constexpr int bits = 11;                        // of a significand: roundoff 2^-bits
};
template <>
struct Limits<float> {
  static constexpr int top = 100, smallest_normal = -126, bits = 24;
};
template <>
struct Limits<bfloat16> : Limits<float> {
  static constexpr int bits = 8;
};

constexpr int farthest = 1000;  ///< 2^-farthest and 2^farthest are normal in FP64
constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t no_entry = std::numeric_limits<std::int64_t>::max();

TCSOLVE_HD int clamped(int e) { return e < -farthest ? -farthest : e > farthest ? farthest : e; }

struct Equilibration {
  bool suffices = false;          ///< with these powers of two the matrix fits
  bool drops = false;             ///< entries that do not matter may become zero
  int shift = 0;                  ///< of all entries
  Array<std::int32_t> exponents;  ///< d, for rows and columns; empty: zeros
};

/// e_i, `lowest` in a row without entries.
struct RowExponent {
  std::int32_t* e;
  template <class T>
  TCSOLVE_HD void operator()(CsrView<T> const& a, std::int64_t i) const {
    std::int32_t largest = lowest;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      double const v = double(a.values[k]);
      if (!finite_nonzero(v)) continue;
      std::int32_t const here = exponent(v);
      if (a.columns[k] == i) {
        largest = here;
        break;
      }
      largest = here > largest ? here : largest;
    }
    e[i] = largest;
  }
};

/// Whether each a_ij of row i has its mirror a_ji, up to what rounding explains
/// (matrix/symmetry.hpp).
template <class T>
struct Mirrored {
  CsrView<T> a;
  std::int32_t const* e;
  std::int32_t* differs;
  TCSOLVE_HD double at(Index i, Index j) const {
    Offset low = a.offsets[i], high = a.offsets[i + 1];
    while (low < high) {
      Offset const middle = low + (high - low) / 2;
      if (a.columns[middle] < j)
        low = middle + 1;
      else
        high = middle;
    }
    return low < a.offsets[i + 1] && a.columns[low] == j ? double(a.values[low]) : 0.0;
  }
  TCSOLVE_HD bool mirrors(std::int64_t i, Offset k) const {
    constexpr double of_the_pair = 1e-12, of_the_rows = 8 * 0x1p-52;
    Index const j = a.columns[k];
    double const x = double(a.values[k]), y = at(j, static_cast<Index>(i));
    if (x == y) return true;
    auto const size = [](double v) { return v < 0 ? -v : v; };
    double const larger = size(x) > size(y) ? size(x) : size(y);
    double const rows = times_power(of_the_rows, e[j] == lowest ? e[i] : (e[i] + e[j]) / 2);
    return size(x - y) <= of_the_pair * larger + rows;
  }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    if (glance(differs) != 0) return;
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end; k += 32)
        if (finite_nonzero(double(a.values[k])) && !mirrors(i, k)) put(differs, 1);
    });
  }
};

/// The exponents of D A D that matter.
struct Exponents {
  std::int32_t low, high;
};
struct ForgetExponents {
  Exponents* range;
  TCSOLVE_HD void operator()(std::int64_t) const { *range = {highest, lowest}; }
};
template <class T>
struct RangeOfEntries {
  CsrView<T> a;
  std::int32_t const *e, *d;  ///< d is null: zeros; e is null: all entries matter
  int bits;                   ///< an entry 2^-bits times that of its rows does not
  Exponents* range;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end; k += 32) {
        double const v = double(a.values[k]);
        if (!finite_nonzero(v)) continue;
        Index const j = a.columns[k];
        std::int32_t const here = exponent(v);
        // |v| < 2^(here + 1), sqrt|a_ii a_jj| >= 2^((e_i + e_j) / 2)
        if (e != nullptr && e[j] != lowest && 2 * (here + 1) <= e[i] + e[j] - 2 * bits) continue;
        std::int32_t const scaled = here + (d == nullptr ? 0 : d[i] + d[j]);
        lower_to(&range->low, scaled), raise_to(&range->high, scaled);
      }
    });
  }
};

struct RangeOfRows {
  std::int32_t const* e;
  Exponents* range;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (e[i] != lowest) lower_to(&range->low, e[i]), raise_to(&range->high, e[i]);
  }
};
struct HalfTheDistance {
  std::int32_t const* e;
  std::int32_t most;
  std::int32_t* d;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    d[i] = e[i] == lowest ? 0 : clamped((most - e[i]) / 2);
  }
};
struct CopyExponent {
  std::int32_t const* from;
  std::int32_t* to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

/// Whether A is symmetric, e being its row exponents.
template <class On, class T>
bool has_mirrors(On& on, CsrView<T> const& a, std::int32_t const* e) {
  auto* const flag = on.template take<std::int32_t>(1);
  on.clear(flag, 1);
  on.each_warp(a.rows, Mirrored<T>{a, e, flag});
  std::int32_t differs = 0;
  on.read(flag, &differs, 1);
  return differs == 0;
}

/// `in_range`: all exponents are those of normal numbers. Cost: a pass over A where nothing is to
/// be done; where a shift suffices two, and a look-up of each mirror; one more for D.
template <class S, class On, class T>
Equilibration equilibrate(On& on, CsrView<T> const& a, bool in_range) {
  Equilibration found;
  found.suffices = in_range;
  bool const square = a.rows == a.cols;
  if (in_range && !square) return found;
  auto* const range = on.template take<Exponents>(1);
  auto* const e = on.template take<std::int32_t>(a.rows + 1);
  Exponents rows{0, 0}, seen;
  if (square) {
    on.each_row(a.rows, a, RowExponent{e});
    on.each(1, ForgetExponents{range});
    on.each(a.rows, RangeOfRows{e, range});
    on.read(range, &rows, 1);
  }
  bool const uneven = rows.low <= rows.high && rows.high - rows.low > Limits<S>::bits;
  if (in_range && !uneven) return found;
  bool const symmetric = square && has_mirrors(on, a, e);
  if (in_range && !symmetric) return found;
  auto const fits = [&](std::int32_t const* d) {
    on.each(1, ForgetExponents{range});
    on.each_warp(a.rows,
                 RangeOfEntries<T>{a, symmetric ? e : nullptr, d, Limits<S>::bits + 3, range});
    on.read(range, &seen, 1);
    int const shift = Limits<S>::top - seen.high;
    if (seen.low > seen.high ||  // nothing is finite
        seen.high - seen.low > Limits<S>::top - Limits<S>::smallest_normal || shift < -farthest ||
        shift > farthest + 200)
      return false;
    found.suffices = true, found.drops = symmetric, found.shift = shift;
    return true;
  };
  if (symmetric && uneven) {
    found.exponents = Array<std::int32_t>(on.space(), static_cast<std::size_t>(a.rows));
    on.each(a.rows, HalfTheDistance{e, rows.high, found.exponents.data()});
    if (fits(found.exponents.data())) return found;
    found.exponents = {};
  }
  if (!in_range) fits(nullptr);
  return found;
}

}  // namespace tcsolve::narrowing
