// SPDX-License-Identifier: Apache-2.0
/// On the host a twofold sum is compiled apart (kernels/host/residual_walk.hpp); here is how others
/// call it.
#pragma once

#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/residual.hpp>

namespace tcsolve::host {

/// Elements [begin, end) of an operation of a residual that is summed exactly.
template <class V>
void walk_exactly(V const&, std::int64_t begin, std::int64_t end);

template <class View>
struct Walk<ExactResidual<View>> {
  static void elements(ExactResidual<View> const& op, NoCoefficients, std::int64_t begin,
                       std::int64_t end, double*) {
    walk_exactly(op, begin, end);
  }
  /// A part of a row is as much work as a chunk of short ones. Whole slices.
  static std::int64_t grain(ExactResidual<View> const&) { return 256; }
};
template <class View>
struct Walk<JoinResidual<View>> {
  static void elements(JoinResidual<View> const& op, NoCoefficients, std::int64_t begin,
                       std::int64_t end, double*) {
    walk_exactly(op, begin, end);
  }
  static std::int64_t grain(JoinResidual<View> const&) { return chunk; }
};
template <>
struct Walk<ShiftResidual> {
  static void elements(ShiftResidual const& op, NoCoefficients, std::int64_t begin,
                       std::int64_t end, double*) {
    walk_exactly(op, begin, end);
  }
  static std::int64_t grain(ShiftResidual const&) { return chunk; }
};

}  // namespace tcsolve::host
