// SPDX-License-Identifier: Apache-2.0
/// What conjugate gradients can conclude about A from the last direction p: indefinite, or
/// singular.
#pragma once

#include <cmath>

#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

struct Curvature {
  double sigma;     ///< <p, A p>
  double p, q;      ///< ||p||, ||A p||
  double size;      ///< estimate of ||A||
  double roundoff;  ///< of the vectors' type, or of A's entries where that is coarser

  TCSOLVE_HD static double fp64() { return 0x1p-53; }
  /// A curvature within its rounding error has no sign.
  TCSOLVE_HD bool vanishes() const { return magnitude(sigma) <= 10 * roundoff * size * p * p; }
  /// ||A p||^2 <= ||A|| <p, A p> for a semidefinite A, so that A p tells a singular A from one that
  /// is not semidefinite.
  TCSOLVE_HD bool singular() const { return q <= sqrt(10 * roundoff) * size * p; }

  /// The stop reasons that depend on a curvature.
  TCSOLVE_HD static bool decides(Stop stop) {
    return stop == Stop::indefinite_operator || stop == Stop::diverged || stop == Stop::claimed;
  }
  /// Refines the reason of a stop at p.
  TCSOLVE_HD void classify(LoopState& state) const {
    auto stop = static_cast<Stop>(state.stop);
    if (!decides(stop) || !vanishes()) return;
    if (stop == Stop::claimed) {  // the driver checks the claim by the true residual
      if (singular()) state.cause = static_cast<std::int32_t>(Cause::singular_operator);
      return;
    }
    state.value = sigma;
    state.stop =
        static_cast<std::int32_t>(singular() ? Stop::breakdown : Stop::indefinite_operator);
    state.cause = static_cast<std::int32_t>(singular()          ? Cause::singular_operator
                                            : roundoff > fp64() ? Cause::values
                                                                : Cause::none);
  }
};

}  // namespace tcsolve
