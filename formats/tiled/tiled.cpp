// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/tiled/tiled.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <tcsolve/formats/tiled/lines.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

namespace {

void require(TiledTuning const& t) {
  auto const within = [](char const* name, Index v, Index low, Index high) {
    if (v < low || v > high)
      throw ShapeError(cat("tiled: ", name, " = ", v, " is outside [", low, ", ", high, "]"));
  };
  within("panel_rows", t.panel_rows, 8, 256);
  within("capacity", t.capacity, 1, 1700);
  within("least_segment", t.least_segment, 1, 1 << 30);
  within("most_segments", t.most_segments, 2, 1 << 30);
  within("multiprocessors", t.multiprocessors, 0, 1 << 20);
  if (t.panel_rows % (t.panel_rows > 128 ? 16 : 8) != 0)
    throw ShapeError(cat("tiled: panel_rows = ", t.panel_rows, " is no multiple of ",
                         t.panel_rows > 128 ? 16 : 8));
}

/// U counts panels for each multiprocessor. The host lays out as the device of the tests does.
TiledTuning for_device(Context const& ctx, TiledTuning tuning) {
  constexpr int of_an_h200 = 132;
  if (tuning.multiprocessors == 0)
    tuning.multiprocessors =
        ctx.device() != nullptr ? cuda::facts(*ctx.device()).multiprocessors : of_an_h200;
  return tuning;
}

}  // namespace

template <class S>
Tiled<S>::Tiled(Context& ctx, CsrView<S> const& a, TiledTuning const& given) {
  TiledTuning const tuning = for_device(ctx, given);
  require(tuning);
  arrays_ = ctx.visit([&](auto& on) { return build_tiled(on, ctx.arena(), a, tuning); });
}

template <class S>
void Tiled<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("tiled", view(), a);
  ctx.visit([&](auto& on) { refill_tiled(on, ctx.arena(), a, arrays_); });
}

template <class S>
std::size_t Tiled<S>::bytes() const {
  TiledArrays<S> const& m = arrays_;
  return m.stage_start.bytes() + m.map_start.bytes() + m.map.bytes() + m.start.bytes() +
         m.local.bytes() + m.columns.bytes() + m.values.bytes() + m.target.bytes() +
         m.long_start.bytes() + m.long_row.bytes();
}

template <class S>
Csr<S> Tiled<S>::to_csr(Context& ctx) const {
  TiledArrays<S> const& m = arrays_;
  auto const stage_start = to_host(ctx, m.stage_start), map_start = to_host(ctx, m.map_start),
             start = to_host(ctx, m.start);
  auto const map = to_host(ctx, m.map), columns = to_host(ctx, m.columns),
             target = to_host(ctx, m.target), long_row = to_host(ctx, m.long_row);
  auto const long_start = to_host(ctx, m.long_start);
  auto const local = to_host(ctx, m.local);
  auto const values = to_host(ctx, m.values);
  TiledView<S> here = view();
  here.stage_start = stage_start.data();
  here.map_start = map_start.data();
  here.map = map.data();
  here.start = start.data();
  here.local = local.data();
  here.columns = here.direct ? columns.data() : nullptr;
  here.values = values.data();
  here.target = target.empty() ? nullptr : target.data();

  std::vector<Index> row_of_part(std::size_t(here.parts));
  for (Index k = 0; k < here.long_rows; ++k)
    for (std::uint32_t p = long_start[k]; p < long_start[k + 1]; ++p) row_of_part[p] = long_row[k];
  std::vector<std::vector<std::pair<Index, S>>> rows(std::size_t(here.rows));
  for (Index i = 0; i < here.lines; ++i) {
    std::vector<std::pair<Index, S>> line;
    auto const add = [&](Index column, S value) { line.emplace_back(column, value); };
    LineOwner const owner = walk(here, i, add);
    auto& row = rows[std::size_t(owner.row >= 0 ? owner.row : row_of_part[owner.part])];
    row.insert(row.end(), line.begin(), line.end());
  }
  Csr<S> out;
  out.rows = here.rows, out.cols = here.cols;
  for (auto& row : rows) {
    std::ranges::sort(row, {}, &std::pair<Index, S>::first);
    for (auto const& [column, value] : row) {
      out.columns.push_back(column);
      out.values.push_back(value);
    }
    out.offsets.push_back(out.entries());
  }
  return out;
}

#define TCSOLVE_INSTANTIATE(S) template class Tiled<S>;
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
