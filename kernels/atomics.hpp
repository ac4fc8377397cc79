// SPDX-License-Identifier: Apache-2.0
/// What several threads may do to one word at a time, on either side. The atomic ones give back
/// what was there before; the order among threads is open, so callers use them where the outcome
/// does not depend on it.
#pragma once

#include <cmath>
#include <cstdint>

#include <tcsolve/core/portable.hpp>

#if !defined(__CUDA_ARCH__)
#include <atomic>
#include <bit>
#endif

namespace tcsolve {

/// *at as it is, or as it was a moment ago: on the device the first cache may be behind.
TCSOLVE_HD std::int32_t glance(std::int32_t const* at) {
#if defined(__CUDA_ARCH__)
  return *at;
#else
  return std::atomic_ref<std::int32_t>(const_cast<std::int32_t&>(*at))
      .load(std::memory_order_relaxed);
#endif
}

/// *at = v, which may be seen late.
TCSOLVE_HD void put(std::int32_t* at, std::int32_t v) {
#if defined(__CUDA_ARCH__)
  *at = v;
#else
  std::atomic_ref<std::int32_t>(*at).store(v, std::memory_order_relaxed);
#endif
}

/// *at += v
TCSOLVE_HD std::int32_t atomic_add(std::int32_t* at, std::int32_t v) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(at, v);
#else
  return std::atomic_ref<std::int32_t>(*at).fetch_add(v, std::memory_order_relaxed);
#endif
}

/// *at = v
TCSOLVE_HD std::int32_t atomic_exchange(std::int32_t* at, std::int32_t v) {
#if defined(__CUDA_ARCH__)
  return atomicExch(at, v);
#else
  return std::atomic_ref<std::int32_t>(*at).exchange(v, std::memory_order_relaxed);
#endif
}

/// *at = v where it is `expected`
TCSOLVE_HD std::int32_t atomic_replace(std::int32_t* at, std::int32_t expected, std::int32_t v) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(at, expected, v);
#else
  std::atomic_ref<std::int32_t>(*at).compare_exchange_strong(expected, v,
                                                             std::memory_order_relaxed);
  return expected;
#endif
}

/// *at = min(*at, v). Most of many that come to one word find it low enough already.
TCSOLVE_HD void lower_to(std::int32_t* at, std::int32_t v) {
  if (glance(at) <= v) return;
#if defined(__CUDA_ARCH__)
  atomicMin(at, v);
#else
  for (std::int32_t seen = glance(at); seen > v && atomic_replace(at, seen, v) != seen;)
    seen = glance(at);
#endif
}

/// *at = max(*at, v)
TCSOLVE_HD void raise_to(std::int32_t* at, std::int32_t v) {
  if (glance(at) >= v) return;
#if defined(__CUDA_ARCH__)
  atomicMax(at, v);
#else
  for (std::int32_t seen = glance(at); seen < v && atomic_replace(at, seen, v) != seen;)
    seen = glance(at);
#endif
}

/// The same of 64 bits.
TCSOLVE_HD std::int64_t glance(std::int64_t const* at) {
#if defined(__CUDA_ARCH__)
  return *at;
#else
  return std::atomic_ref<std::int64_t>(const_cast<std::int64_t&>(*at))
      .load(std::memory_order_relaxed);
#endif
}
TCSOLVE_HD void atomic_add(std::int64_t* at, std::int64_t v) {
#if defined(__CUDA_ARCH__)
  atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(v));
#else
  std::atomic_ref<std::int64_t>(*at).fetch_add(v, std::memory_order_relaxed);
#endif
}
TCSOLVE_HD void lower_to(std::int64_t* at, std::int64_t v) {
  if (glance(at) <= v) return;
#if defined(__CUDA_ARCH__)
  atomicMin(reinterpret_cast<long long*>(at), static_cast<long long>(v));
#else
  std::atomic_ref<std::int64_t> const there(*at);
  for (std::int64_t seen = glance(at); seen > v;)
    if (there.compare_exchange_weak(seen, v, std::memory_order_relaxed)) return;
#endif
}
TCSOLVE_HD void raise_to(std::int64_t* at, std::int64_t v) {
  if (glance(at) >= v) return;
#if defined(__CUDA_ARCH__)
  atomicMax(reinterpret_cast<long long*>(at), static_cast<long long>(v));
#else
  std::atomic_ref<std::int64_t> const there(*at);
  for (std::int64_t seen = glance(at); seen < v;)
    if (there.compare_exchange_weak(seen, v, std::memory_order_relaxed)) return;
#endif
}

/// *at = max(*at, v), neither of them negative; a NaN is larger than any number. Bits of such
/// doubles are ordered as they are.
TCSOLVE_HD void raise_to(double* at, double v) {
#if defined(__CUDA_ARCH__)
  auto* const word = reinterpret_cast<unsigned long long*>(at);
  auto const bits = static_cast<unsigned long long>(__double_as_longlong(fabs(v)));
  if (*word < bits) atomicMax(word, bits);
#else
  auto const bits = [](double of) { return std::bit_cast<std::uint64_t>(of); };
  double const size = std::fabs(v);
  std::atomic_ref<double> const there(*at);
  for (double seen = there.load(std::memory_order_relaxed); bits(seen) < bits(size);)
    if (there.compare_exchange_weak(seen, size, std::memory_order_relaxed)) return;
#endif
}

}  // namespace tcsolve
