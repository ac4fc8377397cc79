// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/spaden/spaden.hpp>

#include <algorithm>
#include <bit>

#include <tcsolve/core/half.hpp>
#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

template <class S>
Spaden<S>::Spaden(Context& ctx, CsrView<S> const& a, SpadenTuning const& tuning) {
  if (tuning.side < 0 || tuning.side > 64)
    throw ShapeError(cat("spaden: side = ", tuning.side, " is outside [0, 64]"));
  if (tuning.piece < 1 || tuning.long_row < tuning.piece)
    throw ShapeError(
        cat("spaden: piece = ", tuning.piece, " is outside [1, long_row = ", tuning.long_row, "]"));
  if (tuning.share < 0) throw ShapeError(cat("spaden: share = ", tuning.share, " is negative"));
  arrays_ = ctx.visit([&](auto& on) { return build_spaden(on, ctx.arena(), a, tuning); });
}

template <class S>
void Spaden<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("spaden", view(), a);
  ctx.visit([&](auto& on) { refill_spaden(on, ctx.arena(), a, arrays_); });
}

template <class S>
std::size_t Spaden<S>::bytes() const {
  SpadenArrays<S> const& m = arrays_;
  return m.start.bytes() + m.side_start.bytes() + m.piece_start.bytes() +
         m.side_piece_start.bytes() + m.blocks.bytes() + m.values.bytes() + m.side_values.bytes() +
         m.side_columns.bytes() + m.piece.bytes();
}

template <class S>
Csr<S> Spaden<S>::to_csr(Context& ctx) const {
  auto start = to_host(ctx, arrays_.start);
  auto side_start = to_host(ctx, arrays_.side_start);
  auto blocks = to_host(ctx, arrays_.blocks);
  auto values = to_host(ctx, arrays_.values);
  auto side_values = to_host(ctx, arrays_.side_values);
  auto side_columns = to_host(ctx, arrays_.side_columns);
  SpadenView<S> const& a = view();
  Csr<S> out;
  out.rows = a.rows, out.cols = a.cols;
  std::vector<std::pair<Index, S>> row;
  for (Index i = 0; i < a.rows; ++i) {
    row.clear();
    for (auto b = start[i / 8]; b < start[i / 8 + 1]; ++b)
      for (int c = 0; c < 8; ++c) {
        std::uint64_t bit = std::uint64_t{1} << (8 * (i % 8) + c);
        if ((blocks[b].bitmap & bit) != 0)
          row.emplace_back(8 * blocks[b].column + c,
                           values[blocks[b].offset + std::popcount(blocks[b].bitmap & (bit - 1))]);
      }
    if (a.side_entries > 0)
      for (auto e = side_start[i]; e < side_start[i + 1]; ++e)
        row.emplace_back(side_columns[e], side_values[e]);
    std::sort(row.begin(), row.end(), [](auto p, auto q) { return p.first < q.first; });
    for (auto [column, value] : row) out.columns.push_back(column), out.values.push_back(value);
    out.offsets.push_back(out.entries());
  }
  return out;
}

template class Spaden<double>;
template class Spaden<float>;
template class Spaden<half>;
template class Spaden<bfloat16>;

}  // namespace tcsolve
