// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/near_nullspace.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/precond/amg/node_points.hpp>
#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/precond/amg/strength.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {
namespace {

/// As they are given: a point after the other, or as columns of a file.
struct GivenPoints {
  Columns file;
  std::span<double const> all;
  bool by_columns = false;
};

GivenPoints points_of(NearNullspaceParams const& params, System const& system) {
  GivenPoints given;
  if (params.points) {
    given.all = *params.points;
  } else if (params.coordinates.empty()) {
    given.all = system.nodes->coordinates;
  } else {
    try {
      given.file = read_columns_file(params.coordinates, "x");
    } catch (MatrixError const& e) {
      throw SetupError(
          cat("amg: 'near_nullspace.coordinates' is a file with the 2 or 3 coordinates ",
              "of a node in each line: ", e.what()));
    }
    given.all = given.file.values;
    given.by_columns = given.file.cols > 1;
  }
  return given;
}

/// The vectors of the caller's, by the keys or by what is known of A; none where there are none.
std::vector<std::vector<double>> vectors_of(NearNullspaceParams const& params,
                                            System const& system) {
  std::vector<std::vector<double>> all;
  for (std::string const& file : params.files) {
    Columns const z = read_columns_file(file, "z");
    for (Index c = 0; c < z.cols; ++c) {
      auto const at = z.values.begin() + std::ptrdiff_t{c} * z.rows;
      all.emplace_back(at, at + z.rows);
    }
  }
  if (all.empty() && system.nodes) all = system.nodes->near_nullspace;
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::string const which = cat("amg: near_nullspace: vector ", k + 1, " of ", all.size());
    if (all[k].size() != static_cast<std::size_t>(system.matrix.rows))
      throw SetupError(cat(which, " has ", all[k].size(), " entries, A ", system.matrix.rows));
    auto const wrong = std::ranges::find_if_not(all[k], [](double v) { return std::isfinite(v); });
    if (wrong != all[k].end())
      throw SetupError(cat(which, ": entry ", wrong - all[k].begin() + 1, " is not finite"));
    if (std::ranges::all_of(all[k], [](double v) { return v == 0; }))
      throw SetupError(cat(which, " is zero"));
  }
  constexpr std::size_t most = 16;
  if (all.size() > most)
    throw SetupError(cat("amg: near_nullspace: ", all.size(),
                         " vectors; nodes of coarser levels have "
                         "as many unknowns, ",
                         most, " at the most"));
  return all;
}

/// Beyond it A does not map a vector to nearly zero: of a random one it is about 0.6, of a good one
/// on a small grid, most of which is boundary, up to 0.3.
constexpr double most_left = 0.5;

void warn_of_wrong(Context& ctx, std::string const& which, double ratio, bool keep,
                   char const* hint = "") {
  ctx.log(Severity::warning,
          cat("amg: near_nullspace: A does not map ", which, " to nearly zero, ||A z||_1 is ",
              ratio, " of || |A| |z| ||_1; it is ",
              keep ? "kept" : "left out, unless `keep` says otherwise", hint));
}

/// Columns as rows of (n x k).
std::vector<double> by_rows(std::vector<std::vector<double>> const& columns) {
  std::size_t const n = columns.front().size(), k = columns.size();
  std::vector<double> rows(n * k);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < k; ++c) rows[i * k + c] = columns[c][i];
  return rows;
}

/// The vectors that A does map to nearly zero, or all where they are to be kept.
std::vector<std::vector<double>> fit_ones(Context& ctx, CsrView<double> const& a,
                                          std::vector<std::vector<double>> all, bool keep) {
  if (all.empty()) return all;
  std::vector<double> const rows = by_rows(all);
  Array<double> const there = to_space(ctx, rows.data(), rows.size());
  auto const ratios = cancellation(ctx, a, there.data(), static_cast<Index>(all.size()));
  std::vector<std::vector<double>> fit;
  for (std::size_t k = 0; k < all.size(); ++k) {
    bool const wrong = ratios[k] > most_left;
    if (wrong) warn_of_wrong(ctx, cat("vector ", k + 1), ratios[k], keep);
    if (keep || !wrong) fit.push_back(std::move(all[k]));
  }
  return fit;
}

