// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/strength.hpp>

#include <cmath>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/sparse/rows.hpp>

namespace tcsolve {

namespace {

/// Squares of the entries are added: a power of two brings the largest diagonal entry to 1.
double scale_for_squares(Context& ctx, CsrView<double> const& a) {
  if (a.rows == 0) return 1;
  auto scope = ctx.arena().scope();
  Out<double> const d = scope.vector<double>(a.rows);
  sparse::diagonal<double>(ctx, a, d);
  double const most = largest<double>(ctx, d);
  return std::isnormal(most) ? std::ldexp(1.0, -std::ilogb(most)) : 1;
}

}  // namespace

StrengthGraph strength_graph(Context& ctx, CsrView<double> const& a, Index block, double theta) {
  sparse::pattern_there(ctx, "strength graph", a);
  if (a.rows != a.cols || block < 1 || block > most_node_rows || a.rows % block != 0)
    throw ShapeError(cat("strength graph: the matrix is ", a.rows, " x ", a.cols, ", a node ",
                         block, " rows; needed are a square one, and 1 to ", most_node_rows,
                         " rows that divide its own"));
  Context::Entry const entry(ctx);
  double const scale = scale_for_squares(ctx, a);
  return ctx.visit(
      [&](auto& on) { return strength_graph(on, ctx.arena(), a, block, theta, scale); });
}

double share_of_places(Context& ctx, CsrView<double> const& a, Index block, Index first,
                       Index rows) {
  sparse::pattern_there(ctx, "places in blocks", a);
  Context::Entry const entry(ctx);
  return ctx.visit(
      [&](auto& on) { return share_of_places(on, ctx.arena(), a, block, first, rows); });
}

bool same_couplings(Context& ctx, CsrView<double> const& a, Index block, double theta,
                    PatternView const& blocks, std::uint8_t const* keep) {
  Context::Entry const entry(ctx);
  double const scale = scale_for_squares(ctx, a);
  return ctx.visit([&](auto& on) {
    return same_couplings(on, ctx.arena(), a, block, theta, scale, blocks, keep);
  });
}

Index natural_node_size(Context& ctx, CsrView<double> const& a) {
  // Nodes of one unknown fill half of the blocks of two: a row and the next one are neighbours.
  constexpr double full = 0.8, hopeless = 0.65;
  constexpr Index part = 60 * 64;  // whole nodes of every size
  for (Index block = 6; block > 1; --block) {
    if (a.rows % block != 0 || a.rows == 0) continue;
    Index const middle = (a.rows - part) / 2 / block * block;
    if (a.rows > 2 * part && share_of_places(ctx, a, block, middle, part) < hopeless) continue;
    if (share_of_places(ctx, a, block, 0, a.rows) >= full) return block;
  }
  return 1;
}

}  // namespace tcsolve
