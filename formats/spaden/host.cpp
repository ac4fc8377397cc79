// SPDX-License-Identifier: Apache-2.0
/// bitBSR on the host: the arrays of the device, block by block.
#include <tcsolve/formats/spaden/ops.hpp>
#include <tcsolve/formats/spaden/spaden.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>

#include <bit>

#include <tcsolve/formats/spaden/refill.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::host {

template <class S>
SpadenArrays<S> build_spaden(Host&, Arena& arena, CsrView<S> const& a, SpadenTuning const& tuning) {
  Converter on(arena);
  return spaden::build(on, a, tuning);
}

template <class S>
void refill_spaden(Host&, Arena& arena, CsrView<S> const& a, SpadenArrays<S>& m) {
  Converter on(arena);
  spaden::refill(on, a, m);
}

template <class S, class T>
void spmm_spaden(Host&, T alpha, SpadenView<S> const& a, SpadenWork<T> const& work, In<T> x, T beta,
                 Out<T> y) {
  if (Frame{work.loop}.stopped()) return;
  std::int64_t serial_below = a.entries * y.cols < 20000 ? std::int64_t{1} << 40 : 2;
  for (Index j = 0; j < y.cols; ++j)
    parallel(a.block_rows, serial_below, [&](std::int64_t I) {
      double sum[8] = {};
      for (auto b = a.start[I]; b < a.start[I + 1]; ++b) {
        SpadenBlock const& block = a.blocks[b];
        S const* value = a.values + block.offset;
        for (std::uint64_t left = block.bitmap; left != 0; left &= left - 1) {
          int bit = std::countr_zero(left);
          sum[bit / 8] +=
              double(*value++) * double(x.data[x.offset(8 * block.column + bit % 8, j)]);
        }
      }
      for (Index r = 0; r < 8 && 8 * I + r < a.rows; ++r) {
        Index i = static_cast<Index>(8 * I + r);
        if (a.side_start != nullptr)
          for (auto e = a.side_start[i]; e < a.side_start[i + 1]; ++e)
            sum[r] += double(a.side_values[e]) * double(x.data[x.offset(a.side_columns[e], j)]);
        double v = double(alpha) * sum[r];
        T& out = y.data[y.offset(i, j)];
        out = T(beta == T(0) ? v : v + double(beta) * double(out));
      }
    });
}

#define TCSOLVE_INSTANTIATE(S)                                                                     \
  template SpadenArrays<S> build_spaden<S>(Host&, Arena&, CsrView<S> const&, SpadenTuning const&); \
  template void refill_spaden<S>(Host&, Arena&, CsrView<S> const&, SpadenArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T)                                                                 \
  template void spmm_spaden<S, T>(Host&, T, SpadenView<S> const&, SpadenWork<T> const&, In<T>, T, \
                                  Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct WalksExactly<SpadenExactOps>;
template struct Executes<SpadenExactOps>;

}  // namespace tcsolve::host
