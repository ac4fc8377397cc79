// SPDX-License-Identifier: Apache-2.0
/// Words of 32 and 64 bits as sets of small numbers.
#pragma once

#include <cstdint>

#include <tcsolve/core/portable.hpp>

#if !defined(__CUDA_ARCH__)
#include <atomic>
#endif

namespace tcsolve {

TCSOLVE_HD int count_bits(std::uint32_t v) {
#if defined(__CUDA_ARCH__)
  return __popc(v);
#else
  return __builtin_popcount(v);
#endif
}
TCSOLVE_HD int count_bits(std::uint64_t v) {
#if defined(__CUDA_ARCH__)
  return __popcll(v);
#else
  return __builtin_popcountll(v);
#endif
}

/// The least number in a set that is not empty.
TCSOLVE_HD int lowest_bit(std::uint32_t v) {
#if defined(__CUDA_ARCH__)
  return __ffs(static_cast<int>(v)) - 1;
#else
  return __builtin_ctz(v);
#endif
}
TCSOLVE_HD int lowest_bit(std::uint64_t v) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(v)) - 1;
#else
  return __builtin_ctzll(v);
#endif
}

/// *at as it is, or as it was a moment ago, while other threads add to it.
template <class W>
TCSOLVE_HD W glance_bits(W const* at) {
#if defined(__CUDA_ARCH__)
  return *at;
#else
  return std::atomic_ref<W>(const_cast<W&>(*at)).load(std::memory_order_relaxed);
#endif
}

/// *at = v, which may be seen late.
TCSOLVE_HD void put_bits(std::uint64_t* at, std::uint64_t v) {
#if defined(__CUDA_ARCH__)
  *at = v;
#else
  std::atomic_ref<std::uint64_t>(*at).store(v, std::memory_order_relaxed);
#endif
}

/// *at |= v, also where other threads do so at the same time; gives back what was there before.
TCSOLVE_HD std::uint32_t atomic_or(std::uint32_t* at, std::uint32_t v) {
#if defined(__CUDA_ARCH__)
  return atomicOr(at, v);
#else
  return std::atomic_ref<std::uint32_t>(*at).fetch_or(v, std::memory_order_relaxed);
#endif
}
TCSOLVE_HD std::uint64_t atomic_or(std::uint64_t* at, std::uint64_t v) {
#if defined(__CUDA_ARCH__)
  return atomicOr(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(v));
#else
  return std::atomic_ref<std::uint64_t>(*at).fetch_or(v, std::memory_order_relaxed);
#endif
}

}  // namespace tcsolve
