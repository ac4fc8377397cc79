// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/triangle.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/host/parallel.hpp>

namespace tcsolve {

LevelOrder level_order(Csr<double> const& triangle, bool lower) {
  Index const n = triangle.rows;
  std::vector<Index> level(n, 0);
  Index levels = n > 0 ? 1 : 0;
  for (Index r = 0; r < n; ++r) {
    Index const i = lower ? r : n - 1 - r;
    for (Index const j : triangle.row_columns(i)) level[i] = std::max(level[i], level[j] + 1);
    levels = std::max(levels, level[i] + 1);
  }
  LevelOrder order;
  order.starts.assign(static_cast<std::size_t>(levels) + 1, 0);
  for (Index const l : level) ++order.starts[l + 1];
  for (Index l = 0; l < levels; ++l) {
    Index const padded = (order.starts[l + 1] + rows_of_warp - 1) / rows_of_warp * rows_of_warp;
    order.starts[l + 1] = narrow(std::int64_t{order.starts[l]} + padded, "places of a triangle");
  }
  order.row_of.assign(static_cast<std::size_t>(order.starts[levels]), -1);
  order.place_of.resize(n);
  std::vector<Index> next(order.starts.begin(), order.starts.end() - (levels > 0));
  for (Index i = 0; i < n; ++i) {
    order.place_of[i] = next[level[i]]++;
    order.row_of[order.place_of[i]] = i;
  }
  return order;
}

namespace {

template <class S>
std::vector<S> rounded(std::vector<Offset> const& source, std::vector<double> const& values) {
  std::vector<S> out(source.size());
  for (std::size_t k = 0; k < source.size(); ++k) {
    out[k] = S(values[source[k]]);
    if (!std::isfinite(double(out[k])))
      throw MatrixError(cat("an entry of the factors, ", values[source[k]],
                            ", is beyond the range of the type that they are stored in"));
  }
  return out;
}

std::vector<double> placed(LevelOrder const& order, std::vector<double> const& by_row) {
  std::vector<double> out(order.row_of.size(), 0.0);
  for (std::size_t p = 0; p < out.size(); ++p)
    if (order.row_of[p] >= 0) out[p] = by_row[order.row_of[p]];
  return out;
}

template <class T>
void replace(Context& ctx, Array<T>& to, std::vector<T> const& from) {
  copy_bytes(ctx, to.data(), ctx.space(), from.data(), Space::host, from.size() * sizeof(T));
}

}  // namespace

template <class S>
Triangle<S>::Triangle(Context& ctx, Csr<double> const& triangle, bool lower,
                      std::vector<Index> const& from, std::vector<double> const& scale)
    : order_(level_order(triangle, lower)) {
  auto const places = order_.row_of.size();
  std::vector<Offset> offsets(places + 1, 0);
  std::vector<Index> columns(triangle.columns.size()), from_here(places, -1);
  source_.resize(triangle.columns.size());
  std::vector<std::pair<Index, Offset>> sorted;
  Offset at = 0;
  for (std::size_t p = 0; p < places; ++p) {
    if (Index const i = order_.row_of[p]; i >= 0) {
      from_here[p] = from[i];
      sorted.clear();
      for (Offset k = triangle.offsets[i]; k < triangle.offsets[i + 1]; ++k)
        sorted.emplace_back(order_.place_of[triangle.columns[k]], k);
      std::sort(sorted.begin(), sorted.end());
      for (auto const& [j, k] : sorted) {
        columns[at] = j;
        source_[at] = k;
        ++at;
      }
    }
    offsets[p + 1] = at;
  }
  if (at <= std::numeric_limits<std::int32_t>::max()) {
    std::vector<std::int32_t> const narrow_offsets(offsets.begin(), offsets.end());
    offsets_ = to_space(ctx, narrow_offsets.data(), narrow_offsets.size());
  } else {
    wide_offsets_ = to_space(ctx, offsets.data(), offsets.size());
  }
  columns_ = to_space(ctx, columns.data(), columns.size());
  from_ = to_space(ctx, from_here.data(), from_here.size());
  values_ = Array<S>(ctx.space(), columns.size());
  scale_ = Array<double>(ctx.space(), places);
  update(ctx, triangle, scale);
}

template <class S>
void Triangle<S>::update(Context& ctx, Csr<double> const& triangle,
                         std::vector<double> const& scale) {
  replace(ctx, values_, rounded<S>(source_, triangle.values));
  replace(ctx, scale_, placed(order_, scale));
}

template <class S>
TriangleView<S> Triangle<S>::view() const {
  TriangleView<S> v;
  v.places = static_cast<Index>(scale_.size());
  v.offsets =
      wide_offsets_.size() > 0 ? OffsetsView(wide_offsets_.data()) : OffsetsView(offsets_.data());
  v.columns = columns_.data();
  v.values = values_.data();
  v.from = from_.data();
  v.scale = scale_.data();
  return v;
}

template <class S>
Index Triangle<S>::longest_mean() const {
  auto const rows = static_cast<Offset>(order_.place_of.size());
  return rows == 0 ? 0 : static_cast<Index>((entries() + rows - 1) / rows);
}

namespace host {

template <class S>
void solve_triangle(Host&, TriangleView<S> const& t, LevelOrder const& order, double const* source,
                    std::int64_t stride, double* y, TriangleTarget const& target) {
  auto const row = [&](std::int64_t p) {
    if (t.from[p] < 0) return;
    double sum = t.scale[p] * source[t.from[p] * stride];
    for (Offset k = t.offsets[p], end = t.offsets[p + 1]; k < end; ++k)
      sum -= double(t.values[k]) * y[t.columns[k]];
    y[p] = sum;
    if (target.to == nullptr) return;
    double& out = target.out[target.to[p] * target.stride];
    double const value = target.alpha * (target.factor[p] * sum);
    out = target.beta == 0 ? value : value + target.beta * out;
  };
  constexpr std::int64_t worth_sharing = 4096;  // rows of a level
  for (Index l = 0; l < order.levels(); ++l) {
    Index const begin = order.starts[l], count = order.starts[l + 1] - begin;
    parallel(count, worth_sharing, [&](std::int64_t p) { row(begin + p); });
  }
}

template void solve_triangle<double>(Host&, TriangleView<double> const&, LevelOrder const&,
                                     double const*, std::int64_t, double*, TriangleTarget const&);
template void solve_triangle<float>(Host&, TriangleView<float> const&, LevelOrder const&,
                                    double const*, std::int64_t, double*, TriangleTarget const&);
template void solve_triangle<half>(Host&, TriangleView<half> const&, LevelOrder const&,
                                   double const*, std::int64_t, double*, TriangleTarget const&);

}  // namespace host

template class Triangle<double>;
template class Triangle<float>;
template class Triangle<half>;

}  // namespace tcsolve
