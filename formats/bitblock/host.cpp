// SPDX-License-Identifier: Apache-2.0
/// Bitmap blocks on the host: the arrays of the device, row by row, up to 32 columns at a time.
#include <tcsolve/formats/bitblock/build.hpp>
#include <tcsolve/formats/bitblock/ops.hpp>
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
BitblockArrays<S> build_bitblock(Host&, Arena& arena, CsrView<S> const& a,
                                 BitblockTuning const& tuning) {
  Converter on(arena);
  return bitblock::build(on, a, tuning);
}

template <class S>
void refill_bitblock(Host&, Arena& arena, CsrView<S> const& a, BitblockArrays<S>& m) {
  Converter on(arena);
  bitblock::refill(on, a, m);
}

template <class S, class T>
void spmm_bitblock(Host&, T alpha, BitblockView<S> const& a, In<T> x, T beta, Out<T> y) {
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

#define TCSOLVE_INSTANTIATE(S)                                                   \
  template BitblockArrays<S> build_bitblock<S>(Host&, Arena&, CsrView<S> const&, \
                                               BitblockTuning const&);           \
  template void refill_bitblock<S>(Host&, Arena&, CsrView<S> const&, BitblockArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T) \
  template void spmm_bitblock<S, T>(Host&, T, BitblockView<S> const&, In<T>, T, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

template struct WalksExactly<BitblockExactOps>;
template struct Executes<BitblockExactOps>;

}  // namespace tcsolve::host
