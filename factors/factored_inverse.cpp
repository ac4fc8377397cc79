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
  result->pivot_blocks = transpose(factors.pivot_blocks.view());
  return result;
}

/// What is solved first, L y = P R x, and with it w = D^-1 y where D is made of blocks: the
/// unknowns w stand behind y, a level after those of their block.
///
///     [  L        ] [ y ]   [ P R x ]
///     [ -D^-1   I ] [ w ] = [   0   ]
struct FirstSystem {
  Csr<double> triangle;
  std::vector<Index> from;
  std::vector<double> scale;
};
FirstSystem with_blocks(TriangularFactors const& factors, TwoSided const& sides) {
  Index const n = factors.lower.rows;
  Csr<double> const& blocks = factors.pivot_blocks;
  FirstSystem first{factors.lower, sides.row, sides.row_scale};
  Csr<double>& t = first.triangle;
  t.rows = t.cols = narrow(2 * std::int64_t{n}, "rows of two triangles");
  Offset const behind = t.entries();
  t.columns.insert(t.columns.end(), blocks.columns.begin(), blocks.columns.end());
  for (double const v : blocks.values) t.values.push_back(-v);
  for (Index i = 0; i < n; ++i) t.offsets.push_back(behind + blocks.offsets[i + 1]);
  first.from.insert(first.from.end(), sides.row.begin(), sides.row.end());
  first.scale.resize(first.from.size(), 0.0);
  return first;
}

/// Where the first system leaves what the second one, U z = w, begins with.
std::vector<Index> places_between(LevelOrder const& first, Index n) {
  return {first.place_of.end() - n, first.place_of.end()};
}

}  // namespace

template <class S>
FactoredInverse<S>::FactoredInverse(Context& ctx, std::shared_ptr<TriangularFactors const> factors,
                                    TwoSided sides)
    : LinearOperator<double>(factors->lower.rows, factors->lower.rows),
      factors_(std::move(factors)),
      sides_(std::move(sides)),
      lower_(first_triangle(ctx)),
      upper_(ctx, factors_->upper, false, places_between(lower_.order(), factors_->lower.rows),
             factors_->inverse_pivots) {
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
Triangle<S> FactoredInverse<S>::first_triangle(Context& ctx) const {
  if (factors_->pivot_blocks.rows == 0)
    return {ctx, factors_->lower, true, sides_.row, sides_.row_scale};
  FirstSystem const first = with_blocks(*factors_, sides_);
  return {ctx, first.triangle, true, first.from, first.scale};
}

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
  if (factors_->pivot_blocks.rows == 0) {
    lower_.update(ctx, factors_->lower, sides_.row_scale);
  } else {
    FirstSystem const first = with_blocks(*factors_, sides_);
    lower_.update(ctx, first.triangle, first.scale);
  }
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
          // The second solve leaves those unknowns alone that it does not begin with.
          if (factors_->pivot_blocks.rows > 0)
            prepare_scratch(on, y_.data(), static_cast<std::int64_t>(y_.size()));
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
