// SPDX-License-Identifier: Apache-2.0
/// Smoothed aggregation on the device: near-nullspaces, the coarsest level, scaled levels, K
/// cycles.
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/execute_columns.cuh>
#include <tcsolve/kernels/cuda/steps.cuh>
#include <tcsolve/precond/amg/dense_inverse_build.hpp>
#include <tcsolve/precond/amg/krylov_ops.hpp>
#include <tcsolve/precond/amg/level_scale_build.hpp>
#include <tcsolve/precond/amg/near_nullspace_build.hpp>

namespace tcsolve::cuda {

template struct Executes<PointOps>;
template struct ExecutesColumns<KrylovOps>;

void translations(Device& device, Arena& arena, Index rows, Index block, double* B) {
  Converter on(device, arena);
  tcsolve::translations(on, rows, block, B);
}
void rigid_body_modes(Device& device, Arena& arena, NodePoints const& points,
                      PointsFrame const& frame, double* B) {
  Converter on(device, arena);
  tcsolve::rigid_body_modes(on, points, frame, B);
}
void place_columns(Device& device, Arena& arena, Index rows, double const* X, Index k, double* B,
                   Index first, Index count) {
  Converter on(device, arena);
  tcsolve::place_columns(on, rows, X, k, B, first, count);
}
sparse::OwnedPattern full_pattern(Device& device, Arena& arena, Index n) {
  Converter on(device, arena);
  return tcsolve::full_pattern(on, n);
}
bool dense_inverse(Device& device, Arena& arena, CsrView<double> const& a, double* G) {
  Converter on(device, arena);
  return tcsolve::dense_inverse(on, a, G);
}
void level_scale(Device& device, Arena& arena, std::int64_t rows, int h, double* s) {
  Converter on(device, arena);
  tcsolve::level_scale(on, rows, h, s);
}
template <class T>
void scale_weights(Device& device, Arena& arena, double const* w, int h, double const* s,
                   std::int64_t rows, T* to) {
  Converter on(device, arena);
  tcsolve::scale_weights(on, w, h, s, rows, to);
}
template void scale_weights<double>(Device&, Arena&, double const*, int, double const*,
                                    std::int64_t, double*);
template void scale_weights<float>(Device&, Arena&, double const*, int, double const*, std::int64_t,
                                   float*);
template <class S>
void scale_entries(Device& device, Arena& arena, CsrView<double> const& a, LevelScale const& scale,
                   S* to) {
  Converter on(device, arena);
  tcsolve::scale_entries(on, a, scale, to);
}
template <class S>
bool scale_entries(Device& device, Arena& arena, CsrView<double> const& a, LevelScale const& scale,
                   std::uint8_t const* keep, S* to) {
  Converter on(device, arena);
  return tcsolve::scale_entries(on, a, scale, keep, to);
}
#define TCSOLVE_INSTANTIATE(S)                                                                    \
  template void scale_entries<S>(Device&, Arena&, CsrView<double> const&, LevelScale const&, S*); \
  template bool scale_entries<S>(Device&, Arena&, CsrView<double> const&, LevelScale const&,      \
                                 std::uint8_t const*, S*);
TCSOLVE_LEVEL_REALS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
}  // namespace tcsolve::cuda
