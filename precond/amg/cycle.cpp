// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/cycle.hpp>

#include <utility>

#include <tcsolve/precond/amg/ops.hpp>

namespace tcsolve {

AmgCycle::AmgCycle(std::shared_ptr<AmgHierarchy const> hierarchy)
    : LinearOperator<double>(hierarchy->levels().front().rows, hierarchy->levels().front().rows),
      hierarchy_(std::move(hierarchy)) {}

Traits AmgCycle::traits() const {
  Traits all{.isolates_nonfinite = false, .operations = true};
  all.precision = hierarchy_->levels().front().A->traits().precision;
  for (AmgLevel const& l : hierarchy_->levels())
    for (LinearOperator<double> const* const part :
         {l.A.get(), l.P.get(), l.R.get(), l.inverse.get()}) {
      if (part == nullptr) continue;
      Traits const own = part->traits();
      all.fixed = all.fixed && own.fixed;
      all.capturable = all.capturable && own.capturable;
      all.operations = all.operations && own.operations;
    }
  return all;
}

int AmgCycle::visits(std::size_t level) const {
  bool const twice = hierarchy_->params().cycle == AmgCycleKind::w;
  std::size_t const last = hierarchy_->levels().size() - 1;
  return twice && level > 0 ? 1 << std::min<std::size_t>(30, level - (level == last)) : 1;
}

Cost AmgCycle::cost(Index k) const {
  Cost sum{.stored_per_entry = 1};
  int const steps = 2 * hierarchy_->params().degree;
  for (std::size_t l = 0; l < hierarchy_->levels().size(); ++l) {
    AmgLevel const& level = hierarchy_->levels()[l];
    double const times = visits(l), n = double(level.rows) * k;
    auto const add = [&](OperatorPtr<double> const& part, double factor) {
      if (!part) return;
      Cost const own = part->cost(k);
      sum.flops += times * factor * own.flops;
      sum.bytes += times * factor * own.bytes;
    };
    if (level.inverse) {
      add(level.inverse, 1);
      continue;
    }
    add(level.A, level.P ? steps : steps / 2 - 1), add(level.P, 1), add(level.R, 1);
    sum.flops += times * steps * 5 * n;
    sum.bytes += times * steps * 56 * n;
  }
  return sum;
}

double AmgCycle::advance(Context& ctx, double applications) const {
  AmgLevel const& finest = hierarchy_->levels().front();
  double const products = finest.inverse ? 0
                          : finest.P     ? 2.0 * hierarchy_->params().degree
                                         : hierarchy_->params().degree - 1;
  if (products == 0) return std::numeric_limits<double>::infinity();
  return finest.A->advance(ctx, products * applications) / products;
}

// Saad's symbols: theta and delta are the centre and half width of the interval, sigma = theta /
// delta.
void AmgCycle::smooth_level(Context& ctx, AmgLevel const& level, Vectors const& v, Out<double> x,
                            bool first, bool residual) const {
  AmgParams const& p = hierarchy_->params();
  auto const step = [&](double keep, double gain, bool writes) {
    submit(ctx, SmoothingStep{x.size(), keep, gain, level.weights.data(), In<double>(v.r), v.d, x,
                              writes});
  };
  bool const chebyshev = p.smoother == AmgSmoother::chebyshev;
  double const high = 1.1 * level.lambda_max, low = high / p.eig_ratio, theta = (high + low) / 2,
               delta = (high - low) / 2, sigma = theta / delta;
  double rho = 1 / sigma;
  step(0, chebyshev ? 1 / theta : 1.0, first);
  for (int k = 1; k < p.degree; ++k) {
    level.A->apply(ctx, -1, v.d, 1, v.r);  // r -= A d
    if (chebyshev) {
      double const next = 1 / (2 * sigma - rho);
      step(next * rho, 2 * next / delta, false);
      rho = next;
    } else {
      step(0, 1, false);
    }
  }
  if (residual) level.A->apply(ctx, -1, v.d, 1, v.r);
}

void AmgCycle::cycle(Context& ctx, std::size_t l, In<double> f, Out<double> x) const {
  AmgLevel const& level = hierarchy_->levels()[l];
  if (level.inverse) {
    level.inverse->apply(ctx, f, x);
    return;
  }
  auto scope = ctx.arena().scope();
  Vectors const v{scope.vectors<double>(f.rows, f.cols), scope.vectors<double>(f.rows, f.cols)};
  copy<double, double>(ctx, f, v.r);
  smooth_level(ctx, level, v, x, true, level.P != nullptr);
  if (!level.P) return;
  Index const m = level.P->cols();
  Out<double> const right = scope.vectors<double>(m, f.cols), e = scope.vectors<double>(m, f.cols);
  level.R->apply(ctx, v.r, right);
  cycle(ctx, l + 1, right, e);
  AmgLevel const& next = hierarchy_->levels()[l + 1];
  if (hierarchy_->params().cycle == AmgCycleKind::w && next.P) {
    Out<double> const more = scope.vectors<double>(m, f.cols);
    next.A->apply(ctx, -1, e, 1, right);
    cycle(ctx, l + 1, right, more);
    axpby<double, double>(ctx, 1.0, more, 1.0, e);
  }
  level.P->apply(ctx, 1, e, 1, x);
  level.A->residual(ctx, f, x, v.r);
  smooth_level(ctx, level, v, x, false, false);
}

void AmgCycle::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                        Op) const {
  if (alpha == 1 && beta == 0) return cycle(ctx, 0, x, y);
  auto scope = ctx.arena().scope();
  Out<double> const sum = scope.vectors<double>(x.rows, x.cols);
  cycle(ctx, 0, x, sum);
  axpby<double, double>(ctx, alpha, sum, beta, y);
}

}  // namespace tcsolve
