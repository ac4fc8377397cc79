// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/near_nullspace.hpp>

#include <algorithm>
#include <cmath>

#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/precond/amg/strength.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {
namespace {

/// A point a row.
std::vector<double> points_of(NearNullspaceParams const& params) {
  if (params.points) return *params.points;
  Columns const file = read_columns_file(params.coordinates, "x");
  std::vector<double> points(file.values.size());
  for (Index i = 0; i < file.rows; ++i)
    for (Index c = 0; c < file.cols; ++c)
      points[static_cast<std::size_t>(i) * file.cols + c] =
          file.values[static_cast<std::size_t>(c) * file.rows + i];
  return points;
}

/// (nodes dim x modes) by rows.
std::vector<double> rigid_body_modes(std::vector<double> points, Index nodes, Index dim) {
  std::vector<double> mean(dim, 0.0);
  for (Index i = 0; i < nodes; ++i)
    for (Index c = 0; c < dim; ++c) mean[c] += points[std::size_t(i) * dim + c] / nodes;
  double farthest = 0;
  for (std::size_t e = 0; e < points.size(); ++e) {
    points[e] -= mean[e % dim];
    farthest = std::max(farthest, std::abs(points[e]));
  }
  // Translations and rotations are of one size, whatever the unit of length.
  if (farthest > 0)
    for (double& p : points) p = std::ldexp(p, -std::ilogb(farthest));
  Index const modes = dim == 2 ? 3 : 6;
  std::vector<double> B(std::size_t(nodes) * dim * modes, 0.0);
  for (Index i = 0; i < nodes; ++i) {
    double const* const p = points.data() + std::size_t(i) * dim;
    double* const b = B.data() + std::size_t(i) * dim * modes;
    for (Index c = 0; c < dim; ++c) b[c * modes + c] = 1;
    if (dim == 2) {
      b[2] = -p[1];
      b[modes + 2] = p[0];
      continue;
    }
    b[modes + 3] = -p[2], b[2 * modes + 3] = p[1];  // about x
    b[4] = p[2], b[2 * modes + 4] = -p[0];          // about y
    b[5] = -p[1], b[modes + 5] = p[0];              // about z
  }
  return B;
}

/// The largest ||A z||_1 / || |A| |z| ||_1 of the columns of B: 0 where A maps them to zero, 1
/// where nothing cancels.
double ratio_of(Context& ctx, System const& system, std::vector<double> const& B, Index count) {
  return with_host(ctx, system, [&](CsrView<double> const& a) {
    double worst = 0;
    CancelEvery at_times(ctx.cancel_flag(), std::int64_t{1} << 21);
    std::vector<double> sum(count), size(count), left(count, 0.0), all(count, 0.0);
    for (Index i = 0; i < a.rows; ++i) {
      at_times.add((a.offsets[i + 1] - a.offsets[i]) * count);
      std::ranges::fill(sum, 0.0), std::ranges::fill(size, 0.0);
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        for (Index c = 0; c < count; ++c) {
          double const term = a.values[k] * B[std::size_t(a.columns[k]) * count + c];
          sum[c] += term, size[c] += std::abs(term);
        }
      for (Index c = 0; c < count; ++c) left[c] += std::abs(sum[c]), all[c] += size[c];
    }
    for (Index c = 0; c < count; ++c)
      if (all[c] > 0) worst = std::max(worst, left[c] / all[c]);
    return worst;
  });
}

}  // namespace

NearNullspace near_nullspace(Context& ctx, System const& system,
                             NearNullspaceParams const& params) {
  CsrView<double> const& a = system.matrix;
  bool const solid = params.points || !params.coordinates.empty();
  NearNullspace made;
  made.block = params.block > 0 ? params.block : natural_node_size(ctx, a);
  if (a.rows % made.block != 0)
    throw SetupError(
        cat("amg: near_nullspace: block: ", made.block, " does not divide the ", a.rows, " rows"));
  std::vector<double> B;
  if (solid) {
    std::vector<double> const points = points_of(params);
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
    B = rigid_body_modes(points, nodes, dim);
    made.count = dim == 2 ? 3 : 6;
  } else {
    made.count = made.block;
    B.assign(std::size_t(a.rows) * made.count, 0.0);
    for (Index i = 0; i < a.rows; ++i) B[std::size_t(i) * made.count + i % made.block] = 1;
  }
  made.ratio = ratio_of(ctx, system, B, made.count);
  made.vectors = to_space(ctx, B.data(), B.size());
  return made;
}

}  // namespace tcsolve
