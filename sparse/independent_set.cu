// SPDX-License-Identifier: Apache-2.0
/// Independent sets on the device (sparse/independent_set.hpp).
#include <tcsolve/kernels/cuda/steps.cuh>
#include <tcsolve/sparse/independent_set_build.hpp>

namespace tcsolve::cuda {

sparse::IndependentSet independent_set(Device& device, Arena& arena, PatternView const& a,
                                       PatternView const& back, int distance) {
  SteppingConverter on(device, arena);
  return sparse::independent_set(on, a, back, distance);
}

}  // namespace tcsolve::cuda
