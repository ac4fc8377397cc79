// SPDX-License-Identifier: Apache-2.0
/// y = alpha A x + beta y, A in DASP (Lu and Liu 2023, Algorithms 2 to 5). One kernel for all
/// categories, long rows first; a warp takes one long or short unit, LOOP medium units, or 32
/// single or empty rows.
///
///   lane   slot k = lane % 4 of line r = lane / 4 of a block
///   loads  the slots of two blocks at once; `pairs` such loads are in flight before the first x is
///          asked for, and the x of all of them before the first product
///   sum    in registers, blocks in order; a long row's units leave their parts in memory, and
///          whoever comes last adds them in the order of the row: the same bits on every run
///   y      written to the caller's row, nothing else leaves the kernel
///   tuning LOOP, and `pairs` by the size of a value: swept by bench/spmv (docs/formats/dasp.md)
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/cuda/dasp_line.cuh>
#include <tcsolve/kernels/dasp.hpp>

#include <algorithm>
#include <type_traits>

namespace tcsolve::cuda {

namespace {

constexpr int block_threads = 128;
constexpr unsigned int all = 0xffffffffu;

/// Loads in flight of one lane, in pairs of slots.
template <class S>
constexpr int pairs = sizeof(S) == 2 ? 8 : 4;

template <class T, bool adjacent>
struct Domain {
  T const* x;
  std::int64_t stride;
  __device__ T operator[](Index j) const { return __ldg(adjacent ? x + j : x + j * stride); }
};

template <class T>
struct Range {
  T alpha, beta;
  T* y;
  std::int64_t stride;
  T const* scale;
  template <class U>
  __device__ void write(Index row, U sum) const {
    T v = scale == nullptr ? T(sum) : T(sum) * scale[row];
    T& out = y[row * stride];
    out = beta == T(0) ? alpha * v : alpha * v + beta * out;
  }
};

/// One lane's slots of two blocks.
template <class S>
struct Slots {
  S a{}, b{};
};

__device__ Slots<double> load_two(double const* p) {
  double2 v = __ldcs(reinterpret_cast<double2 const*>(p));
  return {v.x, v.y};
}
__device__ Slots<float> load_two(float const* p) {
  float2 v = __ldcs(reinterpret_cast<float2 const*>(p));
  return {v.x, v.y};
}
__device__ half half_of(unsigned int bits) {
  half h;
  h.bits = static_cast<std::uint16_t>(bits);
  return h;
}
__device__ Slots<half> load_two(half const* p) {
  unsigned int v = __ldcs(reinterpret_cast<unsigned int const*>(p));
  return {half_of(v & 0xffff), half_of(v >> 16)};
}
__device__ double load_one(double const* p) { return __ldcs(p); }
__device__ float load_one(float const* p) { return __ldcs(p); }
__device__ half load_one(half const* p) {
  return half_of(__ldcs(reinterpret_cast<unsigned short const*>(p)));
}

__device__ DaspUnit load_unit(DaspUnit const* p) {
  int4 v = __ldg(reinterpret_cast<int4 const*>(p));
  return {v.x, v.y, v.z, static_cast<std::uint32_t>(v.w)};
}

/// Column numbers of a lane's slots of pair q, 16 or 32 bits each.
template <bool wide>
__device__ int2 load_columns(std::uint16_t const* words, int base, int q, int lane, bool two) {
  int at = q * 64 + (two ? 2 * lane : lane);
  if (wide && base < 0) {
    auto const* columns = reinterpret_cast<int const*>(words) + at;
    if (two) return __ldcs(reinterpret_cast<int2 const*>(columns));
    return {__ldcs(columns), 0};
  }
  if (two) {
    unsigned int v = __ldcs(reinterpret_cast<unsigned int const*>(words + at));
    return {base + static_cast<int>(v & 0xffff), base + static_cast<int>(v >> 16)};
  }
  return {base + __ldcs(words + at), 0};
}

/// count <= N units side by side, each into its own sum.
template <int N, class S>
struct Group {
  DaspUnit unit[N];
  int blocks[N];
  std::uint32_t irregular_end[N];

