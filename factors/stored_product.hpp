// SPDX-License-Identifier: Apache-2.0
/// The product with a matrix made here, its values stored in a type chosen at run time.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <tcsolve/formats/csr/operator.hpp>
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

/// The product with `a`, a host matrix, where the Context computes: `old` with new values on the
/// same pattern, or a new one where it is null. Throws MatrixError where a value is beyond the
/// range of S.
template <class S>
OperatorPtr<double> stored_product(Context& ctx, Csr<double> a, OperatorPtr<double> const& old) {
  if (old) {
    std::const_pointer_cast<LinearOperator<double>>(old)->update_values(ctx, a.view());
    return old;
  }
  if constexpr (std::is_same_v<S, double>)
    return std::make_shared<CsrOperator<double>>(ctx, std::move(a));
  else
    return std::make_shared<CsrOperator<double, S>>(ctx, converted<S>(a));
}

/// The pattern of the product's matrix, not copied.
template <class S>
CsrView<double> csr_pattern(LinearOperator<double> const& product) {
  CsrView<S> const& a = dynamic_cast<CsrOperator<double, S> const&>(product).view();
  return {a.rows, a.cols, a.entries, a.offsets, a.columns, nullptr, a.space};
}

}  // namespace tcsolve
