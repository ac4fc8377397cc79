// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/parts_inverse.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {
namespace {

template <class T>
void give(Context& ctx, Array<T>& to, std::vector<T> const& from) {
  if (to.size() != from.size()) to = Array<T>(ctx.space(), from.size());
  copy_bytes(ctx, to.data(), ctx.space(), from.data(), Space::host, from.size() * sizeof(T));
}

/// Entry k of row i.
template <class S>
S rounded(Csr<double> const& triangle, Index i, Offset k) {
  double const exact = triangle.values[k];
  S const value(exact);
  if (!std::isfinite(double(value)) && std::isfinite(exact))
    throw MatrixError(cat("the factors: row ", i + 1, ", column ", triangle.columns[k] + 1, ": ",
                          exact, " is beyond the range of the ", 8 * sizeof(S),
                          "-bit format; take wider values"));
  return value;
}

}  // namespace

template <class S>
PartsInverse<S>::PartsInverse(Context& ctx, Host factors, TwoSided const& sides, Index part)
    : LinearOperator<double>(factors->lower.rows, factors->lower.rows) {
  view_.rows = factors->lower.rows;
  view_.part = std::min(part, most_part_rows);
  view_.parts = (view_.rows + view_.part - 1) / view_.part;
  give(ctx, from_, sides.row);
  give(ctx, to_, sides.column);
  update(ctx, std::move(factors), sides);
}

template <class S>
void PartsInverse<S>::update(Context& ctx, Host factors, TwoSided const& sides) {
  factors_ = std::move(factors);
  sides_ = sides;
  entries_ = left_out_ = 0;
  view_.lower = place(ctx, lower_, factors_->lower, true);
  view_.upper = place(ctx, upper_, factors_->upper, false);
  give(ctx, row_scale_, sides.row_scale);
  give(ctx, column_scale_, sides.column_scale);
  give(ctx, inverse_pivots_, factors_->inverse_pivots);
  view_.from = from_.data();
  view_.to = to_.data();
  view_.row_scale = row_scale_.data();
  view_.column_scale = column_scale_.data();
  view_.inverse_pivots = inverse_pivots_.data();
  if (transposed_) transposed_->update(ctx, transposed(*factors_), sides_.transposed());
}

/// The rows of each part by levels; an entry of another part is no dependence.
template <class S>
PartTriangle<S> PartsInverse<S>::place(Context& ctx, Triangle& to, Csr<double> const& triangle,
                                       bool lower) {
  Index const n = view_.rows, part = view_.part;
  std::vector<Index> level_begin = {0}, level, depth(n, 0);
  std::vector<std::uint16_t> row, column;
  std::vector<Offset> begin;
  std::vector<S> values;  // in the order of places
  row.reserve(n);
  begin.reserve(std::size_t(n) + 1);
  for (Index first = 0; first < n; first += part) {
    Index const last = std::min<Index>(n, first + part);
    Index levels = 0;
    for (Index step = 0; step < last - first; ++step) {
      Index const i = lower ? first + step : last - 1 - step;
      for (Index const j : triangle.row_columns(i))
        if (j >= first && j < last) depth[i] = std::max(depth[i], depth[j] + 1);
      levels = std::max(levels, depth[i] + 1);
    }
    std::vector<std::vector<Index>> rows_of(levels);
    for (Index i = first; i < last; ++i) rows_of[depth[i]].push_back(i);
    for (std::vector<Index> const& rows : rows_of) {
      level.push_back(static_cast<Index>(row.size()));
      for (Index const i : rows) {
        row.push_back(static_cast<std::uint16_t>(i - first));
        begin.push_back(static_cast<Offset>(column.size()));
        for (Offset k = triangle.offsets[i]; k < triangle.offsets[i + 1]; ++k) {
          Index const j = triangle.columns[k];
          if (j < first || j >= last) {
            ++left_out_;
            continue;
          }
          column.push_back(static_cast<std::uint16_t>(j - first));
          values.push_back(rounded<S>(triangle, i, k));
        }
      }
    }
    level_begin.push_back(static_cast<Index>(level.size()));
  }
  level.push_back(n);
  begin.push_back(static_cast<Offset>(column.size()));
  entries_ += static_cast<Offset>(column.size());
  give(ctx, to.level_begin, level_begin);
  give(ctx, to.level, level);
  give(ctx, to.row, row);
  give(ctx, to.begin, begin);
  give(ctx, to.column, column);
  give(ctx, to.values, values);
  return {to.level_begin.data(), to.level.data(),  to.row.data(),
          to.begin.data(),       to.column.data(), to.values.data()};
}

