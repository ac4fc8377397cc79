// SPDX-License-Identifier: Apache-2.0
/// BitTCF on the host: the arrays of the device, row by row, up to 32 columns at a time.
#include <tcsolve/formats/bittcf/build.hpp>
#include <tcsolve/formats/bittcf/ops.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::host {

namespace {

constexpr Index together = 32;  // columns

/// sum_j += a_ic x_cj for the columns j at hand.
template <class S, class T>
struct AddRow {
  In<T> x;
  double* sum;
  void operator()(Index c, S value) const {
    for (Index j = 0; j < x.cols; ++j) sum[j] += double(value) * double(x.data[x.offset(c, j)]);
  }
};

}  // namespace

template <class S>
BittcfArrays<S> build_bittcf(Host&, Arena& arena, CsrView<S> const& a, BittcfTuning const& tuning) {
  Converter on(arena);
  return bittcf::build(on, a, tuning);
}

template <class S>
void refill_bittcf(Host&, Arena& arena, CsrView<S> const& a, BittcfArrays<S>& m) {
  Converter on(arena);
  bittcf::refill(on, a, m);
}

template <class S, class T>
void spmm_bittcf(Host&, LoopState* state, T alpha, BittcfView<S> const& a, T*, In<T> x, T beta,
                 Out<T> y) {
  if (Frame{state}.stopped()) return;
  std::int64_t const serial_below = a.entries * y.cols < 20000 ? std::int64_t{1} << 40 : 2;
  for (Index j0 = 0; j0 < y.cols; j0 += together) {
    In<T> from = x;
    from.data += x.offset(0, j0);
    from.cols = std::min(together, y.cols - j0);
    parallel(a.rows, serial_below, [&](std::int64_t i) {
      double sum[together] = {};
      AddRow<S, T> const add{from, sum};
      walk(a, i, add);
      for (Index j = 0; j < from.cols; ++j) {
        double const v = double(alpha) * sum[j];
        T& out = y.data[y.offset(static_cast<Index>(i), j0 + j)];
        out = T(beta == T(0) ? v : v + double(beta) * double(out));
      }
    });
  }
}

#define TCSOLVE_INSTANTIATE(S)                                                                     \
  template BittcfArrays<S> build_bittcf<S>(Host&, Arena&, CsrView<S> const&, BittcfTuning const&); \
  template void refill_bittcf<S>(Host&, Arena&, CsrView<S> const&, BittcfArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T) \
  template void spmm_bittcf<S, T>(Host&, LoopState*, T, BittcfView<S> const&, T*, In<T>, T, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct WalksExactly<BittcfExactOps>;
template struct Executes<BittcfExactOps>;

}  // namespace tcsolve::host
