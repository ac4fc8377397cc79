// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/csell.hpp>

#include <algorithm>
#include <limits>

#include <tcsolve/formats/same_pattern.hpp>

namespace tcsolve {

template <class S>
Csell<S>::Csell(Context& ctx, CsrView<S> const& a, CsellTuning const& tuning) {
  if (tuning.max_length < 1 || tuning.max_length > 65535)
    throw ShapeError(cat("csell: max_length = ", tuning.max_length, " is outside [1, 65535]"));
  // Entries of a window are counted in 31 bits, too.
  Offset const most = std::numeric_limits<std::int32_t>::max();
  if (tuning.window < 1 || tuning.window > most / tuning.max_length)
    throw ShapeError(cat("csell: window = ", tuning.window, " is outside [1, ",
                         most / tuning.max_length, "], 2^31 / max_length"));
  // Lines, steps and their groups are counted in 31 bits: no more than the entries and the rows.
  if (a.entries / tuning.max_length + 4 * (Offset{a.rows} + 1) > most)
    throw SizeError(cat("csell: ", a.rows, " rows; it counts steps in 31 bits"));
  arrays_ =
      ctx.visit([&](cuda::Device& on) { return cuda::build_csell(on, ctx.arena(), a, tuning); },
                [&](Host& on) { return host::build_csell(on, ctx.arena(), a, tuning); });
  arrays_.view.streams = bytes() > ctx.cache_bytes();
}

template <class S>
void Csell<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("csell", view(), a);
  ctx.visit([&](cuda::Device& on) { cuda::refill_csell(on, ctx.arena(), a, arrays_); },
            [&](Host& on) { host::refill_csell(on, ctx.arena(), a, arrays_); });
}

template <class S>
std::size_t Csell<S>::bytes() const {
  CsellArrays<S> const& m = arrays_;
  return m.slices.bytes() + m.bases.bytes() + m.order.bytes() + m.indices.bytes() +
         m.values.bytes() + m.long_row.bytes() + m.long_start.bytes();
}

template <class S>
Csr<S> Csell<S>::to_csr(Context& ctx) const {
  using View = CsellView<S>;
  auto const slices = to_host(ctx, arrays_.slices);
  auto const bases = to_host(ctx, arrays_.bases);
  auto const indices = to_host(ctx, arrays_.indices);
  auto const values = to_host(ctx, arrays_.values);
  auto const order = to_host(ctx, arrays_.order);
  auto const long_row = to_host(ctx, arrays_.long_row);
  auto const long_start = to_host(ctx, arrays_.long_start);
  View const& a = view();

  // The place of each piece, row by row.
  std::vector<std::vector<Index>> places(std::size_t(a.rows));
  std::vector<Index> part_place(std::size_t(a.parts));
  for (Index p = 0; p < a.lines; ++p) {
    std::int32_t const to = order.empty() ? p : order[p];
    if (to < 0)
      part_place[~to] = p;
    else
      places[to].push_back(p);
  }
  for (Index k = 0; k < a.long_rows; ++k)
    for (Index part = long_start[k]; part < long_start[k + 1]; ++part)
      places[long_row[k]].push_back(part_place[part]);

  Csr<S> out;
  out.rows = a.rows, out.cols = a.cols;
  for (Index i = 0; i < a.rows; ++i) {
    for (Index const p : places[i]) {
      CsellSlice const& slice = slices[p / View::C];
      std::uint8_t const* const here = indices.data() + slice.indices;
      for (Index j = 0; j < slice.width; ++j) {
        Offset const at = View::place(slice.width, View::quad, j, p % View::C);
        auto const number = [&]<class I>(I) -> Index {
          I const stored = reinterpret_cast<I const*>(here)[at];
          if (stored == csell_hole<I>) return -1;
          return Index(stored) + (sizeof(I) < 4 ? bases[slice.step + j] : 0);
        };
        Index const column = slice.bytes == 1   ? number(std::uint8_t{})
                             : slice.bytes == 2 ? number(std::uint16_t{})
                                                : number(std::int32_t{});
        if (column < 0) continue;
        out.columns.push_back(column);
        out.values.push_back(
            values[slice.values + View::place(slice.width, View::packet, j, p % View::C)]);
      }
    }
    out.offsets.push_back(out.entries());
  }
  return out;
}

template class Csell<double>;
template class Csell<float>;
template class Csell<half>;

}  // namespace tcsolve
