// SPDX-License-Identifier: Apache-2.0
/// SELL-32-sigma with compressed columns on the host: the arrays of the device, strip by strip.
#include <tcsolve/formats/csell/build.hpp>
#include <tcsolve/formats/csell/ops.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/prefetch.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

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
      bool const padded = number == csell_padding<I>;
      std::int64_t const j = std::int64_t{base} + (padded ? 0 : static_cast<Index>(number));
      T const e = T(values[2 * l]) * x[j * x_stride];
      sum[l] += padded ? T(0) : e;
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
  if (Frame{p.loop}.stopped()) return;
  Elements<T const> const x = p.x;
  Elements<T> const y = p.y;
  for (Index j = 0; j < y.cols; ++j) {
    T* const to = y.data + j * y.col_stride;
    // Padding reads something; without columns, anything.
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
#undef TCSOLVE_INSTANTIATE

/// Slice by slice.
template <>
struct Each<ExactResidual<CsellView<double>>> {
  [[gnu::always_inline]] static inline void run(ExactResidual<CsellView<double>> const op,
                                                std::int64_t begin, std::int64_t end) {
    constexpr int C = CsellView<double>::C;
    CsellView<double> const& a = op.a;
    for (std::int64_t first = begin; first < end; first += C) {
      Index const s = static_cast<Index>(first / C);
      CsellStrip const strip = a.strips[s / a.depth];
      double const* const values = a.values + Offset{strip.first} * C;
      Index const from = s % a.depth == 0 ? 0 : a.ends[s - 1], to = a.ends[s];
      RowSums<C> sums;
      auto add = [&]<class I>(I const* numbers) {
        for (Index j = from; j < to; ++j) {
          Offset const at = a.place(j, 0);
          std::int64_t const base = a.bases[strip.first + j];
          double value[C], factor[C];
          for (int l = 0; l < C; ++l) {
            I const number = numbers[at + 2 * l];
            bool const padded = number == csell_padding<I>;
            value[l] = padded ? 0.0 : values[at + 2 * l];
            factor[l] = padded ? 0.0 : op.v.x[base + static_cast<Index>(number)];
          }
          for (int l = 0; l < C; ++l) sums.subtract_product(l, value[l], factor[l]);
        }
      };
      std::uint8_t const* const numbers = a.numbers + Offset{strip.numbers} * 64;
      if (strip.bytes == 1)
        add(numbers);
      else if (strip.bytes == 2)
        add(reinterpret_cast<std::uint16_t const*>(numbers));
      else
        add(reinterpret_cast<std::int32_t const*>(numbers));
      for (std::int64_t line = first; line < std::min(first + C, end); ++line) {
        RowSum const sum = sums[line - first];
        std::int32_t const row = a.order == nullptr ? static_cast<Index>(line) : a.order[line];
        if (row < 0)
          op.parts[~row] = sum;
        else
          op.v.finish(row, sum);
      }
    }
  }
};

template struct WalksExactly<CsellExactOps>;
template struct Executes<CsellExactOps>;

}  // namespace tcsolve::host