  __device__ Group(DaspView<S> const& a, Index first, int count) {
    DaspUnit next = load_unit(a.units + first);
#pragma unroll
    for (int j = 0; j < N; ++j) {
      unit[j] = next;
      if (j < count) next = load_unit(a.units + first + j + 1);
      blocks[j] = j < count ? next.blocks - unit[j].blocks : 0;
      irregular_end[j] = next.irregular;
    }
  }
  __device__ int most_pairs() const {
    int most = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) most = max(most, (blocks[j] + 1) / 2);
    return most;
  }
  __device__ bool any_wide() const {
    bool wide = false;
#pragma unroll
    for (int j = 0; j < N; ++j) wide = wide || unit[j].base < 0;
    return wide;
  }

  template <bool wide, class Sum, class X>
  __device__ void multiply(DaspView<S> const& a, X const& x, int lane, Sum (&sum)[N]) const {
    constexpr int deep = pairs<S> / N > 0 ? pairs<S> / N : 1;
    using T = std::remove_cvref_t<decltype(x[0])>;
    int most = most_pairs();
    for (int p = 0; p < most; p += deep) {
      Slots<S> v[N][deep];
      int2 column[N][deep];
#pragma unroll
      for (int j = 0; j < N; ++j)
#pragma unroll
        for (int u = 0; u < deep; ++u) {
          int q = p + u;
          bool one = 2 * q < blocks[j], two = 2 * q + 1 < blocks[j];
          S const* values = a.values + Offset{unit[j].blocks} * 32 + q * 64;
          auto const* words = a.indices + Offset{unit[j].indices} * 32;
          if (two)
            v[j][u] = load_two(values + 2 * lane);
          else if (one)
            v[j][u].a = load_one(values + lane);
          if (one) column[j][u] = load_columns<wide>(words, unit[j].base, q, lane, two);
        }
      T x0[N][deep], x1[N][deep];
#pragma unroll
      for (int j = 0; j < N; ++j)
#pragma unroll
        for (int u = 0; u < deep; ++u) {
          x0[j][u] = 2 * (p + u) < blocks[j] ? x[column[j][u].x] : T(0);
          x1[j][u] = 2 * (p + u) + 1 < blocks[j] ? x[column[j][u].y] : T(0);
        }
#pragma unroll
      for (int j = 0; j < N; ++j)
#pragma unroll
        for (int u = 0; u < deep; ++u)
          if (2 * (p + u) < blocks[j]) sum[j].add(v[j][u].a, x0[j][u], v[j][u].b, x1[j][u]);
    }
  }
  template <class Sum, class X>
  __device__ void multiply(DaspView<S> const& a, X const& x, int lane, Sum (&sum)[N]) const {
    if (any_wide())
      multiply<true>(a, x, lane, sum);
    else
      multiply<false>(a, x, lane, sum);
  }
};

/// Irregular entries of the rows of medium unit m, four lanes a row.
template <class Sum, class S, class X>
__device__ void irregular(DaspView<S> const& a, X const& x, Index m, int lane, Sum& sum) {
  Index i = m * 8 + line_of(lane);
  std::uint32_t begin = 0, end = 0;
  if (i < a.medium_rows)
    begin = __ldg(a.irregular_start + i), end = __ldg(a.irregular_start + i + 1);
  constexpr int deep = 2;
  std::uint32_t e = begin + lane % 4;
  do {
    S v[deep] = {};
    int column[deep] = {};
#pragma unroll
    for (int u = 0; u < deep; ++u)
      if (e + 4 * u < end) {
        v[u] = load_one(a.irregular_values + e + 4 * u);
        column[u] = __ldcs(a.irregular_columns + e + 4 * u);
      }
    using T = std::remove_cvref_t<decltype(x[0])>;
    T x_of[deep];
#pragma unroll
    for (int u = 0; u < deep; ++u) x_of[u] = e + 4 * u < end ? x[column[u]] : T(0);
    sum.add(v[0], x_of[0], v[1], x_of[1]);
    e += 4 * deep;
  } while (__any_sync(all, e < end));
}

template <class T>
__device__ T warp_sum(T v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(all, v, offset);
  return v;
}

template <class Sum, class S, class T, class X>
__device__ void long_unit(DaspView<S> const& a, DaspWork<T> const& work, X const& x,
                          Range<T> const& y, Index u, int lane) {
  Group<1, S> group(a, u, 1);
  Sum sum[1];
  group.multiply(a, x, lane, sum);
  T line = sum[0].sum(lane), part = warp_sum(writes_line(lane) ? line : T(0));
  Index i = static_cast<Index>(group.unit[0].irregular);
  Index first = __ldg(a.long_start + i), last = __ldg(a.long_start + i + 1);
  unsigned int ticket = 0;
  if (lane == 0) {
    __stcg(work.parts + u, part);
    __threadfence();  // the part is visible before its ticket is
    ticket = atomicAdd(work.tickets + i, 1u);
  }
  ticket = __shfl_sync(all, ticket, 0);
  if (ticket + 1 != static_cast<unsigned int>(last - first)) return;
  __threadfence();
  T total = 0;
  for (Index p = first + lane; p < last; p += 32) total += __ldcg(work.parts + p);
  total = warp_sum(total);
  if (lane == 0) {
    y.write(a.order[i], total);
    work.tickets[i] = 0;
  }
}

template <int N, class Sum, class S, class T, class X>
__device__ void medium_units(DaspView<S> const& a, X const& x, Range<T> const& y, Index m,
                             int lane) {
  int count = min(N, a.medium_units() - m);
  Group<N, S> group(a, a.long_units + m, count);
  Index row[N];
#pragma unroll
  for (int j = 0; j < N; ++j) {
    Index i = (m + j) * 8 + line_of(lane);
    row[j] = j < count && i < a.medium_rows && writes_line(lane)
                 ? __ldg(a.order + a.first_medium() + i)
                 : -1;
  }
  Sum sum[N];
  group.multiply(a, x, lane, sum);
#pragma unroll
  for (int j = 0; j < N; ++j)
    if (j < count && group.irregular_end[j] != group.unit[j].irregular)
      irregular(a, x, m + j, lane, sum[j]);
#pragma unroll
  for (int j = 0; j < N; ++j) {
    auto line = sum[j].sum(lane);
    if (row[j] >= 0) y.write(row[j], line);
  }
}

/// Four blocks of pieces; the slots of the two rows of a line are added apart.
template <class Sum, class S, class T, class X>
__device__ void short_unit(DaspView<S> const& a, X const& x, Range<T> const& y, Index u, int lane) {
  DaspKind kind = a.kind(u);
  Index v = a.within_kind(kind, u);
  typename DaspView<S>::Line line[4];
#pragma unroll
  for (int b = 0; b < 4; ++b) line[b] = a.line(kind, v, 8 * b + line_of(lane));
  DaspUnit unit = load_unit(a.units + u);
  int blocks = load_unit(a.units + u + 1).blocks - unit.blocks;
  S const* values = a.values + Offset{unit.blocks} * 32;
  auto const* words = a.indices + Offset{unit.indices} * 32;
  Slots<S> slots[2];
  int2 column[2] = {};
#pragma unroll
  for (int q = 0; q < 2; ++q) {
    bool one = 2 * q < blocks, two = 2 * q + 1 < blocks;
    if (two)
      slots[q] = load_two(values + q * 64 + 2 * lane);
    else if (one)
      slots[q].a = load_one(values + q * 64 + lane);
    if (one) column[q] = load_columns<true>(words, unit.base, q, lane, two);
  }
  T x_of[4];
#pragma unroll
  for (int b = 0; b < 4; ++b)
    x_of[b] = b < blocks ? x[b % 2 == 0 ? column[b / 2].x : column[b / 2].y] : T(0);
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    S value = b % 2 == 0 ? slots[b / 2].a : slots[b / 2].b;
    bool first = lane % 4 < line[b].split;
    Sum sum;
    sum.add(value, first ? x_of[b] : T(0));
    auto result = sum.sum(lane);
    if (writes_line(lane) && line[b].first >= 0) y.write(line[b].first, result);
    if (kind == DaspKind::four) continue;
    Sum other;
    other.add(value, first ? T(0) : x_of[b]);
    result = other.sum(lane);
    if (writes_line(lane) && line[b].second >= 0) y.write(line[b].second, result);
  }
}

