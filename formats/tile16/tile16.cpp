// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/tile16/tile16.hpp>

#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/matrix/same_pattern.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve {

template <class S>
Tile16<S>::Tile16(Context& ctx, CsrView<S> const& a, Tile16Tuning const& tuning) : tuning_(tuning) {
  if (tuning.least < 1 || tuning.least > 257)
    throw ShapeError(cat("tile16: least = ", tuning.least, " is outside [1, 257]"));
  arrays_ = ctx.visit([&](auto& on) { return build_tile16(on, ctx.arena(), a, tuning); });
}

template <class S>
void Tile16<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("tile16", view(), a);
  ctx.visit([&](auto& on) { refill_tile16(on, ctx.arena(), a, arrays_); });
  transposed_.reset();
}

template <class S>
std::size_t Tile16<S>::bytes() const {
  return own_bytes() + (transposed_ ? transposed_->bytes() : 0);
}

template <class S>
std::size_t Tile16<S>::own_bytes() const {
  Tile16Arrays<S> const& m = arrays_;
  return m.start.bytes() + m.first.bytes() + m.rest_start.bytes() + m.column.bytes() +
         m.rest_columns.bytes() + m.row_start.bytes() + m.places.bytes() + m.values.bytes() +
         m.rest_values.bytes();
}

template <class S>
CsrStorage<S> Tile16<S>::entries(Context& ctx) const {
  return {ctx, view().rows, view().cols,
          ctx.visit([&](auto& on) { return entries_tile16(on, ctx.arena(), view()); })};
}

template <class S>
Csr<S> Tile16<S>::to_csr(Context& ctx) const {
  Context::Entry const entry(ctx);
  return to_host(ctx, entries(ctx).view());
}

template <class S>
Tile16<S> const& Tile16<S>::transposed(Context& ctx) const {
  if (!transposed_) {
    CsrStorage<S> const at = sparse::transposed<S>(ctx, entries(ctx).view());
    transposed_ = std::make_unique<Tile16>(ctx, at.view(), tuning_);
  }
  return *transposed_;
}

#define TCSOLVE_INSTANTIATE(S) template class Tile16<S>;
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
