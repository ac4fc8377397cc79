// SPDX-License-Identifier: Apache-2.0
/// The product with a matrix made here, its values stored in a type chosen at run time; its owner
/// gives it new ones.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <tcsolve/factors/apply/float_product.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/matrix/scaled.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// f(S{}), S the type that factors are stored in: double, float or half.
template <class F>
void by_stored_type(Real values, F const& f) {
  switch (values) {
    case Real::f64: return f(double{});
    case Real::f32: return f(float{});
    default: return f(half{});
  }
}

/// A product in the Context's space: where its entries are, and the operator that has their values.
struct StoredProduct {
  CsrView<double> pattern;  ///< without values
  std::shared_ptr<LinearOperator<double>> product;
  std::shared_ptr<FloatProduct> floats;  ///< the same on FP32 vectors

  /// New values, which lie where the pattern does.
  void update(Context& ctx, double const* values) const {
    if (pattern.entries == 0) return;
    CsrView<double> now = pattern;
    now.values = values;
    take(ctx, now);
  }
  void take(Context& ctx, CsrView<double> const& now) const {
    product->update_values(ctx, now);
    floats->follow(ctx);
  }
};

/// `to` becomes the product with `a`, a host matrix, where the Context computes: it takes new
/// values on the same pattern, or is made where there is none. Throws MatrixError where a value is
/// beyond the range of S.
template <class S>
void store(Context& ctx, Csr<double> a, StoredProduct& to) {
  if (to.product) {
    if (a.entries() > 0) to.take(ctx, a.view());
    return;
  }
  auto const made = [&] {
    if constexpr (std::is_same_v<S, double>)
      return std::make_shared<CsrOperator<double>>(ctx, std::move(a));
    else
      return std::make_shared<CsrOperator<double, S>>(ctx, converted<S>(a));
  }();
  CsrView<S> const& at = made->view();
  to = {{at.rows, at.cols, at.entries, at.offsets, at.columns, nullptr, at.space},
        made,
        float_product<S>(made)};
}

/// The same of a matrix in the Context's space.
template <class S>
void store(Context& ctx, CsrStorage<double> a, StoredProduct& to) {
  if (to.product) {
    if (a.view().entries > 0) to.take(ctx, a.view());
    return;
  }
  auto const made = [&] {
    if constexpr (std::is_same_v<S, double>) {
      return std::make_shared<CsrOperator<double>>(ctx, std::move(a));
    } else {
      auto memory = ctx.arena().scope();
      NarrowCsr<S> const narrow(ctx, a.view(), Beyond::refuse_infinite, memory);
      return std::make_shared<CsrOperator<double, S>>(ctx, narrow.view(), Arrays::copied);
    }
  }();
  CsrView<S> const& at = made->view();
  to = {{at.rows, at.cols, at.entries, at.offsets, at.columns, nullptr, at.space},
        made,
        float_product<S>(made)};
}

}  // namespace tcsolve
