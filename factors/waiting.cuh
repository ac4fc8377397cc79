// SPDX-License-Identifier: Apache-2.0
/// A number that others wait for is its own flag: `waiting`, a NaN that no arithmetic makes, until
/// it is posted.
#pragma once

namespace tcsolve::cuda {

constexpr unsigned long long waiting = 0x7FF47C501FE00001ull;

__device__ inline unsigned long long peek(double const* p) {
  unsigned long long bits;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(p) : "memory");
  return bits;
}
__device__ inline unsigned peek(unsigned const* p) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

__device__ inline unsigned long long bits_to_post(double value) {
  auto const bits = static_cast<unsigned long long>(__double_as_longlong(value));
  return bits == waiting ? 0x7FF8000000000000ull : bits;
}
__device__ inline void post(double* p, double value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(bits_to_post(value)) : "memory");
}
__device__ inline void reset(double* p) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(waiting) : "memory");
}

}  // namespace tcsolve::cuda
