// SPDX-License-Identifier: Apache-2.0
/// On the host a twofold sum is compiled apart: without contractions (CMakeLists.txt), and once
/// more for processors that have a fused multiply-add, since a call for each costs several times
/// the rest. Sums of diagonals and slices are made side by side there, in vectors.
#pragma once

#include <tcsolve/kernels/verbs/residual.hpp>

namespace tcsolve::host {

/// Elements [begin, end), in place of element(); host/sweep.cpp prefers it.
template <class View>
void walk(ExactResidual<View> const&, NoCoefficients, std::int64_t begin, std::int64_t end,
          double*);
template <class View>
void walk(JoinResidual<View> const&, NoCoefficients, std::int64_t begin, std::int64_t end, double*);
void walk(ShiftResidual const&, NoCoefficients, std::int64_t begin, std::int64_t end, double*);

/// A part of a row is as much work as a chunk of short ones. Whole slices.
template <class View>
std::int64_t task(ExactResidual<View> const&) {
  return 256;
}

}  // namespace tcsolve::host
