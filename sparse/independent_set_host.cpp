// SPDX-License-Identifier: Apache-2.0
/// Independent sets on the host (sparse/independent_set.hpp).
#include <tcsolve/kernels/host/steps.hpp>
#include <tcsolve/sparse/independent_set_build.hpp>

namespace tcsolve::host {

sparse::IndependentSet independent_set(Host&, Arena& arena, PatternView const& a,
                                       PatternView const& back, int distance) {
  Converter on(arena);
  return sparse::independent_set(on, a, back, distance);
}

}  // namespace tcsolve::host
