// SPDX-License-Identifier: Apache-2.0
/// Scaled levels, written once for both backends (kernels/convert.hpp).
#pragma once

#include <cmath>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/precond/amg/level_scale.hpp>
#include <tcsolve/sparse/rows_build.hpp>

namespace tcsolve {

struct ScaleOfRow {
  CsrView<double> a;
  int h;
  double* s;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const own = sparse::find_diagonal(a, i);
    double const d = own == a.offsets[i + 1] ? 0.0 : ldexp(a.values[own], -h);
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

template <class S>
struct ScaleEntries {
  LevelScale scale;
  double power;  ///< 2^scale.power, by which a product is exact
  std::uint8_t const* keep;
  S* to;
  std::int32_t* lost;
  TCSOLVE_HD static double times(double v, double const* by, bool divide, std::int64_t i) {
    if (by == nullptr) return v;
    return divide ? v / by[i] : v * by[i];
  }
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      double const v = times(times(a.values[k] * power, scale.left, scale.divide_left, i),
                             scale.right, scale.divide_right, a.columns[k]);
      S const rounded = S(v);
      to[k] = rounded;
      double const is = double(rounded);
      bool const vanished = keep != nullptr && keep[k] != 0 && is == 0 && v != 0;
      if (vanished || (!is_finite(is) && is_finite(v))) put(lost, 1);
    }
  }
};

template <class On>
void level_scale(On& on, CsrView<double> const& a, int h, double* s) {
  on.each(a.rows, ScaleOfRow{a, h, s});
}
template <class T, class On>
void scale_weights(On& on, double const* w, int h, double const* s, std::int64_t rows, T* to) {
  on.each(rows, ScaleWeight<T>{w, h, s, to});
}
template <class S, class On>
bool scale_entries(On& on, CsrView<double> const& a, LevelScale const& scale,
                   std::uint8_t const* keep, S* to) {
  auto* const flag = on.template take<std::int32_t>(1);
  on.clear(flag, 1);
  on.each_row(a.rows, a, ScaleEntries<S>{scale, std::ldexp(1.0, scale.power), keep, to, flag});
  std::int32_t lost = 0;
  on.read(flag, &lost, 1);
  return lost != 0;
}

}  // namespace tcsolve
