// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/csell/csell.hpp>

#include <algorithm>
#include <limits>

#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

template <class S>
Csell<S>::Csell(Context& ctx, CsrView<S> const& a, CsellTuning const& tuning) {
  constexpr Index longest = 65535, deepest = CsellTuning::deepest;
  if (tuning.max_length < 0 || tuning.max_length > longest)
    throw ShapeError(
        cat("csell: max_length = ", tuning.max_length, " is outside [0, ", longest, "]"));
  if (tuning.strip < 0 || tuning.strip > deepest)
    throw ShapeError(cat("csell: strip = ", tuning.strip, " is outside [0, ", deepest, "]"));
  // Entries of a window are counted in 31 bits, too.
  Offset const most = std::numeric_limits<std::int32_t>::max();
  Index const length = tuning.max_length > 0 ? tuning.max_length : 256;
  if (tuning.window < 1 || tuning.window > most / length)
    throw ShapeError(cat("csell: window = ", tuning.window, " is outside [1, ", most / length,
                         "], 2^31 / max_length"));
  // Lines, steps and their groups are counted in 31 bits: no more than the entries and the rows.
  if (a.entries / 32 + 4 * (Offset{a.rows} + 1) > most)
    throw SizeError(cat("csell: ", a.rows, " rows; it counts steps in 31 bits"));
  arrays_ = ctx.visit([&](auto& on) { return build_csell(on, ctx.arena(), a, tuning); });
}

template <class S>
void Csell<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("csell", view(), a);
  ctx.visit([&](auto& on) { refill_csell(on, ctx.arena(), a, arrays_); });
}

template <class S>
std::size_t Csell<S>::bytes() const {
  CsellArrays<S> const& m = arrays_;
  return m.strips.bytes() + m.ends.bytes() + m.bases.bytes() + m.order.bytes() + m.numbers.bytes() +
         m.values.bytes() + m.long_row.bytes() + m.long_start.bytes();
}

template <class S>
Csr<S> Csell<S>::to_csr(Context& ctx) const {
  using View = CsellView<S>;
  auto const strips = to_host(ctx, arrays_.strips);
  auto const ends = to_host(ctx, arrays_.ends);
  auto const bases = to_host(ctx, arrays_.bases);
  auto const numbers = to_host(ctx, arrays_.numbers);
  auto const values = to_host(ctx, arrays_.values);
  auto const order = to_host(ctx, arrays_.order);
  auto const long_row = to_host(ctx, arrays_.long_row);
  auto const long_start = to_host(ctx, arrays_.long_start);
  View const& a = view();

  // The entries of each line.
  struct Line {
    std::vector<Index> columns;
    std::vector<S> values;
  };
  std::vector<Line> lines(std::size_t(a.lines));
  for (std::size_t slice = 0; slice + 1 < ends.size(); ++slice) {
    CsellStrip const& strip = strips[slice / a.depth];
    std::uint8_t const* const here = numbers.data() + std::size_t(strip.numbers) * 64;
    for (Index j = slice % a.depth == 0 ? 0 : ends[slice - 1]; j < ends[slice]; ++j)
      for (int l = 0; l < View::C; ++l) {
        Offset const at = View::place(j, l);
        auto const number = [&]<class I>(I) -> Index {
          I const stored = reinterpret_cast<I const*>(here)[at];
          return stored == csell_padding<I> ? -1 : Index(stored) + bases[strip.first + j];
        };
        Index const column = strip.bytes == 1   ? number(std::uint8_t{})
                             : strip.bytes == 2 ? number(std::uint16_t{})
                                                : number(std::int32_t{});
        if (column < 0) continue;
        Line& line = lines[slice * View::C + l];
        line.columns.push_back(column);
        line.values.push_back(values[Offset{strip.first} * View::C + at]);
      }
  }
  // The lines of each row.
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
      out.columns.insert(out.columns.end(), lines[p].columns.begin(), lines[p].columns.end());
      out.values.insert(out.values.end(), lines[p].values.begin(), lines[p].values.end());
    }
    out.offsets.push_back(out.entries());
  }
  return out;
}

template class Csell<double>;
template class Csell<float>;
template class Csell<half>;
template class Csell<bfloat16>;

}  // namespace tcsolve
