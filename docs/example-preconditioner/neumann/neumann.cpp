// SPDX-License-Identifier: Apache-2.0
#include "neumann/neumann.hpp"

#include <limits>

namespace tcsolve {

Neumann::Neumann(Context& ctx, System const& system, NeumannParams const& params)
    : LinearOperator<double>(system.A->rows(), system.A->cols()),
      A_(system.A),
      D_(ctx, system.matrix),
      terms_(params.terms) {}

Traits Neumann::traits() const {
  Traits const a = A_->traits(), d = D_.traits();
  return {.precision = a.precision,
          .fixed = a.fixed,
          .capturable = a.capturable,
          .isolates_nonfinite = false,
          .operations = a.operations && d.operations};
}

Cost Neumann::cost(Index k) const {
  Cost const a = A_->cost(k), d = D_.cost(k);
  double const n = double(rows()) * k, products = terms_ - 1;
  return {products * a.flops + terms_ * (d.flops + 2 * n),
          products * a.bytes + terms_ * (d.bytes + 4 * 8 * n), 1};
}

/// A is applied by M alone: it is told how often.
double Neumann::advance(Context& ctx, double applications) const {
  double const products = terms_ - 1;
  if (products == 0) return std::numeric_limits<double>::infinity();
  return A_->advance(ctx, products * applications) / products;
}

void Neumann::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                       Op) const {
  auto scope = ctx.arena().scope();
  Out<double> const sum = scope.vectors<double>(x.rows, x.cols),
                    r = scope.vectors<double>(x.rows, x.cols);
  D_.apply(ctx, x, sum);
  for (int k = 1; k < terms_; ++k) {
    copy<double, double>(ctx, x, r);
    A_->apply(ctx, -1, sum, 1, r);  // r = x - A sum
    D_.apply(ctx, 1, r, 1, sum);    // sum += D^-1 r
  }
  axpby<double, double>(ctx, alpha, sum, beta, y);
}

std::unique_ptr<Preconditioner> NeumannFactory::build(Context& ctx, System const& system) const {
  return std::make_unique<Remade>(ctx, system, [params = params_](Context& c, System const& s) {
    return std::make_shared<Neumann>(c, s, params);
  });
}

}  // namespace tcsolve