template <class Sum, class S, class T, class X>
__device__ void single_or_empty(DaspView<S> const& a, X const& x, Range<T> const& y, Index i) {
  if (i >= a.singles() + a.with[0]) return;
  Index row = a.order[a.first_single() + i];
  if (i >= a.singles()) return y.write(row, T(0));
  Offset e = a.irregular + i;
  T x_of = x[a.irregular_columns[e]];
  if (std::is_same_v<Sum, MmaF16>) x_of = T(half(x_of));
  y.write(row, T(load_one(a.irregular_values + e)) * x_of);
}

template <int N, class Sum, bool adjacent, class S, class T>
__global__ void __launch_bounds__(block_threads)
    dasp_kernel(DaspView<S> a, DaspWork<T> work, Domain<T, adjacent> x, Range<T> y) {
  int lane = threadIdx.x % 32;
  Index w = blockIdx.x * (block_threads / 32) + threadIdx.x / 32;
  if (w < a.long_units) return long_unit<Sum>(a, work, x, y, w, lane);
  w -= a.long_units;
  Index medium = (a.medium_units() + N - 1) / N;
  if (w < medium) return medium_units<N, Sum>(a, x, y, w * N, lane);
  w -= medium;
  if (w < a.short_units())
    return short_unit<Sum>(a, x, y, a.long_units + a.medium_units() + w, lane);
  w -= a.short_units();
  single_or_empty<Sum>(a, x, y, w * 32 + lane);
}

