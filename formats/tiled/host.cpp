// SPDX-License-Identifier: Apache-2.0
/// Panels on the host: the arrays of the device, line by line, up to 32 columns at a time.
#include <tcsolve/formats/tiled/build.hpp>
#include <tcsolve/formats/tiled/ops.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::host {

namespace {

constexpr Index together = 32;  // columns

/// sum_j += a_ic x_cj for the columns j at hand.
template <class S, class T>
struct AddLine {
  In<T> x;
  T* sum;
  void operator()(Index c, S value) const {
    for (Index j = 0; j < x.cols; ++j) sum[j] += T(value) * x.data[x.offset(c, j)];
  }
};

template <class T>
void write(T alpha, T const* sum, T beta, Out<T> y, Index i, Index j0, Index count) {
  for (Index j = 0; j < count; ++j) {
    T& out = y.data[y.offset(i, j0 + j)];
    T const v = alpha * sum[j];
    out = beta == T(0) ? v : v + beta * out;
  }
}

}  // namespace

template <class S>
TiledArrays<S> build_tiled(Host&, Arena& arena, CsrView<S> const& a, TiledTuning const& tuning) {
  Converter on(arena);
  return tiled::build(on, a, tuning);
}

template <class S>
void refill_tiled(Host&, Arena& arena, CsrView<S> const& a, TiledArrays<S>& m) {
  Converter on(arena);
  tiled::refill(on, a, m);
}

template <class S, class T>
void spmm_tiled(Host&, Arena& arena, LoopState* loop, T alpha, TiledView<S> const& a, In<T> x,
                T beta, Out<T> y) {
  if (Frame{loop}.stopped()) return;
  auto scope = arena.scope();
  T* const parts = scope.template take<T>(std::size_t(a.parts) * together);
  std::int64_t const serial_below = a.entries * y.cols < 20000 ? std::int64_t{1} << 40 : 2;
  for (Index j0 = 0; j0 < y.cols; j0 += together) {
    In<T> from = x;
    from.data += x.offset(0, j0);
    from.cols = std::min(together, y.cols - j0);
    parallel(a.lines, serial_below, [&](std::int64_t i) {
      T sum[together] = {};
      AddLine<S, T> const add{from, sum};
      LineOwner const owner = walk(a, i, add);
      if (owner.row >= 0)
        write(alpha, sum, beta, y, owner.row, j0, from.cols);
      else
        std::copy(sum, sum + from.cols, parts + owner.part * together);
    });
    parallel(a.long_rows, serial_below, [&](std::int64_t k) {
      T sum[together] = {};
      auto const add = [&](std::int64_t p) {
        for (Index j = 0; j < from.cols; ++j) sum[j] += parts[p * together + j];
      };
      Index const row = join(a, k, add);
      write(alpha, sum, beta, y, row, j0, from.cols);
    });
  }
}

#define TCSOLVE_INSTANTIATE(S)                                                                  \
  template TiledArrays<S> build_tiled<S>(Host&, Arena&, CsrView<S> const&, TiledTuning const&); \
  template void refill_tiled<S>(Host&, Arena&, CsrView<S> const&, TiledArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T)                                                             \
  template void spmm_tiled<S, T>(Host&, Arena&, LoopState*, T, TiledView<S> const&, In<T>, T, \
                                 Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct WalksExactly<TiledExactOps>;
template struct Executes<TiledExactOps>;

}  // namespace tcsolve::host
