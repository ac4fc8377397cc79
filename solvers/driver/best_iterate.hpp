// SPDX-License-Identifier: Apache-2.0
/// Which iterate is kept of a method whose residual does not fall from step to step. An iterate is
/// worth the norm of its residual or, where that is more, what b - A x rounds off, which no
/// recurrence contains. The iterate in memory is copied before the next one takes its place, when
///
///     - it is worth less than 0.55 times what the iterate kept last is (x0 at first), and
///     - the next iterate is worth more.
///
/// A norm that falls from step to step copies nothing. Otherwise a copy is one vector written in a
/// pass that has the iterate at hand. The driver takes the better of the kept iterate and the last
/// one, so that x is within a factor 2 of the best norm that was truly reached.
#pragma once

#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

template <class T>
inline constexpr double unit_roundoff = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;

/// All numbers are squares.
struct Keep {
  static constexpr double fallen2 = 0.3;

  TCSOLVE_HD static double worth2(double norm2, double rounding2) {
    return norm2 <= rounding2 ? rounding2 : norm2;  // NaN stays
  }
  /// True where the iterate of worth `before2` is to be copied before the one of worth `after2`
  /// replaces it.
  TCSOLVE_HD static bool wanted(LoopState const& s, double before2, double after2) {
    return before2 < fallen2 * s.kept2 && !(after2 <= before2);
  }
  TCSOLVE_HD static void note(LoopState& s, double before2, std::int32_t step) {
    s.kept2 = before2;
    s.kept_step = step;
  }
};

/// x, which lacks its last step a p still, and the place of the iterate that is kept; null: none
/// is.
template <class T>
struct Iterate {
  T *x, *kept;

  /// x += a p for element i, of which x and p have been loaded, after x has been copied where it is
  /// to be kept; returns x. p is anything where a = 0.
  TCSOLVE_HD T advance(std::int64_t i, double a, bool keep, T xi, T pi) const {
    if (a == 0) return xi;
    if (keep && kept != nullptr) kept[i] = xi;
    return x[i] = T(double(xi) + a * double(pi));
  }
};

/// The same for all of x, once the loop is left; a = 0 then, and the loop may go on.
template <class T>
struct Advance {
  static constexpr char const* name = "advance";
  std::int64_t n;
  double *a, *keep;
  T const* p;
  Iterate<T> it;
  struct Coefficients {
    double a;
    bool keep;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c = {*a, *keep != 0};
    return c.a != 0;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    it.advance(i, c.a, c.keep, it.x[i], p[i]);
  }
  TCSOLVE_HD void finish(Frame, double const*) const { *a = *keep = 0; }
};

/// How far x has gone in a method of conjugate directions, from its own scalars. The directions do
/// not point away from each other, so that x is at least as long as the root of the squares' sum.
struct Reach {
  double x2;  ///< the sum of a^2 <p, M^-1 p>

  /// (||A|| ||x||)^2 in the norm of rr; rho and largest as below.
  TCSOLVE_HD double gap2(double rr, double rho, double largest) const {
    return rho > 0 ? largest * largest * x2 * (rr / rho) : 0.0;
  }
  /// What an iterate is worth; rho = <r, M r>, the norm in which x2 and largest = ||M A|| are
  /// meant.
  TCSOLVE_HD double worth2(double rr, double rho, double roundoff, double largest) const {
    double const e = roundoff * largest, rounding2 = e * e * x2;
    return rounding2 > rho && rho > 0 ? rr * (rounding2 / rho) : rr;
  }
};

}  // namespace tcsolve
