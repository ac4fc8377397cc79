// SPDX-License-Identifier: Apache-2.0
/// Orders and reordered matrices on the device (graph/reorder/renumber.hpp).
#include <tcsolve/graph/reorder/cuthill_mckee_build.hpp>
#include <tcsolve/graph/reorder/locality_build.hpp>
#include <tcsolve/kernels/cuda/steps.cuh>

namespace tcsolve::cuda {

bool cuthill_mckee(Device& device, Arena& arena, PatternView const& a,
                   CuthillMckeeLimits const& limits, Index* old_numbers) {
  SteppingConverter on(device, arena);
  return ordering::build(on, a, limits, old_numbers);
}

template <class S>
CsrArrays<S> permute(Device& device, Arena& arena, CsrView<S> const& a, Index const* old_numbers,
                     Index const* new_numbers) {
  Converter on(device, arena);
  return permuting::permute(on, a, old_numbers, new_numbers);
}

LocalitySums measure_locality(Device& device, Arena& arena, PatternView const& a) {
  Converter on(device, arena);
  return measuring::build(on, a);
}

template CsrArrays<double> permute<double>(Device&, Arena&, CsrView<double> const&, Index const*,
                                           Index const*);

}  // namespace tcsolve::cuda
