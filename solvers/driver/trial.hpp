// SPDX-License-Identifier: Apache-2.0
/// Accepts or rejects a trial x' = x + d where the vectors lie, so that the norms which the host
/// reads describe the x that was kept.
#pragma once

#include <cmath>

#include <tcsolve/kernels/reductions.hpp>

namespace tcsolve {

/// The scalars of a trial, copied to the host together.
struct TrialNorms {
  double residual2, x2;  ///< squares, as they came
  double taken;          ///< 1: x is x' by now
};

/// x = x' where ||r'|| < `below` and ||r'|| <= `kept`, and no square has left the range of FP64,
/// where the host has to look closer.
struct TakeTrial {
  static constexpr char const* name = "take_trial";
  std::int64_t n;
  TrialNorms* norms;
  double below, kept;
  double const* trial;
  double* x;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(Frame f, Coefficients&) const {
    bool const takes = squares_fit(norms->residual2) && squares_fit(norms->x2) &&
                       sqrt(norms->residual2) < below && !(kept < sqrt(norms->residual2));
    if (f.lead) norms->taken = takes ? 1 : 0;
    return takes;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const&, double*) const { x[i] = trial[i]; }
};

}  // namespace tcsolve
