// SPDX-License-Identifier: Apache-2.0
/// Conversion to and the products with SELL-32 (Kreutzer et al. 2014, section 4.1) on the host.
///
///   sums   one a row, in storage order, no FMA (CMakeLists.txt): the bits of sell_row
///   lanes  16 at a time, so that their sums stay in the 16 vector registers of any x86-64
///   bytes  as the format's; what is read is asked for 5 KiB and half a slice before
///   bound  the memory's bandwidth; in one thread the gathers of x take nearly as long
#include <tcsolve/formats/sell/ops.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>

#include <cstring>

#include <tcsolve/formats/sell/build.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/host/prefetch.hpp>
#include <tcsolve/kernels/host/widen.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::host {

namespace {

constexpr int C = SellView<double>::C;
constexpr int half_slice = C / 2;

/// Steps that are walked for the lower lanes before the upper: as many as stay in the first cache.
constexpr Index block_steps = 96;

/// Copied, since GCC fills 128 bytes by an instruction that takes as long as two steps.
template <class T>
alignas(64) constexpr T zeros[half_slice] = {};

/// The arrays of a slice, and the position up to which they are prefetched: line by line, whichever
/// lanes are walked.
template <class S, class I>
struct Entries {
  S const* values;  // of step 0, lane 0
  I const* columns;
  S const* next_values;
  I const* next_columns;
  std::int64_t lead;  // entries between a step of the lower lanes and what it asks for

  [[gnu::always_inline]] void ask() {
    prefetch(next_values, lead, half_slice), next_values += half_slice;
    prefetch(next_columns, lead, half_slice), next_columns += half_slice;
  }
};

/// sums_l, 0 at step 0, += sum of a_lj x_j over steps [begin, end) of lanes first to first + 15.
/// The vectors are named: compilers do not find them in every surrounding.
template <bool adjacent, class S, class I, class T>
inline void add_steps(Entries<S, I>& a, int first, Index begin, Index end, T const* x,
                      std::int64_t stride, T* sums) {
  using Vector [[gnu::vector_size(16)]] = T;
  constexpr int in_vector = sizeof(Vector) / sizeof(T), vectors = half_slice / in_vector;
  S const* values = a.values + Offset{begin} * C + first;
  I const* columns = a.columns + Offset{begin} * C + first;
  Entries<S, I> next = a;  // in registers
  Vector sum[vectors];
  std::memcpy(sum, begin > 0 ? sums : zeros<T>, sizeof sum);
  for (Index j = begin; j < end; ++j, values += C, columns += C) {
    next.ask();
    for (int v = 0; v < vectors; ++v) {
      Vector value, factor;
      for (int k = 0; k < in_vector; ++k) {
        int l = v * in_vector + k;
        value[k] = widen<T>(values[l]);
        factor[k] = x[adjacent ? columns[l] : columns[l] * stride];
      }
      sum[v] += value * factor;
    }
  }
  std::memcpy(sums, sum, sizeof sum);
  a = next;
}

constexpr int few = half_slice / 4;

/// The furthest step <= end before which at most a few of the rows that go on at `begin` end.
inline Index common_end(Index const* lengths, Index begin, Index end) {
  for (Index until = begin;;) {
    Index next = end;
    for (int l = 0; l < half_slice; ++l)
      next = std::min(next, lengths[l] > until ? lengths[l] : end);
    int ended = 0;
    for (int l = 0; l < half_slice; ++l) ended += lengths[l] > begin && lengths[l] < next;
    if (ended > few) return until;
    if (next == end) return end;
    until = next;
  }
}

/// The same where row l ends before step lengths[l]. Rows are added together up to a common end; a
/// few that end before that, or go on beyond, are added by themselves. What has ended goes on with
/// its padding, which refers to the slice's first column, until its sum is put right.
template <bool adjacent, class S, class I, class T>
[[gnu::noinline]] void add_uneven(Entries<S, I>& a, int first, Index begin, Index end,
                                  Index const* lengths, T const* x, std::int64_t stride, T* sums) {
  auto row = [&](T sum, int l, Index to) {
    Offset at = Offset{begin} * C + first + l;
    for (Index j = begin; j < to; ++j, at += C)
      sum += T(a.values[at]) * x[adjacent ? a.columns[at] : a.columns[at] * stride];
    return sum;
  };
  if (begin == 0) std::memcpy(sums, zeros<T>, sizeof zeros<T>);
  while (begin < end) {
    int going = 0, whole = 0;
    for (int l = 0; l < half_slice; ++l) going += lengths[l] > begin, whole += lengths[l] >= end;
    Index until = going - whole <= few ? end : common_end(lengths, begin, end);
    if (going <= few || until < std::min(begin + 2 * few, end)) {  // little to add together
      for (int l = 0; l < half_slice; ++l) sums[l] = row(sums[l], l, std::min(lengths[l], end));
      return;
    }
    T before[half_slice];
    std::copy_n(sums, half_slice, before);
    add_steps<adjacent>(a, first, begin, until, x, stride, sums);
    for (int l = 0; l < half_slice; ++l)
      if (lengths[l] < until) sums[l] = row(before[l], l, lengths[l]);
    begin = until;
  }
}

/// sums_l = sum_j a_lj x_j over the 32 rows of a slice.
template <bool adjacent, class S, class I, class T>
void slice_sums(S const* values, I const* columns, Index const* lengths, Index width, T const* x,
                std::int64_t stride, T* sums) {
  // The lower lanes' turn ends half a block further on than what has been asked for.
  std::int64_t lead = 5120 / sizeof(S) + std::min(width, block_steps) * half_slice;
  Entries<S, I> a{values, columns, values, columns, lead};
  if (width == 0) std::fill_n(sums, C, T(0));
  for (Index begin = 0; begin < width; begin += block_steps) {
    Index end = std::min(begin + block_steps, width);
    for (int first = 0; first < C; first += half_slice) {
      Index differ = 0;
      for (int l = 0; l < half_slice; ++l) differ |= lengths[first + l] ^ width;
      if (differ == 0)
        add_steps<adjacent>(a, first, begin, end, x, stride, sums + first);
      else
        add_uneven<adjacent>(a, first, begin, end, lengths + first, x, stride, sums + first);
    }
  }
}

template <bool adjacent, class S, class T>
void slice_sums(SellView<S> const& a, std::int64_t s, T const* x, std::int64_t stride, T* sums) {
  std::int64_t first = s * C;
  if (first + C > a.rows) {  // lanes beyond the last row hold nothing
    for (std::int64_t i = first; i < a.rows; ++i)
      sums[i - first] = sell_row<false>(a, i, x, stride);
    return;
  }
  SellSlice const slice = a.slices[s];
  S const* values = a.values + slice.values;
  Index const* lengths = a.lengths + first;
  if (slice.wide)
    slice_sums<adjacent>(values, a.columns + slice.indices, lengths, slice.width, x, stride, sums);
  else
    slice_sums<adjacent>(values, a.deltas + slice.indices, lengths, slice.width,
                         x + slice.base * stride, stride, sums);
}

}  // namespace

