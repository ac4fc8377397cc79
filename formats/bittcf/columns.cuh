// SPDX-License-Identifier: Apache-2.0
/// The columns of x and y that a launch takes, and what a lane loads and writes of a row of them:
/// runs of adjacent columns, or any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include <tcsolve/core/types.hpp>

namespace tcsolve::cuda {

namespace {

/// 8 `width_` columns of x and y, row-major and aligned to what a lane loads. A lane has runs of 16
/// bytes, or less where it has no more in all, the first in run g, the next eight runs further: so
/// each load of eight lanes is one run, without gaps.
template <class T, int width_>
struct Adjacent {
  static constexpr int width = width_, columns = 8 * width;
  static constexpr bool exchanged = width * sizeof(T) >= 16;
  T const* x;
  T* y;
  std::uint32_t stepx, stepy;  ///< bytes from row to row
  T alpha, beta;
  /// The columns of lanes g, of row i of x.
  __device__ void row(Index i, int g, T (&v)[width]) const {
    load(reinterpret_cast<std::byte const*>(x + run * g) + far(i, stepx), v);
  }
  __device__ void write(Index i, int g, T const (&sum)[width]) const {
    auto* const to = reinterpret_cast<std::byte*>(y + run * g) + far(i, stepy);
    T v[width];
#pragma unroll
    for (int j = 0; j < width; ++j) v[j] = alpha * sum[j];
    if (beta != T(0)) {
      T before[width];
      load(to, before);
#pragma unroll
      for (int j = 0; j < width; ++j) v[j] += beta * before[j];
    }
    // Written once: x is what should stay in the caches.
    each_run([&](int q) { __stcs(word(to, q), packed(v, q)); });
  }
  /// The same columns of rows that are these columns alone.
  __device__ static void load_own(T const* row, int g, T (&v)[width]) {
    load(reinterpret_cast<std::byte const*>(row + run * g), v);
  }
  __device__ static void store_own(T* row, int g, T const (&v)[width]) {
    auto* const to = reinterpret_cast<std::byte*>(row + run * g);
    each_run([&](int q) { *word(to, q) = packed(v, q); });
  }

 private:
  static constexpr int most = 16 / sizeof(T), run = width < most ? width : most;
  static constexpr int bytes = run * sizeof(T);
  using Word = std::conditional_t<bytes == 16, int4, std::conditional_t<bytes == 8, int2, int>>;
  template <class F>
  __device__ static void each_run(F const& f) {
#pragma unroll
    for (int q = 0; q < width / run; ++q) f(q);
  }
  __device__ static Word* word(std::byte* p, int q) { return reinterpret_cast<Word*>(p) + 8 * q; }
  __device__ static Word const* word(std::byte const* p, int q) {
    return reinterpret_cast<Word const*>(p) + 8 * q;
  }
  __device__ static Word packed(T const (&v)[width], int q) {
    Word w;
    memcpy(&w, v + run * q, sizeof w);
    return w;
  }
  __device__ static void load(std::byte const* from, T (&v)[width]) {
    each_run([&](int q) {
      Word const w = *word(from, q);
      memcpy(v + run * q, &w, sizeof w);
    });
  }
  /// One instruction, which the product of signed numbers is not.
  __device__ static std::uint64_t far(Index i, std::uint32_t step) {
    return std::uint64_t{static_cast<std::uint32_t>(i)} * step;
  }
};

/// Up to 16 columns of any layout.
template <class T>
struct Strided {
  static constexpr int width = 2, columns = 16;
  static constexpr bool exchanged = false;
  T const* x;
  T* y;
  std::int64_t x_row, x_column, y_row, y_column;
  int count;
  T alpha, beta;
  __device__ void row(Index i, int g, T (&v)[width]) const {
#pragma unroll
    for (int e = 0; e < width; ++e) {
      int const j = width * g + e;
      v[e] = j < count ? x[i * x_row + j * x_column] : T(0);
    }
  }
  __device__ void write(Index i, int g, T const (&sum)[width]) const {
#pragma unroll
    for (int e = 0; e < width; ++e) {
      int const j = width * g + e;
      if (j >= count) return;
      T& out = y[i * y_row + j * y_column];
      out = beta == T(0) ? alpha * sum[e] : alpha * sum[e] + beta * out;
    }
  }
};

}  // namespace

}  // namespace tcsolve::cuda
