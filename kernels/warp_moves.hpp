// SPDX-License-Identifier: Apache-2.0
/// What lanes of a warp (kernels/convert.hpp) tell each other, beside its least, sum and rank;
/// written for all lanes at once:
///
///     mask_of(warp, v)           bit l: v[l] is not 0
///     sums_before(warp, v)       v[l] = v[0] + ... + v[l-1]; returns the sum of all
///     taken_from(warp, v, lane)  w[l] = v[lane[l]]
///     owners(warp, v, first)     w[l] = the last lane o with v[o] <= first + l; v ascends from 0
///
/// On a device ballots and shuffles, on the host loops over 32 lanes.
#pragma once

#include <cstdint>

#include <tcsolve/core/portable.hpp>

#if defined(__CUDA_ARCH__)
/// Before a loop whose counter selects registers.
#define TCSOLVE_UNROLL _Pragma("unroll")
#else
#define TCSOLVE_UNROLL
#endif

namespace tcsolve {

template <class Warp>
TCSOLVE_HD std::uint32_t mask_of(Warp const&, typename Warp::template Of<std::uint32_t> const& v) {
#if defined(__CUDA_ARCH__)
  return __ballot_sync(0xffffffffu, v.mine != 0);
#else
  std::uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) bits |= std::uint32_t{v[l] != 0} << l;
  return bits;
#endif
}

template <class Warp>
TCSOLVE_HD std::uint32_t sums_before(Warp const&, typename Warp::template Of<std::uint32_t>& v) {
#if defined(__CUDA_ARCH__)
  std::uint32_t upto = v.mine;
  TCSOLVE_UNROLL
  for (unsigned d = 1; d < 32; d *= 2) {
    std::uint32_t const other = __shfl_up_sync(0xffffffffu, upto, d);
    if (threadIdx.x % 32 >= d) upto += other;
  }
  v.mine = upto - v.mine;
  return __shfl_sync(0xffffffffu, upto, 31);
#else
  std::uint32_t sum = 0;
  for (int l = 0; l < 32; ++l) {
    std::uint32_t const here = v[l];
    v[l] = sum;
    sum += here;
  }
  return sum;
#endif
}

/// Values is Warp::Of<T> of a T with 32 or 64 bits.
template <class Warp, class Values>
TCSOLVE_HD Values taken_from(Warp const&, Values const& v,
                             typename Warp::template Of<std::uint32_t> const& lane) {
#if defined(__CUDA_ARCH__)
  return {__shfl_sync(0xffffffffu, v.mine, static_cast<int>(lane.mine))};
#else
  Values w;
  for (int l = 0; l < 32; ++l) w[l] = v[lane[l]];
  return w;
#endif
}

template <class Warp>
TCSOLVE_HD typename Warp::template Of<std::uint32_t> owners(
    Warp const&, typename Warp::template Of<std::uint32_t> const& v, std::uint32_t first) {
  typename Warp::template Of<std::uint32_t> w;
#if defined(__CUDA_ARCH__)
  std::uint32_t const wanted = first + threadIdx.x % 32;
  w.mine = 0;
  TCSOLVE_UNROLL
  for (std::uint32_t step = 16; step > 0; step /= 2)
    if (__shfl_sync(0xffffffffu, v.mine, static_cast<int>(w.mine + step)) <= wanted) w.mine += step;
#else
  std::uint32_t owner = 0;
  for (std::uint32_t l = 0; l < 32; ++l) {
    while (owner + 1 < 32 && v[owner + 1] <= first + l) ++owner;
    w[l] = owner;
  }
#endif
  return w;
}

}  // namespace tcsolve