template <class S, class T>
struct Walk<SellMultiply<S, T>> {
  static void elements(SellMultiply<S, T> const& op, NoCoefficients, std::int64_t begin,
                       std::int64_t end, double*) {
    auto [n, alpha, a, x, beta, y] = op;
    std::int64_t row = begin / y.cols, rows = end / y.cols;
    for (; row < rows; row += C)
      for (Index j = 0; j < y.cols; ++j) {
        T sums[C];
        if (x.row_stride == 1)
          slice_sums<true>(a, row / C, x.data + j * x.col_stride, 1, sums);
        else
          slice_sums<false>(a, row / C, x.data + j * x.col_stride, x.row_stride, sums);
        T* out = y.data + row * y.row_stride + j * y.col_stride;
        int lanes = static_cast<int>(std::min<std::int64_t>(C, rows - row));
        if (beta == T(0) && y.row_stride == 1)
          for (int l = 0; l < lanes; ++l) out[l] = alpha * sums[l];
        else if (beta == T(0))
          for (int l = 0; l < lanes; ++l) out[l * y.row_stride] = alpha * sums[l];
        else
          for (int l = 0; l < lanes; ++l)
            out[l * y.row_stride] = alpha * sums[l] + beta * out[l * y.row_stride];
      }
  }
  /// Whole slices.
  static std::int64_t grain(SellMultiply<S, T> const& op) {
    std::int64_t slice = std::int64_t{SellView<S>::C} * std::max<Index>(op.y.cols, 1);
    return std::max<std::int64_t>(chunk / slice, 1) * slice;
  }
};

template <class S, class T>
struct Walk<SellMultiplyDot<S, T>> {
  static void elements(SellMultiplyDot<S, T> const& op, NoCoefficients, std::int64_t begin,
                       std::int64_t end, double* sum) {
    for (std::int64_t row = begin; row < end; row += C) {
      T sums[C];
      slice_sums<true>(op.a, row / C, op.x, 1, sums);
      for (std::int64_t i = row; i < std::min(row + C, end); ++i) {
        T yi = op.alpha * sums[i - row];
        op.y[i] = yi;
        sum[0] += double(op.x[i]) * double(yi);
      }
    }
  }
  static std::int64_t grain(SellMultiplyDot<S, T> const&) { return chunk; }
};

template <class S>
SellArrays<S> build_sell(Host&, Arena& arena, CsrView<S> const& a) {
  Converter on(arena);
  return sell::build(on, a);
}
template <class S>
void refill_sell(Host&, Arena& arena, CsrView<S> const& a, SellArrays<S>& m) {
  Converter on(arena);
  sell::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                            \
  template SellArrays<S> build_sell<S>(Host&, Arena&, CsrView<S> const&); \
  template void refill_sell<S>(Host&, Arena&, CsrView<S> const&, SellArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

/// Slice by slice; padding is 0, with the same exception.
template <>
struct Each<ExactResidual<SellView<double>>> {
  [[gnu::always_inline]] static inline void run(ExactResidual<SellView<double>> const op,
                                                std::int64_t begin, std::int64_t end) {
    constexpr int C = SellView<double>::C;
    SellView<double> const& a = op.a;
    for (std::int64_t first = begin; first < end; first += C) {
      if (first + C > a.rows) {  // lanes beyond the last row hold nothing
        for (std::int64_t i = first; i < end; ++i) op.element(i, {}, nullptr);
        return;
      }
      SellSlice const slice = a.slices[first / C];
      double const* values = a.values + slice.values;
      RowSums<C> sums;
      auto add = [&](auto const* columns, double const* x) {
        for (Index j = 0; j < slice.width; ++j, values += C, columns += C) {
          double factor[C];
          for (int l = 0; l < C; ++l) factor[l] = x[columns[l]];
          for (int l = 0; l < C; ++l) sums.subtract_product(l, values[l], factor[l]);
        }
      };
      if (slice.wide != 0)
        add(a.columns + slice.indices, op.v.x);
      else
        add(a.deltas + slice.indices, op.v.x + slice.base);
      for (int l = 0; l < C; ++l) {
        RowSum const row = sums[l];
        if (std::isfinite(row.sum.high))
          op.v.finish(first + l, row);
        else
          op.element(first + l, {}, nullptr);
      }
    }
  }
};

template struct WalksExactly<SellExactOps>;
template struct Executes<Join<SellProducts, SellExactOps>>;

}  // namespace tcsolve::host
