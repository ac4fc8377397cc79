// SPDX-License-Identifier: Apache-2.0
/// A diagonal operator as passes see it that fold it in instead of storing its product.
#pragma once

#include <cstdint>

#include <tcsolve/core/portable.hpp>

namespace tcsolve {

/// x_i -> alpha d_i x_i; without d the identity times alpha.
template <class T>
struct Diagonal {
  T const* d = nullptr;
  double alpha = 1;

  TCSOLVE_HD T at(std::int64_t i) const { return d != nullptr ? d[i] : T(1); }
  /// Of an entry that has been loaded.
  TCSOLVE_HD double times(T entry, double x) const { return alpha * (double(entry) * x); }
  TCSOLVE_HD double operator()(std::int64_t i, double x) const { return times(at(i), x); }
};

/// A vector read through a diagonal: element i is alpha d_i x_i, rounded as Multiply rounds it.
template <class T>
struct ThroughDiagonal {
  T const *x, *d;
  double alpha;

  TCSOLVE_HD T operator[](std::int64_t i) const { return T(alpha * (double(d[i]) * double(x[i]))); }
  TCSOLVE_HD ThroughDiagonal operator+(std::int64_t i) const { return {x + i, d + i, alpha}; }
};

}  // namespace tcsolve
