// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/symmetric_part.hpp>

namespace tcsolve::sparse {
namespace {

CsrView<double> const& square(CsrView<double> const& a) {
  if (a.rows != a.cols)
    throw ShapeError(cat("symmetric part: the matrix is ", a.rows, " x ", a.cols, ", not square"));
  return a;
}

}  // namespace

SymmetricPart::SymmetricPart(Context& ctx, CsrView<double> const& a) : transpose_(ctx, square(a)) {
  Context::Entry const entry(ctx);
  pattern_ = ctx.visit([&](auto& on) {
    return union_pattern(on, ctx.arena(), PatternView(a), transpose_.pattern().view());
  });
}

void SymmetricPart::values(Context& ctx, CsrView<double> const& a, double* h) const {
  pattern_there(ctx, "symmetric part", a);
  require_planned("symmetric part", a, pattern_.rows, pattern_.cols, transpose_.pattern().entries);
  Context::Entry const entry(ctx);
  auto scope = ctx.arena().scope();
  auto* const t = scope.take<double>(static_cast<std::size_t>(a.entries));
  transpose_.values(ctx, a.values, t);
  CsrView<double> const back = transpose_.pattern().with(static_cast<double const*>(t));
  ctx.visit([&](auto& on) { average_values(on, ctx.arena(), a, back, pattern_.offsets(), h); });
}

}  // namespace tcsolve::sparse
