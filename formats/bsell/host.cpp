// SPDX-License-Identifier: Apache-2.0
/// Slices of dense blocks on the host: the arrays of the device, slice by slice, 32 lanes side by
/// side, and without a test for padding: -0 changes no sum, unless x is Inf or NaN there; a row
/// whose sum is NaN is added anew.
#include <tcsolve/formats/bsell/build.hpp>
#include <tcsolve/formats/bsell/ops.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/prefetch.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>
#include <tcsolve/kernels/host/widen.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve::host {

template <class S>
BsellCounts count_blocks(Host&, Arena& arena, CsrView<S> const& a) {
  Converter on(arena);
  return bsell::count(on, a);
}
template <class S>
BsellArrays<S> build_bsell(Host&, Arena& arena, CsrView<S> const& a, BsellTuning const& tuning) {
  Converter on(arena);
  return bsell::build(on, a, tuning);
}
template <class S>
void refill_bsell(Host&, Arena& arena, CsrView<S> const& a, BsellArrays<S>& m) {
  Converter on(arena);
  bsell::refill(on, a, m);
}

namespace {

constexpr int C = BsellView<double>::C;

/// One column of x and y.
template <int b, class S, class T>
struct Column {
  BsellProduct<S, T> const& p;
  T const* x;
  std::int64_t x_stride;
  T* y;
  std::int64_t y_stride;

  S const* values(BsellSlice const& slice) const {
    return p.a.values + Offset{slice.first} * b * b * C;
  }
  T const& entry(Index column, int c) const {
    return x[std::min(std::int64_t{column} * b + c, std::int64_t{p.a.cols} - 1) * x_stride];
  }

  /// Row r of a lane, padding left out.
  T row(BsellSlice const& slice, int lane, int r) const {
    S const* v = values(slice) + r * b * C + lane;
    T sum = T(0);
    for (Index j = 0; j < slice.steps; ++j, v += b * b * C) {
      Index const column = p.a.column(slice, j, lane);
      for (int c = 0; c < b; ++c)
        if (!is_padding(v[c * C])) sum += T(v[c * C]) * entry(column, c);
    }
    return sum;
  }

  void slice(std::int64_t s) const {
    BsellSlice const slice = p.a.slices[s];
    T sums[b][C] = {}, xj[b][C];
    S const* v = values(slice);
    for (Index j = 0; j < slice.steps; ++j, v += b * b * C) {
      Index const next = std::min(j + 1, slice.steps - 1);
      for (int l = 0; l < C; ++l) {
        Index const column = p.a.column(slice, j, l);
        for (int c = 0; c < b; ++c) xj[c][l] = entry(column, c);
        prefetch(&entry(p.a.column(slice, next, l), 0), 0, 1);
      }
      prefetch(v, 2 * b * b * C, b * b * C);
      for (int r = 0; r < b; ++r)
        for (int l = 0; l < C; ++l) {  // in vectors
          T sum = sums[r][l];
          for (int c = 0; c < b; ++c) sum += widen<T>(v[(r * b + c) * C + l]) * xj[c][l];
          sums[r][l] = sum;
        }
    }
    for (int l = 0; l < C && s * C + l < p.a.block_rows; ++l) {
      std::int64_t const at = s * C + l, I = p.a.order == nullptr ? at : p.a.order[at];
      for (int r = 0; r < b && I * b + r < p.a.rows; ++r) {
        T const sum = sums[r][l] == sums[r][l] ? sums[r][l] : row(slice, l, r);
        T& to = y[(I * b + r) * y_stride];
        to = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * to;
      }
    }
  }
};

}  // namespace

template <class S, class T>
void spmm_bsell(Host&, BsellProduct<S, T> const& p) {
  if (Frame{p.loop}.stopped()) return;
  Elements<T const> const x = p.x;
  Elements<T> const y = p.y;
  with_bsell_block(p.a.block, [&]<int b>(std::integral_constant<int, b>) {
    for (Index j = 0; j < y.cols; ++j) {
      Column<b, S, T> const column{p, x.data + j * x.col_stride, x.row_stride,
                                   y.data + j * y.col_stride, y.row_stride};
      parallel(p.a.count, 64, [&](std::int64_t s) { column.slice(s); });
    }
  });
}

#define TCSOLVE_INSTANTIATE(S)                                                                  \
  template BsellCounts count_blocks<S>(Host&, Arena&, CsrView<S> const&);                       \
  template BsellArrays<S> build_bsell<S>(Host&, Arena&, CsrView<S> const&, BsellTuning const&); \
  template void refill_bsell<S>(Host&, Arena&, CsrView<S> const&, BsellArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T) template void spmm_bsell<S, T>(Host&, BsellProduct<S, T> const&);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct WalksExactly<BsellExactOps>;
template struct Executes<BsellExactOps>;

}  // namespace tcsolve::host
