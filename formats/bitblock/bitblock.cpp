// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/bitblock/bitblock.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <tcsolve/formats/bitblock/lines.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

template <class S>
Bitblock<S>::Bitblock(Context& ctx, CsrView<S> const& a, BitblockTuning const& tuning) {
  if (tuning.aside < 0 || tuning.aside > 64)
    throw ShapeError(cat("bitblock: aside = ", tuning.aside, " is outside [0, 64]"));
  arrays_ = ctx.visit([&](auto& on) { return build_bitblock(on, ctx.arena(), a, tuning); });
}

template <class S>
void Bitblock<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("bitblock", view(), a);
  ctx.visit([&](auto& on) { refill_bitblock(on, ctx.arena(), a, arrays_); });
}

template <class S>
std::size_t Bitblock<S>::bytes() const {
  BitblockArrays<S> const& m = arrays_;
  return m.start.bytes() + m.side_start.bytes() + m.blocks.bytes() + m.values.bytes() +
         m.side_columns.bytes() + m.side_values.bytes();
}

template <class S>
Csr<S> Bitblock<S>::to_csr(Context& ctx) const {
  auto const start = to_host(ctx, arrays_.start), side_start = to_host(ctx, arrays_.side_start);
  auto const blocks = to_host(ctx, arrays_.blocks);
  auto const values = to_host(ctx, arrays_.values), side_values = to_host(ctx, arrays_.side_values);
  auto const side_columns = to_host(ctx, arrays_.side_columns);
  BitblockView<S> here = view();
  here.start = start.data();
  here.blocks = blocks.data();
  here.values = values.data();
  here.side_start = side_start.empty() ? nullptr : side_start.data();
  here.side_columns = side_columns.data();
  here.side_values = side_values.data();
  Csr<S> out;
  out.rows = here.rows, out.cols = here.cols;
  std::vector<std::pair<Index, S>> row;
  auto const add = [&](Index column, S value) { row.emplace_back(column, value); };
  for (Index i = 0; i < here.rows; ++i) {
    row.clear();
    walk(here, i, add);
    std::ranges::sort(row, {}, &std::pair<Index, S>::first);
    for (auto const& [column, value] : row) {
      out.columns.push_back(column);
      out.values.push_back(value);
    }
    out.offsets.push_back(out.entries());
  }
  return out;
}

#define TCSOLVE_INSTANTIATE(S) template class Bitblock<S>;
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)

}  // namespace tcsolve
