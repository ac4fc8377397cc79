// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/bsell/bsell.hpp>

#include <algorithm>

#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

template <class S>
Bsell<S>::Bsell(Context& ctx, CsrView<S> const& a, BsellTuning const& tuning) {
  if (tuning.block != 0 && std::ranges::find(bsell_blocks, tuning.block) == bsell_blocks.end())
    throw ShapeError(cat("bsell: block = ", tuning.block, " is none of 0, 2, 3, 4, 6"));
  if (tuning.window < 1)
    throw ShapeError(cat("bsell: window = ", tuning.window, "; needed is a positive"));
  arrays_ = ctx.visit([&](auto& on) { return build_bsell(on, ctx.arena(), a, tuning); });
}

template <class S>
void Bsell<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("bsell", view(), a);
  ctx.visit([&](auto& on) { refill_bsell(on, ctx.arena(), a, arrays_); });
}

template <class S>
Csr<S> Bsell<S>::to_csr(Context& ctx) const {
  constexpr int C = BsellView<S>::C;
  auto const slices = to_host(ctx, arrays_.slices);
  auto const numbers = to_host(ctx, arrays_.numbers);
  auto const values = to_host(ctx, arrays_.values);
  auto const place = to_host(ctx, arrays_.place);
  BsellView<S> here = view();
  here.numbers = numbers.data();
  Index const b = here.block;
  Csr<S> a;
  a.rows = here.rows, a.cols = here.cols;
  for (Index i = 0; i < a.rows; ++i) {
    Index const p = place.empty() ? i / b : place[i / b];
    BsellSlice const& slice = slices[p / C];
    for (Index j = 0; j < slice.steps; ++j) {
      Offset const block = (Offset{slice.first} + j) * b + i % b;
      for (Index c = 0; c < b; ++c) {
        S const v = values[(block * b + c) * C + p % C];
        if (is_padding(v)) continue;
        a.columns.push_back(here.column(slice, j, p % C) * b + c);
        a.values.push_back(v);
      }
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

template class Bsell<double>;
template class Bsell<float>;
template class Bsell<half>;
template class Bsell<bfloat16>;

}  // namespace tcsolve
