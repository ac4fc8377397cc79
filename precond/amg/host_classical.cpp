// SPDX-License-Identifier: Apache-2.0
/// Classical coarsening on the host.
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/precond/amg/classical_build.hpp>

namespace tcsolve::host {

void mark_classical(Host&, Arena& arena, CsrView<double> const& a, ClassicalRows rule,
                    std::uint8_t* keep) {
  Converter on(arena);
  tcsolve::mark_classical(on, a, rule, keep);
}
CoarsePoints coarse_points(Host&, Arena& arena, PatternView const& strong,
                           PatternView const& back) {
  Converter on(arena);
  return tcsolve::coarse_points(on, strong, back);
}
void mark_fine(Host&, Arena& arena, CsrView<double> const& a, std::uint8_t const* strong,
               Index const* number, std::uint8_t* keep) {
  Converter on(arena);
  tcsolve::mark_fine(on, a, strong, number, keep);
}
sparse::OwnedPattern coarse_pattern(Host&, Arena& arena, CsrView<double> const& a,
                                    std::uint8_t const* strong, CoarsePoints const& coarse) {
  Converter on(arena);
  return tcsolve::coarse_pattern(on, a, strong, coarse);
}
void interpolation_factors(Host&, Arena& arena, CsrView<double> const& a,
                           std::uint8_t const* strong, Index const* number,
                           sparse::OwnedPattern const& fine, sparse::OwnedPattern const& to_coarse,
                           double* left, double* right) {
  Converter on(arena);
  tcsolve::interpolation_factors(on, a, strong, number, fine, to_coarse, left, right);
}
void mark_largest(Host&, Arena& arena, CsrView<double> const& p, int most, std::uint8_t* keep) {
  Converter on(arena);
  tcsolve::mark_largest(on, p, most, keep);
}
void keep_sums(Host&, Arena& arena, CsrView<double> const& all, CsrView<double> const& kept,
               double* to) {
  Converter on(arena);
  tcsolve::keep_sums(on, all, kept, to);
}

}  // namespace tcsolve::host
