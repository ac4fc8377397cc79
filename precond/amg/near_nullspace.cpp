// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/near_nullspace.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/precond/amg/strength.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {
namespace {

/// A point a row.
std::vector<double> points_of(NearNullspaceParams const& params) {
  if (params.points) return *params.points;
  Columns const file = [&] {
    try {
      return read_columns_file(params.coordinates, "x");
    } catch (MatrixError const& e) {
      throw SetupError(
          cat("amg: 'near_nullspace.coordinates' is a file with the 2 or 3 coordinates ",
              "of a node in each line: ", e.what()));
    }
  }();
  std::vector<double> points(file.values.size());
  for (Index i = 0; i < file.rows; ++i)
    for (Index c = 0; c < file.cols; ++c)
      points[static_cast<std::size_t>(i) * file.cols + c] =
          file.values[static_cast<std::size_t>(c) * file.rows + i];
  return points;
}

/// From their mean, and of size 1: translations and rotations are of one size, whatever the unit of
/// length.
void centre(std::vector<double>& points, Index nodes, Index dim) {
  std::vector<double> mean(dim, 0.0);
  for (Index i = 0; i < nodes; ++i)
    for (Index c = 0; c < dim; ++c) mean[c] += points[std::size_t(i) * dim + c];
  for (double& m : mean) m /= nodes;
  double farthest = 0;
  for (Index i = 0; i < nodes; ++i)
    for (Index c = 0; c < dim; ++c) {
      double& p = points[std::size_t(i) * dim + c];
      p -= mean[c];
      farthest = std::max(farthest, std::abs(p));
    }
  if (!(farthest > 0)) return;
  int const e = -std::ilogb(farthest);
  double const scale = std::ldexp(1.0, e);
  constexpr int far = 1000;  // where it is no power of two
  for (double& p : points) p = std::abs(e) < far ? p * scale : std::ldexp(p, e);
}

}  // namespace

std::vector<double> cancellation(Context& ctx, CsrView<double> const& a, double const* B,
                                 Index count) {
  constexpr int most = Cancellation::most;
  // A prime, so that no unknown of a node is left out.
  constexpr Index looked_at = 65521;
  auto scope = ctx.arena().scope();
  double* const there = scope.take<double>(2 * most);
  std::vector<double> ratios;
  for (Index first = 0; first < count; first += most) {
    submit(ctx, Cancellation{std::min(a.rows, looked_at), a, B, count, first, there});
    std::array<double, 2 * most> sums{};
    copy_bytes(ctx, sums.data(), Space::host, there, ctx.space(), sizeof sums);
    for (int c = 0; c < std::min(most, count - first); ++c)
      ratios.push_back(sums[most + c] > 0 ? sums[c] / sums[most + c] : 0.0);
  }
  return ratios;
}

NearNullspace near_nullspace(Context& ctx, System const& system,
                             NearNullspaceParams const& params) {
  CsrView<double> const& a = system.matrix;
  bool const solid = params.points || !params.coordinates.empty();
  NearNullspace made;
  made.block = params.block > 0 ? params.block : natural_node_size(ctx, a);
  if (a.rows % made.block != 0)
    throw SetupError(
        cat("amg: near_nullspace: block: ", made.block, " does not divide the ", a.rows, " rows"));
  auto const vectors = [&](Index count) {
    made.count = count;
    made.vectors = Array<double>(ctx.space(), std::size_t(a.rows) * count);
    return made.vectors.data();
  };
  Context::Entry const entry(ctx);
  if (solid) {
    std::vector<double> points = points_of(params);
    if (params.block == 0 && made.block != 2 && made.block != 3)
      throw SetupError(cat("amg: near_nullspace: coordinates are for 2 or 3 unknowns a node, the ",
                           "pattern suggests ", made.block, "; say `block`"));
    Index const dim = made.block, nodes = a.rows / made.block;
    if (dim != 2 && dim != 3)
      throw SetupError(
          cat("amg: near_nullspace: coordinates are for a block of 2 or 3, not of ", made.block));
    if (points.size() != std::size_t(nodes) * dim)
      throw SetupError(cat("amg: near_nullspace: there are ", points.size(), " coordinates, and ",
                           nodes, " nodes of ", dim, " unknowns need ", std::int64_t{nodes} * dim));
    auto const wrong = std::ranges::find_if_not(points, [](double p) { return std::isfinite(p); });
    if (wrong != points.end())
      throw SetupError(cat("amg: near_nullspace: the coordinates of node ",
                           (wrong - points.begin()) / dim + 1, " are not finite"));
    centre(points, nodes, dim);
    Array<double> const there = to_space(ctx, points.data(), points.size());
    double* const B = vectors(dim == 2 ? 3 : 6);
    ctx.visit([&](auto& on) { rigid_body_modes(on, ctx.arena(), nodes, dim, there.data(), B); });
  } else {
    double* const B = vectors(made.block);
    ctx.visit([&](auto& on) { translations(on, ctx.arena(), a.rows, made.block, B); });
  }
  made.ratios = cancellation(ctx, a, made.vectors.data(), made.count);
  return made;
}

}  // namespace tcsolve
