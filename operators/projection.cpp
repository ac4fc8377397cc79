// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/projection.hpp>

#include <algorithm>
#include <cmath>

#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/matrix/powers.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/operators/projection_ops.hpp>

namespace tcsolve {

template struct host::Executes<ProjectionOps>;

namespace {

Index length_of(std::vector<std::vector<double>> const& vectors) {
  return vectors.empty() ? 0 : narrow(static_cast<std::int64_t>(vectors[0].size()), "length");
}

/// <v, w> of all ranks, in their order.
double dot(Communicator& ranks, std::vector<double> const& v, std::vector<double> const& w) {
  double mine = 0;
  for (std::size_t i = 0; i < v.size(); ++i) mine += v[i] * w[i];
  std::vector<double> all(static_cast<std::size_t>(ranks.ranks()));
  ranks.gather(&mine, 1, all.data());
  double sum = 0;
  for (double const part : all) sum += part;
  return sum;
}
double norm(Communicator& ranks, std::vector<double> const& v) {
  return std::sqrt(dot(ranks, v, v));
}

/// v 2^e of largest entry in [1, 2), whose squares neither overflow nor vanish: a vector spans the
/// same line at any scale.
void scale_to_unit(Communicator& ranks, std::vector<double>& v) {
  double largest = 0;
  for (double const x : v) largest = std::max(largest, std::fabs(x));
  largest = ranks.agree(largest);
  if (!powers::finite_nonzero(largest)) return;
  int const e = powers::exponent(largest);
  for (double& x : v) x = powers::times_power(x, -e);
}

}  // namespace

Projection::Projection(Context& ctx, std::vector<std::vector<double>> vectors)
    : LinearOperator<double>(length_of(vectors), length_of(vectors)) {
  Communicator& ranks = ctx.communicator();
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    std::vector<double>& v = vectors[k];
    if (v.size() != vectors[0].size())
      throw ShapeError(cat("projection: vector ", k + 1, " has ", v.size(), " entries, the first ",
                           vectors[0].size()));
    scale_to_unit(ranks, v);
    double const length = norm(ranks, v);
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t l = 0; l < k; ++l) {
        double const sum = dot(ranks, vectors[l], v);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] -= sum * vectors[l][i];
      }
    double const left = norm(ranks, v);
    if (!(left > 1e-10 * length) || !std::isfinite(left))
      throw ShapeError(
          cat("projection: vector ", k + 1, " is zero, not finite, or depends on those before it"));
    for (double& x : v) x /= left;
    z_.emplace_back(ctx.space(), rows());
    copy_bytes(ctx, z_.back().view().data, ctx.space(), v.data(), Space::host,
               sizeof(double) * v.size());
  }
}

Cost Projection::cost(Index k) const {
  double const n = rows(), m = static_cast<double>(z_.size());
  return {4 * n * m * k, 8 * n * (2 + 2 * m) * k, 1};
}

void Projection::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                          Op) const {
  auto scope = ctx.arena().scope();
  Out<double> const t = scope.template vectors<double>(rows(), 1);
  Out<double> const sigma = scope.template vectors<double>(1, 1);
  for (Index j = 0; j < x.cols; ++j) {
    copy<double, double>(ctx, column(x, j), t);
    for (Vector<double> const& z : z_) {
      dot<double>(ctx, z.view(), t, sigma.data);
      submit(ctx, SubtractMultiple{t.rows, sigma.data, z.view().data, t.data});
    }
    axpby<double, double>(ctx, alpha, t, beta, column(y, j));
  }
}

}  // namespace tcsolve