/// Leaves out the rotations that A does not map to nearly zero, unless they are to be kept. The
/// translations before them are represented whatever A does.
void leave_out_wrong(Context& ctx, NearNullspace& made, Index translations, bool keep) {
  std::vector<Index> fit;
  for (Index c = 0; c < made.count; ++c) {
    bool const wrong = c >= translations && made.ratios[std::size_t(c)] > most_left;
    if (wrong)
      warn_of_wrong(ctx, cat("rigid body mode ", c + 1), made.ratios[std::size_t(c)], keep,
                    "; are the coordinates those of this matrix, in its order?");
    if (keep || !wrong) fit.push_back(c);
  }
  std::size_t const all = static_cast<std::size_t>(made.count), left = fit.size();
  if (left == all) return;
  std::vector<double> const before = to_host(ctx, made.vectors);
  std::vector<double> rows(before.size() / all * left), ratios;
  for (std::size_t k = 0; k < rows.size(); ++k)
    rows[k] = before[k / left * all + std::size_t(fit[k % left])];
  for (Index const c : fit) ratios.push_back(made.ratios[std::size_t(c)]);
  made.vectors = to_space(ctx, rows.data(), rows.size());
  made.count = static_cast<Index>(left);
  made.ratios = std::move(ratios);
}

/// Of points in the Context's space, `given` on the host.
PointsFrame frame_of(Context& ctx, NodePoints const& points, std::span<double const> given) {
  auto scope = ctx.arena().scope();
  double* const there = scope.take<double>(5);
  submit(ctx, SumOfPoints{points.nodes, points, there});
  submit(ctx, FarthestPoint{points.nodes, points, there, there + 4});
  std::array<double, 5> found{};
  copy_bytes(ctx, found.data(), Space::host, there, ctx.space(), sizeof found);
  double const farthest = found[4];
  if (!std::isfinite(farthest)) {
    auto const wrong = std::ranges::find_if_not(given, [](double p) { return std::isfinite(p); });
    if (wrong == given.end())
      throw SetupError("amg: near_nullspace: the coordinates are beyond the range of FP64");
    throw SetupError(cat("amg: near_nullspace: the coordinates of node ",
                         (wrong - given.begin()) / points.node % points.nodes + 1,
                         " are not finite"));
  }
  int const e = farthest > 0 ? -std::ilogb(farthest) : 0;
  PointsFrame frame{{}, {std::ldexp(1.0, e / 2), std::ldexp(1.0, e - e / 2)}};
  for (int c = 0; c < 3; ++c) frame.mean[c] = found[std::size_t(c)] / found[3];
  return frame;
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
  bool const named = params.points || !params.coordinates.empty(), listed = !params.files.empty();
  bool const solid = named || (!listed && system.nodes && !system.nodes->coordinates.empty());
  int const known = params.block > 0 ? params.block : system.nodes ? system.nodes->block : 0;
  NearNullspace made;
  made.block = known > 0 ? known : natural_node_size(ctx, a);
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
    GivenPoints const given = points_of(params, system);
    if (known == 0 && made.block != 2 && made.block != 3)
      throw SetupError(cat("amg: near_nullspace: coordinates are for 2 or 3 unknowns a node, the ",
                           "pattern suggests ", made.block, "; say `block`"));
    Index const dim = made.block, nodes = a.rows / made.block;
    if (dim != 2 && dim != 3)
      throw SetupError(
          cat("amg: near_nullspace: coordinates are for a block of 2 or 3, not of ", made.block));
    if (given.all.size() != std::size_t(nodes) * dim)
      throw SetupError(cat("amg: near_nullspace: there are ", given.all.size(),
                           " coordinates, and ", nodes, " nodes of ", dim, " unknowns need ",
                           std::int64_t{nodes} * dim));
    if (given.by_columns && given.file.cols != dim)
      throw SetupError(cat("amg: near_nullspace: '", params.coordinates, "' has ", given.file.cols,
                           " numbers a line, and nodes of ", dim, " unknowns need ", dim));
    Array<double> const there = to_space(ctx, given.all.data(), given.all.size());
    NodePoints const points{there.data(), nodes, dim, given.by_columns ? 1 : dim,
                            given.by_columns ? nodes : 1};
    PointsFrame const frame = frame_of(ctx, points, given.all);
    double* const B = vectors(dim == 2 ? 3 : 6);
    ctx.visit([&](auto& on) { rigid_body_modes(on, ctx.arena(), points, frame, B); });
  } else if (auto const given = fit_ones(ctx, a, vectors_of(params, system), params.keep);
             !given.empty()) {
    std::vector<double> const rows = by_rows(given);
    double* const B = vectors(static_cast<Index>(given.size()));
    copy_bytes(ctx, B, ctx.space(), rows.data(), Space::host, made.vectors.bytes());
    made.given = true;
  } else {
    double* const B = vectors(made.block);
    ctx.visit([&](auto& on) { translations(on, ctx.arena(), a.rows, made.block, B); });
  }
  made.ratios = cancellation(ctx, a, made.vectors.data(), made.count);
  if (solid) leave_out_wrong(ctx, made, made.block, params.keep);
  return made;
}

}  // namespace tcsolve
