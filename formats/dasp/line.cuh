// SPDX-License-Identifier: Apache-2.0
/// Ways to add up the lines of 8 x 4 blocks in a warp: lane 4 r + k holds slot k of line r. After
/// any number of add(), sum() is the sum of line r in the lane 4 r + r / 2, its writer; every lane
/// of the warp calls both. Operand layouts: PTX ISA, "Matrix Fragments for mma".
///
///   MmaF64   m8n8k4: line r is row r of A, its x are column r of B; C's diagonal has the sums, and
///            lane 4 r + c / 2 holds C(r, c) in register c % 2
///   MmaTf32  m16n8k8, values that TF32 holds exactly (FP16): A = [a a], B = [high; low] with
///            x = high + low to 2^-22
///   MmaF16   m16n8k8, two blocks at once, x rounded to FP16
///   Fma      a sum in each lane and two shuffles
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include <tcsolve/core/half.hpp>

namespace tcsolve::cuda {

__device__ inline int line_of(int lane) { return lane >> 2; }
__device__ inline bool writes_line(int lane) { return (lane & 3) == (lane >> 3); }

struct MmaF64 {
  double c[2] = {0, 0};
  __device__ void add(double a, double x) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(x));
  }
  template <class S>
  __device__ void add(S a0, double x0, S a1, double x1) {
    add(double(a0), x0);
    add(double(a1), x1);
  }
  template <class S>
  __device__ void add(S a, double x) {
    add(double(a), x);
  }
  __device__ double sum(int lane) const { return line_of(lane) & 1 ? c[1] : c[0]; }
};

struct MmaTf32 {
  float c[4] = {0, 0, 0, 0};
  template <class S>
  __device__ void add(S value, float x) {
    std::uint32_t a = __float_as_uint(float(value)), high = __float_as_uint(x) & 0xffffe000u,
                  low = __float_as_uint(x - __uint_as_float(high));
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3},{%4,%5,%4,%5},{%6,%7},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a), "r"(0u), "r"(high), "r"(low));
  }
  template <class S>
  __device__ void add(S a0, float x0, S a1, float x1) {
    add(a0, x0);
    add(a1, x1);
  }
  __device__ float sum(int lane) const { return line_of(lane) & 1 ? c[1] : c[0]; }
};

struct MmaF16 {
  float c[4] = {0, 0, 0, 0};
  template <class T>
  __device__ void add(half a0, T x0, half a1, T x1) {
    std::uint32_t a = a0.bits | std::uint32_t{a1.bits} << 16,
                  b = half(x0).bits | std::uint32_t{half(x1).bits} << 16;
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a), "r"(0u), "r"(b));
  }
  template <class T>
  __device__ void add(half a, T x) {
    add(a, x, half{}, T(0));
  }
  __device__ float sum(int lane) const { return line_of(lane) & 1 ? c[1] : c[0]; }
};

template <class T>
struct Fma {
  T total = 0;
  template <class S>
  __device__ void add(S a, T x) {
    total = fma(T(a), x, total);
  }
  template <class S>
  __device__ void add(S a0, T x0, S a1, T x1) {
    add(a0, x0);
    add(a1, x1);
  }
  __device__ T sum(int) const {
    T pair = total + __shfl_xor_sync(0xffffffffu, total, 1);
    return pair + __shfl_xor_sync(0xffffffffu, pair, 2);
  }
};

/// |a| x.
template <class T>
struct AbsoluteFma : Fma<T> {
  template <class S>
  __device__ void add(S a, T x) {
    Fma<T>::add(T(fabs(double(a))), x);
  }
  template <class S>
  __device__ void add(S a0, T x0, S a1, T x1) {
    add(a0, x0);
    add(a1, x1);
  }
};

}  // namespace tcsolve::cuda
