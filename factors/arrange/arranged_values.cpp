// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/arrange/arranged_values.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tcsolve/factors/power_scale.hpp>

namespace tcsolve {

ArrangedValues::ArrangedValues(Context& ctx, Arrangement const& arrangement)
    : scaling_(arrangement.scaling_by_values()),
      B_(ctx, arrangement.matrix().view(), Arrays::copied),
      row_scale_(to_space(ctx, arrangement.sides().row_scale.data(),
                          arrangement.sides().row_scale.size())),
      column_scale_(to_space(ctx, arrangement.sides().column_scale.data(),
                             arrangement.sides().column_scale.size())) {
  std::vector<Offset> const& source = arrangement.source();
  if (B_.view().entries <= std::numeric_limits<std::int32_t>::max()) {
    std::vector<std::int32_t> const narrow(source.begin(), source.end());
    narrow_source_ = to_space(ctx, narrow.data(), narrow.size());
  } else {
    wide_source_ = to_space(ctx, source.data(), source.size());
  }
}

ArrangedValues::ArrangedValues(Context& ctx, CsrView<double> const& a, ScaledBy scaling)
    : scaling_(scaling), B_(ctx, a, Arrays::copied) {
  std::vector<double> const ones(static_cast<std::size_t>(a.rows), 1.0);
  row_scale_ = to_space(ctx, ones.data(), ones.size());
  column_scale_ = to_space(ctx, ones.data(), ones.size());
}

void ArrangedValues::update(Context& ctx, CsrView<double> const& a, TwoSided& sides) {
  ArrangedView const view{.rows = B_.view().rows,
                          .offsets = B_.view().offsets,
                          .columns = B_.view().columns,
                          .source = narrow_source_.size() > 0 ? OffsetsView(narrow_source_.data())
                                                              : OffsetsView(wide_source_.data()),
                          .scaling = scaling_,
                          .values = B_.own_values(),
                          .row_scale = row_scale_.data(),
                          .column_scale = column_scale_.data()};
  ctx.visit([&](auto& on) { arrange_values(on, view, a.values); });
  if (scaling_ == ScaledBy::nothing) return;
  sides.row_scale = to_host(ctx, row_scale_.data(), ctx.space(), row_scale_.size());
  sides.column_scale = to_host(ctx, column_scale_.data(), ctx.space(), column_scale_.size());
}

namespace host {
namespace {

void scale_by_diagonal(ArrangedView const& B, double const* a) {
  for (Index i = 0; i < B.rows; ++i) {
    B.row_scale[i] = B.column_scale[i] = 1;
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
      if (B.columns[k] == i)
        B.row_scale[i] = B.column_scale[i] = inverse_power(std::sqrt(std::abs(a[B.from(k)])));
  }
}

void scale_by_largest(ArrangedView const& B, double const* a) {
  std::fill(B.column_scale, B.column_scale + B.rows, 0.0);
  for (Index i = 0; i < B.rows; ++i) {
    double row = 0;
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
      row = std::max(row, std::abs(a[B.from(k)]));
    B.row_scale[i] = inverse_power(row);
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k) {
      double& column = B.column_scale[B.columns[k]];
      column = std::max(column, B.row_scale[i] * std::abs(a[B.from(k)]));
    }
  }
  for (Index j = 0; j < B.rows; ++j) B.column_scale[j] = inverse_power(B.column_scale[j]);
}

}  // namespace

void arrange_values(Host&, ArrangedView const& B, double const* a) {
  if (B.scaling == ScaledBy::diagonal) scale_by_diagonal(B, a);
  if (B.scaling == ScaledBy::largest) scale_by_largest(B, a);
  for (Index i = 0; i < B.rows; ++i)
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
      B.values[k] = B.row_scale[i] * a[B.from(k)] * B.column_scale[B.columns[k]];
}

}  // namespace host
}  // namespace tcsolve
