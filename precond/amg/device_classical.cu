// SPDX-License-Identifier: Apache-2.0
/// Classical coarsening on the device.
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/precond/amg/classical_build.hpp>
#include <tcsolve/precond/amg/interpolation_build.hpp>

namespace tcsolve::cuda {

void mark_classical(Device& device, Arena& arena, CsrView<double> const& a, ClassicalRows rule,
                    std::uint8_t* keep) {
  Converter on(device, arena);
  tcsolve::mark_classical(on, a, rule, keep);
}
CoarsePoints coarse_points(Device& device, Arena& arena, PatternView const& strong,
                           PatternView const& back) {
  Converter on(device, arena);
  return tcsolve::coarse_points(on, strong, back);
}
void mark_two_steps(Device& device, Arena& arena, CsrView<double> const& a,
                    std::uint8_t const* strong, Index const* number, std::uint8_t* first,
                    std::uint8_t* second) {
  Converter on(device, arena);
  tcsolve::mark_two_steps(on, a, strong, number, first, second);
}
void stay_in_place(Device& device, Arena& arena, Index rows, Index* number) {
  Converter on(device, arena);
  tcsolve::stay_in_place(on, rows, number);
}
void mark_fine(Device& device, Arena& arena, InterpolationView const& view, std::uint8_t* keep) {
  Converter on(device, arena);
  tcsolve::mark_fine(on, view, keep);
}
sparse::OwnedPattern coarse_pattern(Device& device, Arena& arena, InterpolationView const& view,
                                    Index coarse) {
  Converter on(device, arena);
  return tcsolve::coarse_pattern(on, view, coarse);
}
void interpolation_factors(Device& device, Arena& arena, InterpolationView const& view,
                           bool way_back, PatternView const& fine, PatternView const& to_coarse,
                           double* left, double* right) {
  Converter on(device, arena);
  tcsolve::interpolation_factors(on, view, way_back, fine, to_coarse, left, right);
}
void mark_largest(Device& device, Arena& arena, CsrView<double> const& p, int most,
                  std::uint8_t* keep) {
  Converter on(device, arena);
  tcsolve::mark_largest(on, p, most, keep);
}
void keep_sums(Device& device, Arena& arena, CsrView<double> const& all,
               CsrView<double> const& kept, double* to) {
  Converter on(device, arena);
  tcsolve::keep_sums(on, all, kept, to);
}

}  // namespace tcsolve::cuda