template <class S>
void PartsInverse<S>::prepare(Context& ctx, Op op) const {
  if (op == Op::none) return;
  std::call_once(transposed_once_, [&] {
    transposed_ =
        std::make_unique<PartsInverse>(ctx, transposed(*factors_), sides_.transposed(), view_.part);
  });
}

template <class S>
Traits PartsInverse<S>::traits() const {
  return {.precision = {real_of<S>, Real::f64, Real::f64},
          .transpose = true,
          .isolates_nonfinite = false};
}

template <class S>
Cost PartsInverse<S>::cost(Index k) const {
  auto const entries = static_cast<double>(entries_);
  double const n = rows();
  return {2 * (entries + n) * k, (entries * (sizeof(S) + 2.0) + 52 * n) * k, 1};
}

template <class S>
void PartsInverse<S>::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                               Op op) const {
  if (op == Op::transpose) {
    prepare(ctx, op);
    return transposed_->apply(ctx, alpha, x, beta, y);
  }
  ctx.submit("factors_by_parts", [this, alpha, x, beta, y](Context& c) {
    PartsView<S> now = view_;
    now.loop = c.loop();
    c.visit([&](auto& on) { solve_parts(on, now, alpha, x, beta, y); });
  });
}

template class PartsInverse<double>;
template class PartsInverse<float>;
template class PartsInverse<half>;

namespace host {
namespace {

template <class S>
void solve(PartTriangle<S> const& t, Index part, double* y) {
  Index const first = t.level[t.level_begin[part]], last = t.level[t.level_begin[part + 1]];
  for (Index p = first; p < last; ++p) {
    double sum = y[t.row[p]];
    for (Offset k = t.begin[p]; k < t.begin[p + 1]; ++k)
      sum -= double(t.values[k]) * y[t.column[k]];
    y[t.row[p]] = sum;
  }
}

}  // namespace

template <class S>
void solve_parts(Host&, PartsView<S> const& m, double alpha, In<double> x, double beta,
                 Out<double> y) {
  if (Frame{m.loop}.stopped()) return;
  constexpr std::int64_t worth_sharing = 4;  // parts
  parallel(std::int64_t{m.parts} * x.cols, worth_sharing, [&](std::int64_t task) {
    std::int64_t const p = task % m.parts;
    auto const j = static_cast<Index>(task / m.parts);
    double unknowns[most_part_rows];
    auto const first = static_cast<Index>(p * m.part);
    Index const count = std::min<Index>(m.rows - first, m.part);
    for (Index i = 0; i < count; ++i)
      unknowns[i] = m.row_scale[first + i] * x.data[x.offset(m.from[first + i], j)];
    solve(m.lower, static_cast<Index>(p), unknowns);
    for (Index i = 0; i < count; ++i) unknowns[i] *= m.inverse_pivots[first + i];
    solve(m.upper, static_cast<Index>(p), unknowns);
    for (Index i = 0; i < count; ++i) {
      double& out = y.data[y.offset(m.to[first + i], j)];
      double const value = alpha * (m.column_scale[first + i] * unknowns[i]);
      out = beta == 0 ? value : value + beta * out;
    }
  });
}

template void solve_parts(Host&, PartsView<double> const&, double, In<double>, double, Out<double>);
template void solve_parts(Host&, PartsView<float> const&, double, In<double>, double, Out<double>);
template void solve_parts(Host&, PartsView<half> const&, double, In<double>, double, Out<double>);

}  // namespace host
}  // namespace tcsolve
