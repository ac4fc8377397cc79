// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/csr/ops.hpp>
#include <tcsolve/formats/csr/product.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>

#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/host/prefetch.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::host {

namespace {

/// Rows [begin, end) of the product with `k` <= 8 columns from column j0 on; O is the offsets'
/// type.
template <class S, class T, class O>
void rows(CsrView<S> const& a, O const* offsets, T alpha, In<T> x, T beta, Out<T> y, Index i,
          Index j0, Index k) {
  double sum[8] = {};
  for (O e = offsets[i]; e < offsets[i + 1]; ++e) {
    double v = double(a.values[e]);
    T const* xj = x.data + x.offset(a.columns[e], j0);
    std::int64_t step = x.layout == Layout::row_major ? 1 : x.ld;
    for (Index j = 0; j < k; ++j) sum[j] += v * double(xj[j * step]);
  }
  for (Index j = 0; j < k; ++j) {
    T& out = y.data[y.offset(i, j0 + j)];
    out = T(beta == T(0) ? double(alpha) * sum[j]
                         : double(alpha) * sum[j] + double(beta) * double(out));
  }
}

template <class S, class T, class O>
void vector_row(CsrView<S> const& a, O const* offsets, T alpha, T const* x, T beta, T* y,
                std::int64_t i) {
  constexpr int group = 8;             // a cache line of values
  constexpr std::int64_t lead = 1024;  // entries: 8 KiB of values, some 200 ns of memory
  double sum = 0;
  O e = offsets[i], end = offsets[i + 1];
  for (; e + group <= end; e += group) {
    prefetch(a.values + e, lead, group);
    prefetch(a.columns + e, lead, group);
    double product[group];  // the loads of a group do not wait for its sum
    for (int k = 0; k < group; ++k)
      product[k] = double(a.values[e + k]) * double(x[a.columns[e + k]]);
    for (int k = 0; k < group; ++k) sum += product[k];
  }
  if (e < end) {
    prefetch(a.values + e, lead, group);
    prefetch(a.columns + e, lead, group);
  }
  for (; e < end; ++e) sum += double(a.values[e]) * double(x[a.columns[e]]);
  y[i] = T(beta == T(0) ? double(alpha) * sum : double(alpha) * sum + double(beta) * double(y[i]));
}

template <class S, class T, class O>
void product(CsrView<S> const& a, O const* offsets, T alpha, In<T> x, T beta, Out<T> y) {
  // A row of a few entries costs some nanoseconds: below about 20000 operations sharing costs more.
  std::int64_t serial_below = a.entries * y.cols < 20000 ? std::int64_t{1} << 40 : 2;
  if (x.is_vector() && y.is_vector()) {
    parallel(a.rows, serial_below,
             [&](std::int64_t i) { vector_row(a, offsets, alpha, x.data, beta, y.data, i); });
    return;
  }
  parallel(a.rows, serial_below, [&](std::int64_t i) {
    for (Index j0 = 0; j0 < y.cols; j0 += 8)
      rows(a, offsets, alpha, x, beta, y, static_cast<Index>(i), j0,
           std::min<Index>(8, y.cols - j0));
  });
}

}  // namespace

template <class S, class T>
void spmm_csr(Host&, LoopState* loop, T alpha, CsrView<S> const& a, In<T> x, T beta, Out<T> y) {
  if (Frame{loop}.stopped()) return;
  if (a.offsets.wide)
    product(a, static_cast<std::int64_t const*>(a.offsets.data), alpha, x, beta, y);
  else
    product(a, static_cast<std::int32_t const*>(a.offsets.data), alpha, x, beta, y);
}

#define TCSOLVE_INSTANTIATE(S, T) \
  template void spmm_csr<S, T>(Host&, LoopState*, T, CsrView<S> const&, In<T>, T, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct WalksExactly<CsrExactOps>;
template struct Executes<CsrOps>;

}  // namespace tcsolve::host
