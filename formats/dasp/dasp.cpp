// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/dasp/dasp.hpp>

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/matrix/same_pattern.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

template <class S>
Dasp<S>::Dasp(Context& ctx, CsrView<S> const& a, DaspTuning const& tuning) {
  if (tuning.max_length < 4 || tuning.max_length > 65536)
    throw ShapeError(cat("dasp: max_length = ", tuning.max_length, " is outside [4, 65536]"));
  if (tuning.long_blocks < 2 || tuning.long_blocks > 65536 || tuning.long_blocks % 2 != 0)
    throw ShapeError(
        cat("dasp: long_blocks = ", tuning.long_blocks, " is not an even number in [2, 65536]"));
  arrays_ = ctx.visit([&](auto& on) { return build_dasp(on, ctx.arena(), a, tuning); });
}

template <class S>
void Dasp<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("dasp", view(), a);
  ctx.visit([&](auto& on) { refill_dasp(on, ctx.arena(), a, arrays_); });
}

template <class S>
std::size_t Dasp<S>::bytes() const {
  DaspArrays<S> const& m = arrays_;
  return m.order.bytes() + m.long_start.bytes() + m.long_order.bytes() + m.units.bytes() +
         m.values.bytes() + m.indices.bytes() + m.irregular_start.bytes() +
         m.irregular_values.bytes() + m.irregular_columns.bytes();
}

template <class S>
double Dasp<S>::norm_inf(Context& ctx) const {
  DaspView<S> const& a = view();
  auto scope = ctx.arena().scope();
  In<double> const ones{nullptr, a.cols};
  Out<double> const sums = scope.template vector<double>(a.rows);
  std::vector<unsigned int> const zeros(a.long_rows);
  Array<unsigned int> tickets = to_space(ctx, zeros.data(), zeros.size());
  DaspWork<double> const work{.parts = scope.template take<double>(a.long_units),
                              .tickets = tickets.data(),
                              .unit = DaspUnitOf::absolute};
  ctx.visit([&](auto& on) { spmm_dasp<S, double>(on, 1, a, work, ones, 0, sums); });
  return largest<double>(ctx, sums);
}

template <class S>
double Dasp<S>::blocks_per_unit() const {
  Index units = view().medium_units();
  return units == 0 ? 0 : double(arrays_.medium_blocks) / units;
}

namespace {

/// Rows from their slots: a slot whose column is that of the slot before it is padding.
template <class S>
struct Rows {
  std::vector<std::vector<Index>> columns;
  std::vector<std::vector<S>> values;
  void add(Index row, Index column, S value) {
    if (!columns[row].empty() && columns[row].back() == column) return;
    columns[row].push_back(column);
    values[row].push_back(value);
  }
};

template <class S>
void read_unit(DaspView<S> const& a, Index u, Rows<S>& rows) {
  DaspUnit const& unit = a.units[u];
  Index blocks = a.units[u + 1].blocks - unit.blocks;
  auto slot = [&](Index row, Offset at) {
    rows.add(row, a.column(unit, at), a.values[Offset{unit.blocks} * a.block + at]);
  };
  DaspKind kind = a.kind(u);
  Index m = u - a.long_units;
  for (Index b = 0; b < blocks; ++b)
    for (int lane = 0; lane < a.block; ++lane) {
      int r = lane / a.slots, k = lane % a.slots;
      Index row = -1;
      if (kind == DaspKind::long_row) {
        row = a.order[unit.irregular];
      } else if (kind == DaspKind::medium) {
        if (m * a.lines + r < a.medium_rows) row = a.order[a.first_medium() + m * a.lines + r];
      } else {
        auto line = a.line(kind, a.within_kind(kind, u), b * a.lines + r);
        row = k < line.split ? line.first : line.second;
      }
      if (row >= 0) slot(row, a.place(blocks, b, lane));
    }
}

}  // namespace

template <class S>
Csr<S> Dasp<S>::to_csr(Context& ctx) const {
  auto order = to_host(ctx, arrays_.order);
  auto units = to_host(ctx, arrays_.units);
  auto values = to_host(ctx, arrays_.values);
  auto indices = to_host(ctx, arrays_.indices);
  auto start = to_host(ctx, arrays_.irregular_start);
  auto irregular_values = to_host(ctx, arrays_.irregular_values);
  auto irregular_columns = to_host(ctx, arrays_.irregular_columns);
  DaspView<S> a = view();
  a.order = order.data(), a.units = units.data();
  a.values = values.data(), a.indices = indices.data();
  Rows<S> rows{std::vector<std::vector<Index>>(a.rows), std::vector<std::vector<S>>(a.rows)};
  for (Index u = 0; u < a.unit_count(); ++u) read_unit(a, u, rows);
  for (Index i = 0; i < a.medium_rows; ++i)
    for (auto e = start[i]; e < start[i + 1]; ++e)
      rows.add(order[a.first_medium() + i], irregular_columns[e], irregular_values[e]);
  for (Index i = 0; i < a.singles(); ++i)
    rows.add(order[a.first_single() + i], irregular_columns[a.irregular + i],
             irregular_values[a.irregular + i]);
  Csr<S> out;
  out.rows = a.rows, out.cols = a.cols;
  for (Index i = 0; i < a.rows; ++i) {
    out.columns.insert(out.columns.end(), rows.columns[i].begin(), rows.columns[i].end());
    out.values.insert(out.values.end(), rows.values[i].begin(), rows.values[i].end());
    out.offsets.push_back(out.entries());
  }
  return out;
}

template class Dasp<double>;
template class Dasp<float>;
template class Dasp<half>;
template class Dasp<bfloat16>;

}  // namespace tcsolve
