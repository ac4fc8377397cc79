// SPDX-License-Identifier: Apache-2.0
/// Smoothed aggregation on the host: graphs, aggregates, prolongations, and fused operations.
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/steps.hpp>
#include <tcsolve/precond/amg/aggregates_build.hpp>
#include <tcsolve/precond/amg/joined_pattern_build.hpp>
#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/precond/amg/prolongation_build.hpp>
#include <tcsolve/precond/amg/skew_ops.hpp>
#include <tcsolve/precond/amg/strength_build.hpp>
#include <tcsolve/precond/amg/weights_build.hpp>

namespace tcsolve::host {

template struct Executes<AmgOps>;
template struct Executes<SkewOps>;

StrengthGraph strength_graph(Host&, Arena& arena, CsrView<double> const& a, Index block,
                             double theta, double scale) {
  Converter on(arena);
  return tcsolve::strength_graph(on, a, block, theta, scale);
}
double share_of_places(Host&, Arena& arena, CsrView<double> const& a, Index block, Index first,
                       Index rows) {
  Converter on(arena);
  return tcsolve::share_of_places(on, a, block, first, rows);
}
bool same_couplings(Host&, Arena& arena, CsrView<double> const& a, Index block, double theta,
                    double scale, PatternView const& blocks, std::uint8_t const* keep) {
  Converter on(arena);
  return tcsolve::same_couplings(on, a, block, theta, scale, blocks, keep);
}
Aggregates aggregates(Host&, Arena& arena, CancelFlag const& cancel, PatternView const& strong) {
  Converter on(arena);
  return tcsolve::aggregates(on, cancel, strong);
}
TentativePattern tentative_pattern(Host&, Arena& arena, Aggregates const& aggregates, Index block,
                                   Index vectors) {
  Converter on(arena);
  return tcsolve::tentative_pattern(on, aggregates, block, vectors);
}
void tentative_values(Host&, Arena& arena, TentativePattern const& T, double const* B,
                      double* values, double* coarse) {
  Converter on(arena);
  tcsolve::tentative_values(on, T, B, values, coarse);
}
void positive_diagonal(Host&, Arena& arena, CsrView<double> const& a,
                       sparse::OwnedPattern const& filtered, double* values, double* d) {
  Converter on(arena);
  tcsolve::positive_diagonal(on, a, filtered, values, d);
}
void smooth(Host&, Arena& arena, CsrView<double> const& product, CsrView<double> const& tentative,
            double const* d, double omega, double* p) {
  Converter on(arena);
  tcsolve::smooth(on, product, tentative, d, omega, p);
}
std::optional<sparse::OwnedPattern> joined_pattern(Host&, Arena& arena, CsrView<double> const& f,
                                                   PatternView const& tentative) {
  Converter on(arena);
  return tcsolve::joined_pattern(on, f, tentative);
}
void smooth_joined(Host&, Arena& arena, CsrView<double> const& f, CsrView<double> const& tentative,
                   double const* d, double omega, sparse::OwnedPattern const& pattern, double* p) {
  Converter on(arena);
  tcsolve::smooth_joined(on, f, tentative, d, omega, pattern, p);
}
WeighedRows smoother_weights(Host&, Arena& arena, CsrView<double> const& a, RowWeight kind,
                             double* w) {
  Converter on(arena);
  return tcsolve::smoother_weights(on, a, kind, w);
}

}  // namespace tcsolve::host
