// SPDX-License-Identifier: Apache-2.0
/// SELL-32-sigma with compressed columns on the host: the arrays of the device, strip by strip.
#include <tcsolve/kernels/csell_build.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/host/prefetch.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/verbs/basic.hpp>

namespace tcsolve::host {

template <class S>
CsellArrays<S> build_csell(Host&, Arena& arena, CsrView<S> const& a, CsellTuning const& tuning) {
  Converter on(arena);
  return csell::build(on, a, tuning);
}
template <class S>
void refill_csell(Host&, Arena& arena, CsrView<S> const& a, CsellArrays<S>& m) {
  Converter on(arena);
  csell::refill(on, a, m);
}

namespace {

constexpr int C = CsellView<double>::C;

/// One column of x and y.
template <class S, class T>
struct Column {
  CsellProduct<S, T> const& p;
  T const* x;
  std::int64_t x_stride;
  T* y;
  std::int64_t y_stride;

  void write(Index line, T sum) const {
    std::int32_t const row = p.a.order == nullptr ? line : p.a.order[line];
    if (row < 0)
      p.parts[~row] = sum;
    else
      put(row, sum);
  }
  void put(Index row, T sum) const {
    T& to = y[row * y_stride];
    to = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * to;
  }

  /// sum_l += a_lj x_j for step j of all lanes: `values` and `numbers` of lane 0.
  template <class I>
  [[gnu::always_inline]] void step(S const* values, I const* numbers, Index base, T* sum) const {
    for (int l = 0; l < C; ++l) {
      I const number = numbers[2 * l];
      bool const hole = number == csell_hole<I>;
      std::int64_t const j = std::int64_t{base} + (hole ? 0 : static_cast<Index>(number));
      T const e = T(values[2 * l]) * x[j * x_stride];
      sum[l] += hole ? T(0) : e;
    }
  }

  template <class I>
  void strip(std::int64_t t) const {
    CsellView<S> const& a = p.a;
    CsellStrip const& s = a.strips[t];
    S const* const values = a.values + Offset{s.first} * C;
    I const* const numbers = reinterpret_cast<I const*>(a.numbers + Offset{s.numbers} * 64);
    Index j = 0;
    auto const first = static_cast<Index>(t * a.depth);
    for (Index slice = first; slice < first + a.depth && slice * C < a.lines; ++slice) {
      T sum[C] = {};
      for (; j < a.ends[slice]; ++j) {
        Offset const at = CsellView<S>::place(j, 0);
        if (j % 2 == 0) prefetch(values + at, 40 * C, 2 * C), prefetch(numbers + at, 80 * C, 2 * C);
        step(values + at, numbers + at, a.bases[s.first + j], sum);
      }
      for (int l = 0; l < C && slice * C + l < a.lines; ++l) write(slice * C + l, sum[l]);
    }
  }

  void multiply() const {
    parallel(p.a.count, 64, [&](std::int64_t t) {
      std::int32_t const bytes = p.a.strips[t].bytes;
      if (bytes == 1) return strip<std::uint8_t>(t);
      if (bytes == 2) return strip<std::uint16_t>(t);
      strip<std::int32_t>(t);
    });
    parallel(p.a.long_rows, 2000, [&](std::int64_t k) {
      T sum = T(0);
      for (Index i = p.a.long_start[k]; i < p.a.long_start[k + 1]; ++i) sum += p.parts[i];
      put(p.a.long_row[k], sum);
    });
  }
};

}  // namespace

template <class S, class T>
void spmm_csell(Host&, CsellProduct<S, T> const& p) {
  Elements<T const> const x = p.x;
  Elements<T> const y = p.y;
  for (Index j = 0; j < y.cols; ++j) {
    T* const to = y.data + j * y.col_stride;
    // A hole reads something; without columns, anything.
    bool const columns = p.a.cols > 0;
    T const* const from = columns ? x.data + j * x.col_stride : to;
    Column<S, T>{p, from, columns ? x.row_stride : 0, to, y.row_stride}.multiply();
  }
}

#define TCSOLVE_INSTANTIATE(S)                                                                  \
  template CsellArrays<S> build_csell<S>(Host&, Arena&, CsrView<S> const&, CsellTuning const&); \
  template void refill_csell<S>(Host&, Arena&, CsrView<S> const&, CsellArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T) template void spmm_csell<S, T>(Host&, CsellProduct<S, T> const&);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

}  // namespace tcsolve::host
