// SPDX-License-Identifier: Apache-2.0
/// The diagonal W that a level is smoothed with, x += W (b - A x), as an operator.
///
///     diagonal    w_i = 1 / a_ii
///     l1          w_i = 1 / sum_j |a_ij|: lambda_max(W A) <= 1 for every A that is positive definite
///                 (Baker, Falgout, Kolev and Yang 2011, Multigrid smoothers for ultraparallel
///                 computing, section 6), and |lambda(W A)| <= 1 for any A
///     spai0       w_i = a_ii / sum_j a_ij^2, the diagonal that is nearest to a left inverse:
///                 ||I - W A||_F is least (Broeker and Grote 2002, Sparse approximate inverse
///                 smoothers for geometric and algebraic multigrid, section 3)
///
/// w_i = 0 for a row of zeros. Nothing bounds lambda_max(W A) of spai0.
#pragma once

#include <limits>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

enum class RowWeight { diagonal, l1, spai0 };

/// w (rows) of a in the Context's space. Returns max_i w_i sum_j |a_ij| = ||W A||_inf, which no
/// eigenvalue of W A exceeds. Throws SetupError naming the first row whose diagonal entry is not
/// positive though it is no row of zeros, or whose inverse is out of range; `level` counts from 0,
/// the matrix that was given. Cost: one pass, a wait.
double smoother_weights(Context&, CsrView<double> const& a, RowWeight, int level, double* w);

/// The same norm of weights at hand. Cost: one pass, a wait.
double norm_of_weighted(Context&, CsrView<double> const& a, double const* w);

/// y = alpha W x + beta y of weights that it borrows.
class RowWeights final : public LinearOperator<double> {
 public:
  RowWeights(double const* w, Index rows) : LinearOperator<double>(rows, rows), w_(w) {}
  Traits traits() const override { return {.precision = {}, .operations = true}; }
  Cost cost(Index k) const override {
    return {double(rows()) * k, 8.0 * rows() * (1 + 2.0 * k), 1};
  }
  std::string name() const override { return "row weights"; }
  std::optional<Diagonal<double>> diagonal() const override { return Diagonal<double>{w_}; }

 private:
  void do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override {
    submit(ctx, Multiply<double>{y.size(), alpha, w_, x, beta, y});
  }
  void do_apply_dot(Context& ctx, double alpha, In<double> x, Out<double> y,
                    double* sigma) const override {
    submit(ctx, MultiplyDot<double>{y.rows, alpha, w_, x.data, y.data, sigma});
  }
  double const* w_;
};

}  // namespace tcsolve

namespace tcsolve {
/// What a pass over all rows finds.
struct WeighedRows {
  static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  double norm;       ///< ||W A||_inf
  std::int32_t bad;  ///< the first row without a weight
};
namespace host {
WeighedRows smoother_weights(Host&, Arena&, CsrView<double> const& a, RowWeight, double* w);
}  // namespace host
namespace cuda {
WeighedRows smoother_weights(Device&, Arena&, CsrView<double> const& a, RowWeight, double* w);
}  // namespace cuda
}  // namespace tcsolve
