// SPDX-License-Identifier: Apache-2.0
/// What the matrix unit makes of a block and eight rows of x: m16n8k8.tf32 for FP32, m8n8k4.f64 for
/// FP64, the operands swapped (Zhao et al. 2025, section 3.4): x^T is the left one, with 16 or 8
/// columns of x as its rows, the block the right one.
///
///     left: x^T             right: block^T          sums
///     rows  columns of x    rows  its columns       rows     columns of x
///     cols  rows of x       cols  its rows          columns  rows of y
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace tcsolve::cuda {

namespace {

/// The matrix unit for vectors of T: the operands that it takes, and its product
/// sum[row][column] += value[k] x[k][column] of `width` columns and both rows of a lane.
template <class T>
struct Unit;

template <>
struct Unit<float> {
  using Value = std::uint32_t;
  static constexpr int widest = 8;  ///< columns of a lane
  static constexpr int ahead(int width) { return width <= 2 ? 4 : width == 4 ? 3 : 2; }

  /// To nearest. Ties go to even where that is one instruction, away from zero where it is three
  /// either way.
  __device__ static std::uint32_t rounded(float v) {
    std::uint32_t bits;
#if __CUDA_ARCH__ >= 900
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
#else
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
#endif
    return bits;
  }
  template <class S>
  __device__ static Value value(S v) {
    if constexpr (sizeof(S) == 2)
      return __float_as_uint(float(v));  // a TF32 number as it is
    else
      return rounded(v);
  }
  template <int width>
  __device__ static void multiply(float (&sum)[2][width], Value const (&v)[2],
                                  float const (&x)[2][width]) {
    if constexpr (width == 1) {
      float unused[2] = {};
      mma(sum[0][0], sum[1][0], unused[0], unused[1], rounded(x[0][0]), 0, rounded(x[1][0]), 0, v);
    } else {
#pragma unroll
      for (int j = 0; j < width; j += 2)
        mma(sum[0][j], sum[1][j], sum[0][j + 1], sum[1][j + 1], rounded(x[0][j]),
            rounded(x[0][j + 1]), rounded(x[1][j]), rounded(x[1][j + 1]), v);
    }
  }

 private:
  /// Sums of rows g and g + 8 of the left operand with columns 2 t and 2 t + 1 of the right one.
  __device__ static void mma(float& c0, float& c1, float& c2, float& c3, std::uint32_t a0,
                             std::uint32_t a1, std::uint32_t a2, std::uint32_t a3,
                             Value const (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%0,%1,%2,%3};"
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b[0]), "r"(b[1]));
  }
};

template <>
struct Unit<double> {
  using Value = double;
  static constexpr int widest = 4;
  static constexpr int ahead(int width) { return width == 1 ? 4 : width == 2 ? 2 : 1; }

  template <class S>
  __device__ static Value value(S v) {
    return double(v);
  }
  template <int width>
  __device__ static void multiply(double (&sum)[2][width], Value const (&v)[2],
                                  double const (&x)[2][width]) {
#pragma unroll
    for (int k = 0; k < 2; ++k)
#pragma unroll
      for (int j = 0; j < width; ++j)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
                     : "+d"(sum[0][j]), "+d"(sum[1][j])
                     : "d"(x[k][j]), "d"(v[k]));
  }
};

}  // namespace

}  // namespace tcsolve::cuda
