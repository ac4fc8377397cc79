// SPDX-License-Identifier: Apache-2.0
/// How long a method that is one among others goes on (solvers/stopping.hpp):
///
///     patience {steps: 50, gain: 0.1, from: 50}     iterations   0    50    100   150     200
///                                                   norm         1     3    0.1   0.008   0.004: over
#pragma once

#include <limits>

#include <tcsolve/core/types.hpp>
#include <tcsolve/solvers/stopping.hpp>

namespace tcsolve {

class PatienceLeft {
 public:
  PatienceLeft() = default;
  /// norm: of the residual as the solve begins.
  PatienceLeft(Patience const& patience, double norm)
      : patience_(patience),
        norm_(patience.from > 0 ? std::numeric_limits<double>::infinity() : norm),
        due_(patience.from > 0 ? patience.from : patience.steps) {}

  /// How many iterations after `done` the norm is to be looked at.
  double steps_after(Index done) const {
    return patience_.steps > 0 ? double(due_) - double(done)
                               : std::numeric_limits<double>::infinity();
  }
  /// Whether the norm has fallen too little since it was looked at last. To be asked again with the
  /// same figures changes nothing.
  bool is_over(Index done, double norm) {
    if (patience_.steps == 0 || done < due_) return false;
    if (!(norm <= patience_.gain * norm_)) return true;  // a NaN, too
    norm_ = norm;
    due_ = done + patience_.steps;
    return false;
  }

 private:
  Patience patience_;
  double norm_ = 0;
  Index due_ = 0;
};

}  // namespace tcsolve
