// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/factored_inverse.hpp>

#include <utility>

namespace tcsolve {
namespace {

std::shared_ptr<TriangularFactors const> transposed(TriangularFactors const& factors) {
  auto result = std::make_shared<TriangularFactors>();
  result->lower = transpose(factors.upper.view());
  result->upper = transpose(factors.lower.view());
  result->inverse_pivots = factors.inverse_pivots;
  return result;
}

}  // namespace

template <class S>
FactoredInverse<S>::FactoredInverse(Context& ctx, std::shared_ptr<TriangularFactors const> factors,
                                    TwoSided sides)
    : LinearOperator<double>(factors->lower.rows, factors->lower.rows),
      factors_(std::move(factors)),
      sides_(std::move(sides)),
      lower_(ctx, factors_->lower, true, sides_.row, sides_.row_scale),
      upper_(ctx, factors_->upper, false, lower_.order().place_of, factors_->inverse_pivots) {
  Space const space = ctx.space();
  y_ = Array<double>(space, lower_.order().row_of.size());
  z_ = Array<double>(space, upper_.order().row_of.size());
  std::vector<Index> to(z_.size(), -1);
  for (std::size_t p = 0; p < to.size(); ++p)
    if (Index const i = upper_.order().row_of[p]; i >= 0) to[p] = sides_.column[i];
  to_ = to_space(ctx, to.data(), to.size());
  factor_ = Array<double>(space, z_.size());
  place_columns(ctx);
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>) {
      unsigned const zeros[2] = {0, 0};
      tickets_ = to_space(ctx, zeros, 2);
      prepare_scratch(on, y_.data(), static_cast<std::int64_t>(y_.size()));
      prepare_scratch(on, z_.data(), static_cast<std::int64_t>(z_.size()));
    }
  });
}

template <class S>
FactoredInverse<S>::~FactoredInverse() = default;

template <class S>
void FactoredInverse<S>::place_columns(Context& ctx) {
  std::vector<double> factor(z_.size(), 0.0);
  for (std::size_t p = 0; p < factor.size(); ++p)
    if (Index const i = upper_.order().row_of[p]; i >= 0) factor[p] = sides_.column_scale[i];
  copy_bytes(ctx, factor_.data(), ctx.space(), factor.data(), Space::host,
             factor.size() * sizeof(double));
}

template <class S>
void FactoredInverse<S>::update(Context& ctx, std::shared_ptr<TriangularFactors const> factors,
                                TwoSided sides) {
  factors_ = std::move(factors);
  sides_ = std::move(sides);
  lower_.update(ctx, factors_->lower, sides_.row_scale);
  upper_.update(ctx, factors_->upper, factors_->inverse_pivots);
  place_columns(ctx);
  if (transposed_) transposed_->update(ctx, transposed(*factors_), sides_.transposed());
}

template <class S>
void FactoredInverse<S>::prepare(Context& ctx, Op op) const {
  if (op == Op::none) return;
  std::call_once(transposed_once_, [&] {
    transposed_ =
        std::make_unique<FactoredInverse>(ctx, transposed(*factors_), sides_.transposed());
  });
}

template <class S>
Traits FactoredInverse<S>::traits() const {
  return {.precision = {real_of<S>, Real::f64, Real::f64},
          .transpose = true,
          .isolates_nonfinite = false};
}

template <class S>
Cost FactoredInverse<S>::cost(Index k) const {
  double const entries = static_cast<double>(lower_.entries() + upper_.entries());
  double const n = rows();
  return {2 * (entries + n) * k, (entries * (sizeof(S) + 4.0) + 48 * n + 16 * n) * k, 1};
}

template <class S>
void FactoredInverse<S>::do_apply(Context& ctx, double alpha, In<double> x, double beta,
                                  Out<double> y, Op op) const {
  if (op == Op::transpose) {
    prepare(ctx, op);
    return transposed_->apply(ctx, alpha, x, beta, y);
  }
  auto const stride = [](auto const& v) {
    return v.layout == Layout::row_major ? v.ld : std::int64_t{1};
  };
  ctx.submit("factored_inverse", [this, alpha, x, beta, y, stride](Context& c) {
    c.visit([&]<class On>(On& on) {
      for (Index j = 0; j < x.cols; ++j) {
        double const* const from = x.data + x.offset(0, j);
        TriangleTarget const target{to_.data(), factor_.data(),          alpha,
                                    beta,       y.data + y.offset(0, j), stride(y)};
        if constexpr (OnDevice<On>) {
          auto const places = static_cast<Index>(z_.size());
          TriangleScratch const down{y_.data(), z_.data(),       places,
                                     false,     tickets_.data(), tickets_.data() + 1};
          TriangleScratch const up{z_.data(), y_.data(),           0,
                                   true,      tickets_.data() + 1, tickets_.data()};
          solve_triangle(on, lower_.view(), lower_.longest_mean(), from, stride(x), down, {});
          solve_triangle(on, upper_.view(), upper_.longest_mean(), y_.data(), 1, up, target);
        } else {
          solve_triangle(on, lower_.view(), lower_.order(), from, stride(x), y_.data(), {});
          solve_triangle(on, upper_.view(), upper_.order(), y_.data(), 1, z_.data(), target);
        }
      }
    });
  });
}

template class FactoredInverse<double>;
template class FactoredInverse<float>;
template class FactoredInverse<half>;

}  // namespace tcsolve
