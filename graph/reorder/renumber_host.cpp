// SPDX-License-Identifier: Apache-2.0
/// Orders and reordered matrices on the host (graph/reorder/renumber.hpp).
#include <tcsolve/graph/reorder/cuthill_mckee_build.hpp>
#include <tcsolve/graph/reorder/locality_build.hpp>
#include <tcsolve/kernels/host/steps.hpp>

namespace tcsolve::host {

bool cuthill_mckee(Host&, Arena& arena, PatternView const& a, CuthillMckeeLimits const& limits,
                   Index* old_numbers) {
  Converter on(arena);
  return ordering::build(on, a, limits, old_numbers);
}

template <class S>
CsrArrays<S> permute(Host&, Arena& arena, CsrView<S> const& a, Index const* old_numbers,
                     Index const* new_numbers) {
  Converter on(arena);
  return permuting::permute(on, a, old_numbers, new_numbers);
}

LocalitySums measure_locality(Host&, Arena& arena, PatternView const& a) {
  Converter on(arena);
  return measuring::build(on, a);
}

template CsrArrays<double> permute<double>(Host&, Arena&, CsrView<double> const&, Index const*,
                                           Index const*);

}  // namespace tcsolve::host
