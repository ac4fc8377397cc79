// SPDX-License-Identifier: Apache-2.0
/// The slots of a DASP unit on their way to a warp: slot k = lane % 4 of line r = lane / 4 of each
/// block, the columns beside it, and what is to be multiplied of x. `Sum` is one of line.cuh.
#pragma once

#include <tcsolve/formats/dasp/dasp.hpp>
#include <tcsolve/formats/dasp/line.cuh>
#include <tcsolve/kernels/cuda/warp_sums.cuh>

namespace tcsolve::cuda {

/// x, from a column on.
template <class T, bool adjacent>
struct Domain {
  using Value = T;
  T const* x;
  std::int64_t stride;
  __device__ Domain from(Index base) const {
    return {adjacent ? x + base : x + base * stride, stride};
  }
  __device__ T operator[](Index j) const { return __ldg(adjacent ? x + j : x + j * stride); }
};

/// A vector of ones, of which nothing is read.
template <class T>
struct Ones {
  using Value = T;
  __device__ Ones from(Index) const { return {}; }
  __device__ T operator[](Index) const { return T(1); }
};

/// One lane's slots of two blocks.
template <class S>
struct Slots {
  S a{}, b{};
};

__device__ inline Slots<double> load_two(double const* p) {
  double2 v = __ldcs(reinterpret_cast<double2 const*>(p));
  return {v.x, v.y};
}
__device__ inline Slots<float> load_two(float const* p) {
  float2 v = __ldcs(reinterpret_cast<float2 const*>(p));
  return {v.x, v.y};
}
template <class S>
__device__ S of_bits(unsigned int bits) {
  S s;
  s.bits = static_cast<std::uint16_t>(bits);
  return s;
}
template <class S>
__device__ Slots<S> load_two(S const* p) {  // half, bfloat16
  unsigned int v = __ldcs(reinterpret_cast<unsigned int const*>(p));
  return {of_bits<S>(v & 0xffff), of_bits<S>(v >> 16)};
}
__device__ inline double load_one(double const* p) { return __ldcs(p); }
__device__ inline float load_one(float const* p) { return __ldcs(p); }
template <class S>
__device__ S load_one(S const* p) {
  return of_bits<S>(__ldcs(reinterpret_cast<unsigned short const*>(p)));
}

__device__ inline DaspUnit load_unit(DaspUnit const* p) {
  int4 v = __ldg(reinterpret_cast<int4 const*>(p));
  return {v.x, v.y, v.z, static_cast<std::uint32_t>(v.w)};
}

/// Column numbers of a lane's slots of two blocks, and of one.
template <bool wide>
__device__ int2 two_columns(std::uint16_t const* words, int at) {
  if (wide) return __ldcs(reinterpret_cast<int2 const*>(reinterpret_cast<int const*>(words) + at));
  unsigned int v = __ldcs(reinterpret_cast<unsigned int const*>(words + at));
  return {static_cast<int>(v & 0xffff), static_cast<int>(v >> 16)};
}
template <bool wide>
__device__ int one_column(std::uint16_t const* words, int at) {
  if (wide) return __ldcs(reinterpret_cast<int const*>(words) + at);
  return __ldcs(words + at);
}

/// A stretch of `two` pairs of blocks, then `one` (0 or 1) single block: all slots are asked for,
/// then all entries of x, then they are multiplied. Straight code: a branch or a predicate for each
/// load was measured to cost more than the loads.
template <bool wide, int two, int one, class Sum, class S, class X>
__device__ void stretch(S const* values, std::uint16_t const* words, X const& x, int lane,
                        Sum& sum) {
  constexpr int n = two + one;
  using T = typename X::Value;
  Slots<S> v[n];
  int2 column[n];
#pragma unroll
  for (int u = 0; u < two; ++u) {
    v[u] = load_two(values + u * 64 + 2 * lane);
    column[u] = two_columns<wide>(words, u * 64 + 2 * lane);
  }
  if (one) {
    v[n - 1].a = load_one(values + two * 64 + lane);
    column[n - 1].x = one_column<wide>(words, two * 64 + lane);
  }
  T x0[n], x1[n];
#pragma unroll
  for (int u = 0; u < n; ++u) {
    x0[u] = x[column[u].x];
    if (u < two) x1[u] = x[column[u].y];
  }
#pragma unroll
  for (int u = 0; u < two; ++u) sum.add(v[u].a, x0[u], v[u].b, x1[u]);
  if (one) sum.add(v[n - 1].a, x0[n - 1]);
}

template <bool wide, class Sum, class S, class X>
__device__ void multiply(S const* values, std::uint16_t const* words, int blocks, X const& x,
                         int lane, Sum& sum) {
  constexpr int words_of_slot = wide ? 2 : 1;
  // Two turns side by side take registers that short values leave to more warps.
  constexpr int turns = sizeof(S) == 2 ? 1 : 2;
#pragma unroll turns
  for (; blocks >= 8; blocks -= 8) {
    stretch<wide, 4, 0>(values, words, x, lane, sum);
    values += 256;
    words += 256 * words_of_slot;
  }
  switch (blocks) {
    case 1: return stretch<wide, 0, 1>(values, words, x, lane, sum);
    case 2: return stretch<wide, 1, 0>(values, words, x, lane, sum);
    case 3: return stretch<wide, 1, 1>(values, words, x, lane, sum);
    case 4: return stretch<wide, 2, 0>(values, words, x, lane, sum);
    case 5: return stretch<wide, 2, 1>(values, words, x, lane, sum);
    case 6: return stretch<wide, 3, 0>(values, words, x, lane, sum);
    case 7: return stretch<wide, 3, 1>(values, words, x, lane, sum);
  }
}

/// Blocks [from, from + blocks) of a unit; `from` is even, and the last or before the last pair.
template <class Sum, class S, class X>
__device__ void multiply(DaspView<S> const& a, DaspUnit const& unit, int from, int blocks,
                         X const& x, int lane, Sum& sum) {
  S const* values = a.values + (Offset{unit.blocks} + from) * 32;
  std::uint16_t const* words = a.indices + Offset{unit.indices} * 32;
  if (unit.base < 0)
    multiply<true>(values, words + from * 64, blocks, x, lane, sum);
  else
    multiply<false>(values, words + from * 32, blocks, x.from(unit.base), lane, sum);
}

/// Irregular entries of the rows of a medium unit, four lanes a row. The first of a lane are asked
/// for before the blocks are multiplied.
template <class S>
struct Irregular {
  std::uint32_t at = 0, end = 0;
  S value{};
  int column = 0;
  __device__ Irregular(DaspView<S> const& a, Index m, int lane) {
    Index i = m * 8 + line_of(lane);
    if (i >= a.medium_rows) return;
    at = __ldg(a.irregular_start + i) + lane % 4;
    end = __ldg(a.irregular_start + i + 1);
    if (at < end) load(a);
  }
  __device__ void load(DaspView<S> const& a) {
    value = load_one(a.irregular_values + at);
    column = __ldcs(a.irregular_columns + at);
  }
  template <class Sum, class X>
  __device__ void multiply(DaspView<S> const& a, X const& x, Sum& sum) {
    using T = typename X::Value;
    while (__any_sync(all, at < end)) {
      T x_of = at < end ? x[column] : T(0);
      sum.add(at < end ? value : S(0.0f), x_of);
      at += 4;
      if (at < end) load(a);
    }
  }
};

}  // namespace tcsolve::cuda
