// SPDX-License-Identifier: Apache-2.0
/// A warp's strips, eight steps at a time:
///
///     ask for   8..15    16..23   24..31 ...
///     multiply  0..7      8..15   16..23 ...
///
///   lane   a line of a slice; at its last step the lane keeps the sum and takes the next slice's,
///          and writes all of a strip together: what the loop has to know is what it multiplies
///   loads  values and column numbers of two steps at once; a base by one lane for all; x of eight
///          steps before any of it is used
#pragma once

#include <cstdint>
#include <type_traits>

#include <tcsolve/core/half.hpp>
#include <tcsolve/formats/csell/csell.hpp>
#include <tcsolve/formats/csell/packet.hpp>
#include <tcsolve/kernels/cuda/warp_sums.cuh>

namespace tcsolve::cuda {

/// What a load brings is used once: it is the first to leave the caches.
template <class P, class E>
__device__ P load_packet(E const* from) {
  using Word = std::conditional_t<
      sizeof(P) == 16, uint4,
      std::conditional_t<sizeof(P) == 8, uint2,
                         std::conditional_t<sizeof(P) == 4, unsigned int, unsigned short>>>;
  Word const word = __ldcs(reinterpret_cast<Word const*>(from));
  return *reinterpret_cast<P const*>(&word);
}

/// *from, or 0. By hand: the compiler has seven predicates, and keeps one for each of the loads
/// that are on their way until it is used.
__device__ inline double load_if(bool wanted, double const* from) {
  double v;
  asm("{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.f64 %0, 0d0000000000000000;"
      " @p ld.global.nc.f64 %0, [%1]; }"
      : "=d"(v)
      : "l"(from), "r"(static_cast<unsigned int>(wanted)));
  return v;
}
__device__ inline float load_if(bool wanted, float const* from) {
  float v;
  asm("{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.f32 %0, 0f00000000;"
      " @p ld.global.nc.f32 %0, [%1]; }"
      : "=f"(v)
      : "l"(from), "r"(static_cast<unsigned int>(wanted)));
  return v;
}

__device__ inline CsellStrip load_strip(CsellStrip const* from) {
  int4 const a = __ldg(reinterpret_cast<int4 const*>(from));
  return {a.x, static_cast<std::uint32_t>(a.y), a.z, a.w};
}

/// What comes for `steps` steps of a lane's line.
template <int steps, class I, class S>
struct CsellSteps {
  Packet<S, 2> values[steps / 2];
  Packet<I, 2> numbers[steps / 2];
  std::int32_t base;  // of step lane % steps

  /// Steps from, from + 1, ..., past the end of the strip what follows it.
  __device__ void ask(CsellView<S> const& a, CsellStrip const& strip, Index from, int lane) {
    constexpr int C = CsellView<S>::C;
    Offset const at = Offset{from} * C + 2 * lane;
    S const* const v = a.values + Offset{strip.first} * C + at;
    I const* const n = reinterpret_cast<I const*>(a.numbers + Offset{strip.numbers} * 64) + at;
    base = __ldcs(a.bases + strip.first + from + lane % steps);
#pragma unroll
    for (int p = 0; p < steps / 2; ++p) numbers[p] = load_packet<Packet<I, 2>>(n + p * 2 * C);
#pragma unroll
    for (int p = 0; p < steps / 2; ++p) values[p] = load_packet<Packet<S, 2>>(v + p * 2 * C);
  }
};

/// sum += values x over `count` of the steps from `from` on, x past them not read; the sums of a
/// slice are kept when it ends.
template <bool adjacent, class S, class T>
struct CsellLane {
  T const* x;
  std::int64_t stride;
  std::int32_t const* ends;  // of the next slice
  Index end;                 // of this one
  T sum = T(0);
  T* kept;

  template <bool whole, int steps, class I>
  __device__ __forceinline__ void multiply(CsellSteps<steps, I, S> const& have, Index from,
                                           Index count) {
    T e[steps];
#pragma unroll
    for (int k = 0; k < steps; ++k) {
      I const number = have.numbers[k / 2].e[k % 2];
      Index const column = __shfl_sync(all, have.base, k) + static_cast<Index>(number);
      bool const wanted = number != csell_padding<I> && (whole || k < count);
      e[k] = load_if(wanted, adjacent ? x + column : x + column * stride);
    }
    if (whole && end - from > steps) {
#pragma unroll
      for (int k = 0; k < steps; ++k) sum += T(have.values[k / 2].e[k % 2]) * e[k];
      return;
    }
#pragma unroll
    for (int k = 0; k < steps; ++k)
      if (whole || k < count) {
        sum += T(have.values[k / 2].e[k % 2]) * e[k];
        if (from + k + 1 == end) {
          *kept = sum, kept += CsellView<S>::C;
          sum = T(0);
          end = __ldg(ends++);
        }
      }
  }
};

/// Keeps the sums of a strip's slices: kept[0], kept[C], ...
template <int steps, bool adjacent, class I, class S, class T>
__device__ void csell_strip(CsellView<S> const& a, CsellStrip const& strip, Index slice, T const* x,
                            std::int64_t stride, int lane, T* kept) {
  CsellSteps<steps, I, S> have, coming;
  have.ask(a, strip, 0, lane);
  CsellLane<adjacent, S, T> to{x, stride, a.ends + slice + 1, __ldg(a.ends + slice), T(0), kept};
  Index from = 0;
#pragma unroll 1
  for (; from + steps < strip.steps; from += steps) {
    coming.ask(a, strip, from + steps, lane);
    to.template multiply<true>(have, from, steps);
    have = coming;
  }
  to.template multiply<false>(have, from, strip.steps - from);
}

/// Strips first, first + step, ...; write(line, sum).
template <int steps, bool adjacent, class S, class T, class Write>
__device__ void csell_strips(CsellView<S> const& a, Index first, Index step, T const* x,
                             std::int64_t stride, T (*sums)[CsellView<S>::C], Write const& write) {
  constexpr int C = CsellView<S>::C;
  int const lane = threadIdx.x % 32;
  if (first >= a.count) return;
  CsellStrip next = load_strip(a.strips + first);
  for (Index t = first;;) {
    CsellStrip const strip = next;
    bool const last = a.count - t <= step;
    if (!last) next = load_strip(a.strips + t + step);
    Index const slice = t * a.depth;
    if (strip.bytes == 1)
      csell_strip<steps, adjacent, std::uint8_t>(a, strip, slice, x, stride, lane, sums[0] + lane);
    else if (strip.bytes == 2)
      csell_strip<steps, adjacent, std::uint16_t>(a, strip, slice, x, stride, lane, sums[0] + lane);
    else
      csell_strip<steps, adjacent, std::int32_t>(a, strip, slice, x, stride, lane, sums[0] + lane);
    for (Index s = 0, line = slice * C + lane; s < a.depth && line < a.lines; ++s, line += C)
      write(line, sums[s][lane]);
    if (last) return;
    t += step;
  }
}

}  // namespace tcsolve::cuda