template <int N, class Sum, bool adjacent, class S, class T>
void launch(Device& on, DaspView<S> const& a, DaspWork<T> const& work, Domain<T, adjacent> x,
            Range<T> y) {
  std::int64_t others = std::int64_t{a.singles()} + a.with[0];
  std::int64_t warps = std::int64_t{a.long_units} + (a.medium_units() + N - 1) / N +
                       a.short_units() + (others + 31) / 32;
  constexpr int per_block = block_threads / 32;
  dasp_kernel<N, Sum, adjacent><<<static_cast<unsigned int>((warps + per_block - 1) / per_block),
                                  block_threads, 0, on.stream>>>(a, work, x, y);
  check(cudaGetLastError());
}

/// One column whose entries are adjacent runs the tuned kernel, any other a plain one.
template <class Sum, class S, class T>
void column(Device& on, DaspView<S> const& a, DaspWork<T> const& work, T const* x,
            std::int64_t x_stride, Range<T> const& y) {
  if (x_stride != 1) return launch<1, Sum>(on, a, work, Domain<T, false>{x, x_stride}, y);
  Domain<T, true> adjacent{x, 1};
  if (work.loop_num == 4) return launch<4, Sum>(on, a, work, adjacent, y);
  if (work.loop_num == 2) return launch<2, Sum>(on, a, work, adjacent, y);
  launch<1, Sum>(on, a, work, adjacent, y);
}

}  // namespace

template <class S, class T>
void spmm_dasp(Device& on, T alpha, DaspView<S> const& a, DaspWork<T> const& work, In<T> x, T beta,
               Out<T> y) {
  if (a.rows == 0) return;
  auto step = [](auto v) { return v.layout == Layout::row_major ? v.ld : std::int64_t{1}; };
  for (Index j = 0; j < y.cols; ++j) {
    T const* from = x.data + x.offset(0, j);
    Range<T> to{alpha, beta, y.data + y.offset(0, j), step(y), work.row_scale};
    if constexpr (std::is_same_v<S, half>)
      if (work.unit == DaspUnitOf::half_products) {
        column<MmaF16>(on, a, work, from, step(x), to);
        continue;
      }
    if constexpr (std::is_same_v<T, double>) {
      if (work.unit != DaspUnitOf::fma)
        column<MmaF64>(on, a, work, from, step(x), to);
      else
        column<Fma<T>>(on, a, work, from, step(x), to);
    } else if constexpr (std::is_same_v<S, half>) {
      if (work.unit == DaspUnitOf::mma)
        column<MmaTf32>(on, a, work, from, step(x), to);
      else
        column<Fma<T>>(on, a, work, from, step(x), to);
    } else {
      column<Fma<T>>(on, a, work, from, step(x), to);
    }
  }
}

#define TCSOLVE_INSTANTIATE(S, T)                                                             \
  template void spmm_dasp<S, T>(Device&, T, DaspView<S> const&, DaspWork<T> const&, In<T>, T, \
                                Out<T>);
TCSOLVE_INSTANTIATE(double, double)
TCSOLVE_INSTANTIATE(float, double)
TCSOLVE_INSTANTIATE(half, double)
TCSOLVE_INSTANTIATE(float, float)
TCSOLVE_INSTANTIATE(half, float)

}  // namespace tcsolve::cuda
