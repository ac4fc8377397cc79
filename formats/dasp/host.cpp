// SPDX-License-Identifier: Apache-2.0
/// DASP on the host: the arrays of the device, unit by unit.
#include <tcsolve/formats/dasp/dasp.hpp>
#include <tcsolve/formats/dasp/ops.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>

#include <cmath>

#include <tcsolve/formats/dasp/build.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::host {

template <class S>
DaspArrays<S> build_dasp(Host&, Arena& arena, CsrView<S> const& a, DaspTuning const& tuning) {
  Converter on(arena);
  return dasp::build(on, a, tuning);
}

namespace {

/// x times one entry.
template <class T>
struct Factor {
  T const* x;
  std::int64_t stride;
  DaspUnitOf unit;
  double operator()(double value, Index column) const {
    if (unit == DaspUnitOf::absolute) return std::abs(value);
    double v = double(x[column * stride]);
    if (unit == DaspUnitOf::half_products) v = double(half(v));
    return value * v;
  }
};

template <class S, class T>
struct Product {
  DaspView<S> a;
  T alpha;
  Factor<T> x;
  T beta;
  T* y;
  std::int64_t stride;

  void write(Index row, double sum) const {
    double v = double(alpha) * sum;
    T& out = y[row * stride];
    out = T(beta == T(0) ? v : v + double(beta) * double(out));
  }
  /// Slots [from, to) of line r of block b.
  double line(DaspUnit const& unit, Index blocks, Index b, int r, int from, int to) const {
    double sum = 0;
    for (int k = from; k < to; ++k) {
      Offset at = a.place(blocks, b, r * a.slots + k);
      sum += x(double(a.values[Offset{unit.blocks} * a.block + at]), a.column(unit, at));
    }
    return sum;
  }
  double long_part(Index u) const {
    DaspUnit const& unit = a.units[u];
    Index blocks = a.units[u + 1].blocks - unit.blocks;
    double sum = 0;
    for (Offset at = 0; at < Offset{blocks} * a.block; ++at)
      sum += x(double(a.values[Offset{unit.blocks} * a.block + at]), a.column(unit, at));
    return sum;
  }
  void medium(Index u) const {
    DaspUnit const& unit = a.units[u];
    Index blocks = a.units[u + 1].blocks - unit.blocks, m = u - a.long_units;
    for (int r = 0; r < a.lines; ++r) {
      Index i = m * a.lines + r;
      if (i >= a.medium_rows) return;
      double sum = 0;
      for (Index b = 0; b < blocks; ++b) sum += line(unit, blocks, b, r, 0, a.slots);
      for (auto e = a.irregular_start[i]; e < a.irregular_start[i + 1]; ++e)
        sum += x(double(a.irregular_values[e]), a.irregular_columns[e]);
      write(a.order[a.first_medium() + i], sum);
    }
  }
  void pieces(DaspKind kind, Index u) const {
    DaspUnit const& unit = a.units[u];
    Index blocks = a.units[u + 1].blocks - unit.blocks, v = a.within_kind(kind, u);
    for (int l = 0; l < blocks * a.lines; ++l) {
      auto at = a.line(kind, v, l);
      Index b = l / a.lines;
      int r = l % a.lines;
      if (at.first >= 0) write(at.first, line(unit, blocks, b, r, 0, at.split));
      if (at.second >= 0) write(at.second, line(unit, blocks, b, r, at.split, a.slots));
    }
  }
  void run() const {
    std::int64_t serial_below = a.entries < 20000 ? std::int64_t{1} << 40 : 2;
    std::vector<double> parts(a.long_units);
    parallel(a.unit_count(), serial_below, [&](std::int64_t at) {
      Index u = static_cast<Index>(at);
      DaspKind kind = a.kind(u);
      if (kind == DaspKind::long_row)
        parts[u] = long_part(u);
      else if (kind == DaspKind::medium)
        medium(u);
      else
        pieces(kind, u);
    });
    for (Index i = 0; i < a.long_rows; ++i) {
      double sum = 0;
      for (Index u = a.long_start[i]; u < a.long_start[i + 1]; ++u) sum += parts[u];
      write(a.order[i], sum);
    }
    for (Index i = 0; i < a.singles(); ++i)
      write(a.order[a.first_single() + i],
            x(double(a.irregular_values[a.irregular + i]), a.irregular_columns[a.irregular + i]));
    for (Index i = 0; i < a.with[0]; ++i) write(a.order[a.first_empty() + i], 0);
  }
};

}  // namespace

template <class S>
void refill_dasp(Host&, Arena& arena, CsrView<S> const& a, DaspArrays<S>& m) {
  Converter on(arena);
  dasp::refill(on, a, m);
}

template <class S, class T>
void spmm_dasp(Host&, T alpha, DaspView<S> const& a, DaspWork<T> const& work, In<T> x, T beta,
               Out<T> y) {
  if (Frame{work.loop}.stopped()) return;
  auto step = [](auto v) { return v.layout == Layout::row_major ? v.ld : std::int64_t{1}; };
  for (Index j = 0; j < y.cols; ++j)
    Product<S, T>{
        a,      alpha, {x.data + x.offset(0, j), step(x), work.unit}, beta, y.data + y.offset(0, j),
        step(y)}
        .run();
}

#define TCSOLVE_INSTANTIATE(S)                                                               \
  template DaspArrays<S> build_dasp<S>(Host&, Arena&, CsrView<S> const&, DaspTuning const&); \
  template void refill_dasp<S>(Host&, Arena&, CsrView<S> const&, DaspArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T) \
  template void spmm_dasp<S, T>(Host&, T, DaspView<S> const&, DaspWork<T> const&, In<T>, T, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct WalksExactly<DaspExactOps>;
template struct Executes<DaspExactOps>;

}  // namespace tcsolve::host
