// SPDX-License-Identifier: Apache-2.0
/// Smoothed aggregation on the host: near-nullspaces, the coarsest level, scaled levels, K cycles.
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/execute_columns.hpp>
#include <tcsolve/kernels/host/steps.hpp>
#include <tcsolve/precond/amg/dense_inverse_build.hpp>
#include <tcsolve/precond/amg/krylov_ops.hpp>
#include <tcsolve/precond/amg/level_scale_build.hpp>
#include <tcsolve/precond/amg/near_nullspace_build.hpp>

namespace tcsolve::host {

template struct Executes<PointOps>;
template struct ExecutesColumns<KrylovOps>;

void translations(Host&, Arena& arena, Index rows, Index block, double* B) {
  Converter on(arena);
  tcsolve::translations(on, rows, block, B);
}
void rigid_body_modes(Host&, Arena& arena, NodePoints const& points, PointsFrame const& frame,
                      double* B) {
  Converter on(arena);
  tcsolve::rigid_body_modes(on, points, frame, B);
}
void place_columns(Host&, Arena& arena, Index rows, double const* X, Index k, double* B,
                   Index first, Index count) {
  Converter on(arena);
  tcsolve::place_columns(on, rows, X, k, B, first, count);
}
sparse::OwnedPattern full_pattern(Host&, Arena& arena, Index n) {
  Converter on(arena);
  return tcsolve::full_pattern(on, n);
}
bool dense_inverse(Host&, Arena& arena, CsrView<double> const& a, double* G) {
  Converter on(arena);
  return tcsolve::dense_inverse(on, a, G);
}
void level_scale(Host&, Arena& arena, std::int64_t rows, int h, double* s) {
  Converter on(arena);
  tcsolve::level_scale(on, rows, h, s);
}
template <class T>
void scale_weights(Host&, Arena& arena, double const* w, int h, double const* s, std::int64_t rows,
                   T* to) {
  Converter on(arena);
  tcsolve::scale_weights(on, w, h, s, rows, to);
}
template void scale_weights<double>(Host&, Arena&, double const*, int, double const*, std::int64_t,
                                    double*);
template void scale_weights<float>(Host&, Arena&, double const*, int, double const*, std::int64_t,
                                   float*);
template <class S>
void scale_entries(Host&, Arena& arena, CsrView<double> const& a, LevelScale const& scale, S* to) {
  Converter on(arena);
  tcsolve::scale_entries(on, a, scale, to);
}
template <class S>
bool scale_entries(Host&, Arena& arena, CsrView<double> const& a, LevelScale const& scale,
                   std::uint8_t const* keep, S* to) {
  Converter on(arena);
  return tcsolve::scale_entries(on, a, scale, keep, to);
}
#define TCSOLVE_INSTANTIATE(S)                                                                  \
  template void scale_entries<S>(Host&, Arena&, CsrView<double> const&, LevelScale const&, S*); \
  template bool scale_entries<S>(Host&, Arena&, CsrView<double> const&, LevelScale const&,      \
                                 std::uint8_t const*, S*);
TCSOLVE_LEVEL_REALS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
}  // namespace tcsolve::host
