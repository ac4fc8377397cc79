// SPDX-License-Identifier: Apache-2.0
/// A step of a smoother, by itself or as the end of the product that makes its residual.
#pragma once

#include <type_traits>

#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// What a smoothing step changes.
enum class StepFrom {
  zero,        ///< x = d
  x,           ///< x += d
  correction,  ///< x += c + d, where d was a correction c of x before
};

/// to = keep d + gain W r, and x: a step of the Chebyshev iteration (Saad 2003, Algorithm 12.1) in
/// one pass, of damped Jacobi with keep = 0, which does not read d. `to` is not d, which others may
/// still gather: no thread waits for them. T is the type of the vectors; sums and products are
/// FP64.
template <class T>
struct SmoothingStep {
  static constexpr char const* name = "smoothing_step";
  std::int64_t n;
  double keep, gain;
  T const* w;  // (rows)
  Elements<T const> r, d;
  Elements<T> to, x;
  StepFrom from;
  struct Loaded {
    T w, r, d, x;
  };
  TCSOLVE_HD Loaded load(std::int64_t e, NoCoefficients) const { return loaded(e, r[e]); }
  TCSOLVE_HD void element(std::int64_t e, Loaded const& l, NoCoefficients, double*) const {
    double const before = double(l.d);
    double now = gain * (double(l.w) * double(l.r));
    if (keep != 0) now += keep * before;
    to[e] = T(now);
    if (from == StepFrom::zero)
      x[e] = T(now);
    else
      x[e] = T(double(l.x) + (from == StepFrom::correction ? before + now : now));
  }
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients c, double* sum) const {
    element(e, load(e, c), c, sum);
  }
  /// The same of an r_e that has just been made.
  TCSOLVE_HD void take(std::int64_t e, T r_e) const {
    element(e, loaded(e, r_e), NoCoefficients{}, nullptr);
  }
  Index columns() const { return x.cols; }
  bool writes(void const* v) const { return v == to.data || v == x.data; }

 private:
  TCSOLVE_HD Loaded loaded(std::int64_t e, T r_e) const {
    bool const reads_d = keep != 0 || from == StepFrom::correction;
    return {w[x.cols == 1 ? e : row_of_element(e, x.cols)], r_e, reads_d ? d[e] : T(0),
            from == StepFrom::zero ? T(0) : x[e]};
  }
};

/// Whether a format that stores S for vectors of T has the step at the end of its product, which
/// hierarchies multiply by.
template <class S, class T>
constexpr bool ends_in_steps = std::is_same_v<S, T> || std::is_same_v<T, float>;

/// The same for explicit instantiations: X(S, T).
#define TCSOLVE_STEP_PAIRS(X) X(double, double) X(float, float) X(half, float) X(bfloat16, float)

}  // namespace tcsolve
