// SPDX-License-Identifier: Apache-2.0
/// Smoothed aggregation on the device: graphs, aggregates, prolongations, and fused operations.
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/steps.cuh>
#include <tcsolve/precond/amg/aggregates_build.hpp>
#include <tcsolve/precond/amg/joined_pattern_build.hpp>
#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/precond/amg/prolongation_build.hpp>
#include <tcsolve/precond/amg/skew_ops.hpp>
#include <tcsolve/precond/amg/strength_build.hpp>
#include <tcsolve/precond/amg/weights_build.hpp>

namespace tcsolve::cuda {

template struct Executes<AmgOps>;
template struct Executes<SkewOps>;

StrengthGraph strength_graph(Device& device, Arena& arena, CsrView<double> const& a, Index block,
                             double theta, double scale) {
  Converter on(device, arena);
  return tcsolve::strength_graph(on, a, block, theta, scale);
}
double share_of_places(Device& device, Arena& arena, CsrView<double> const& a, Index block,
                       Index first, Index rows) {
  Converter on(device, arena);
  return tcsolve::share_of_places(on, a, block, first, rows);
}
bool same_couplings(Device& device, Arena& arena, CsrView<double> const& a, Index block,
                    double theta, double scale, PatternView const& blocks,
                    std::uint8_t const* keep) {
  Converter on(device, arena);
  return tcsolve::same_couplings(on, a, block, theta, scale, blocks, keep);
}
Aggregates aggregates(Device& device, Arena& arena, CancelFlag const& cancel,
                      PatternView const& strong) {
  SteppingConverter on(device, arena);
  return tcsolve::aggregates(on, cancel, strong);
}
TentativePattern tentative_pattern(Device& device, Arena& arena, Aggregates const& aggregates,
                                   Index block, Index vectors) {
  Converter on(device, arena);
  return tcsolve::tentative_pattern(on, aggregates, block, vectors);
}
void tentative_values(Device& device, Arena& arena, TentativePattern const& T, double const* B,
                      double* values, double* coarse) {
  Converter on(device, arena);
  tcsolve::tentative_values(on, T, B, values, coarse);
}
void positive_diagonal(Device& device, Arena& arena, CsrView<double> const& a,
                       sparse::OwnedPattern const& filtered, double* values, double* d) {
  Converter on(device, arena);
  tcsolve::positive_diagonal(on, a, filtered, values, d);
}
void smooth(Device& device, Arena& arena, CsrView<double> const& product,
            CsrView<double> const& tentative, double const* d, double omega, double* p) {
  Converter on(device, arena);
  tcsolve::smooth(on, product, tentative, d, omega, p);
}
std::optional<sparse::OwnedPattern> joined_pattern(Device& device, Arena& arena,
                                                   CsrView<double> const& f,
                                                   PatternView const& tentative) {
  Converter on(device, arena);
  return tcsolve::joined_pattern(on, f, tentative);
}
void smooth_joined(Device& device, Arena& arena, CsrView<double> const& f,
                   CsrView<double> const& tentative, double const* d, double omega,
                   sparse::OwnedPattern const& pattern, double* p) {
  Converter on(device, arena);
  tcsolve::smooth_joined(on, f, tentative, d, omega, pattern, p);
}
WeighedRows smoother_weights(Device& device, Arena& arena, CsrView<double> const& a, RowWeight kind,
                             double* w) {
  Converter on(device, arena);
  return tcsolve::smoother_weights(on, a, kind, w);
}

}  // namespace tcsolve::cuda
