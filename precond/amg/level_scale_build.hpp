// SPDX-License-Identifier: Apache-2.0
/// Scaled levels, written once for both backends (kernels/convert.hpp).
#pragma once

#include <cmath>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/precond/amg/level_scale.hpp>

namespace tcsolve {

struct ScaleOfRow {
  int h;
  double* s;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    double const d = ldexp(s[i], -h);
    s[i] = 1;
    if (!(d > 0) || !is_finite(d)) return;
    int const e = ilogb(d);
    s[i] = ldexp(1.0, -(e >= 0 ? e / 2 : -((1 - e) / 2)));  // the floor of e / 2
  }
};

template <class T>
struct ScaleWeight {
  double const* w;
  int h;
  double const* s;
  T* to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = T(ldexp(w[i] / s[i] / s[i], h)); }
};

/// A warp so many entries in a row, neighbouring lanes neighbouring ones, however long rows are.
template <class S>
struct ScaleEntries {
  static constexpr Offset length = 512;
  CsrView<double> a;
  LevelScale scale;
  double power;  ///< 2^scale.power, by which a product is exact
  std::uint8_t const* keep;
  S* to;
  std::int32_t* lost;  ///< or null: nobody asks

  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t part) const {
    constexpr int ahead = 4;  // on their way at once
    if (lost != nullptr && glance(lost) != 0) return;
    Offset const begin = part * length;
    Offset const end = begin + length < a.entries ? begin + length : a.entries;
    warp.each([&](int lane) {
      if (begin + lane >= end) return;
      std::int64_t row = row_of(begin + lane);
      for (Offset k = begin + lane; k < end; k += 32 * ahead) {
        double v[ahead], right[ahead];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int e = 0; e < ahead; ++e) {
          Offset const at = k + 32 * e < end ? k + 32 * e : k;
          v[e] = a.values[at] * power;
          right[e] = scale.right == nullptr ? 1.0 : scale.right[a.columns[at]];
        }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int e = 0; e < ahead; ++e) {
          Offset const at = k + 32 * e;
          if (at >= end) break;
          while (a.offsets[row + 1] <= at) ++row;
          double const left = scale.left == nullptr ? 1.0 : scale.left[row];
          store(at, times(times(v[e], left, scale.divide_left), right[e], scale.divide_right));
        }
      }
    });
  }

 private:
  TCSOLVE_HD static double times(double v, double by, bool divide) {
    return divide ? v / by : v * by;
  }
  /// Whose entry k is: the last row that begins at or before it.
  TCSOLVE_HD std::int64_t row_of(Offset k) const {
    std::int64_t low = 0, high = a.rows;
    while (high - low > 1) {
      std::int64_t const middle = low + (high - low) / 2;
      (a.offsets[middle] <= k ? low : high) = middle;
    }
    return low;
  }
  TCSOLVE_HD void store(Offset k, double v) const {
    S const rounded = S(v);
    to[k] = rounded;
    if (lost == nullptr) return;
    double const is = double(rounded);
    bool const vanished = is == 0 && v != 0 && keep != nullptr && keep[k] != 0;
    if (vanished || (!is_finite(is) && is_finite(v))) put(lost, 1);
  }
};

template <class On>
void level_scale(On& on, std::int64_t rows, int h, double* s) {
  on.each(rows, ScaleOfRow{h, s});
}
template <class T, class On>
void scale_weights(On& on, double const* w, int h, double const* s, std::int64_t rows, T* to) {
  on.each(rows, ScaleWeight<T>{w, h, s, to});
}
template <class S, class On>
void scale_entries(On& on, CsrView<double> const& a, LevelScale const& scale,
                   std::uint8_t const* keep, S* to, std::int32_t* lost) {
  using Scale = ScaleEntries<S>;
  on.each_warp((a.entries + Scale::length - 1) / Scale::length,
               Scale{a, scale, std::ldexp(1.0, scale.power), keep, to, lost});
}
template <class S, class On>
bool scale_entries(On& on, CsrView<double> const& a, LevelScale const& scale,
                   std::uint8_t const* keep, S* to) {
  auto* const flag = on.template take<std::int32_t>(1);
  on.clear(flag, 1);
  scale_entries(on, a, scale, keep, to, flag);
  std::int32_t lost = 0;
  on.read(flag, &lost, 1);
  return lost != 0;
}
template <class S, class On>
void scale_entries(On& on, CsrView<double> const& a, LevelScale const& scale, S* to) {
  scale_entries(on, a, scale, nullptr, to, nullptr);
}

}  // namespace tcsolve
