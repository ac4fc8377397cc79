// SPDX-License-Identifier: Apache-2.0
/// What a thread block of product.cuh brings to shared memory: a warp's part of A, and rows of X.
///
///   A        numbers of up to `capacity` chunks, then their values
///   X        row r of 16-byte pieces, 16 bytes c at r lanes + (c ^ r % 8): row 0 is zero
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/tiled/ops.hpp>

#include <cstring>
#include <type_traits>

namespace tcsolve::cuda {

namespace {

constexpr int staged_bytes = 4096;  // of A, a warp

/// Elements of 16 bytes.
template <class T>
constexpr int adjacent = 16 / static_cast<int>(sizeof(T));
template <class T>
struct alignas(16) Together {
  T v[adjacent<T>];
};

/// Where a block of columns lies.
template <class T>
struct Strided {
  T* data;
  std::int64_t row, column;  ///< strides
  bool aligned;              ///< rows can be loaded by 16 bytes
};
template <class T>
Strided<T> strided(MultiView<T> const& v, Index j) {
  bool const rows = v.layout == Layout::row_major;
  T* const data = v.data + v.offset(0, j);
  bool const aligned =
      rows && v.ld % adjacent<T> == 0 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  return {data, rows ? v.ld : std::int64_t{1}, rows ? std::int64_t{1} : v.ld, aligned};
}

__device__ inline void copy_to_shared(void* shared, void const* global) {
  auto const to = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
__device__ inline void copies_done() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Four neighbours in shared memory.
template <class E>
struct alignas(sizeof(E) == 2 ? 8 : 16) Four {
  E v[4];
};

/// What a warp has of A in shared memory: up to `capacity` chunks of its slices.
template <bool direct, class S>
struct StagedChunks {
  using Number = std::conditional_t<direct, std::int32_t, std::uint16_t>;
  static constexpr int group = TiledView<S>::group, size = TiledView<S>::chunk;
  static constexpr int bytes = group * static_cast<int>(sizeof(Number) + sizeof(S));
  static constexpr int most = staged_bytes / bytes;
  char* memory;
  int capacity;

  /// Begins to copy chunks [first, first + count).
  __device__ void copy(TiledView<S> const& a, std::uint32_t first, int count, int lane) const {
    constexpr int number_pieces = group * sizeof(Number) / 16,
                  value_pieces = group * sizeof(S) / 16;
    char const* numbers;
    if constexpr (direct)
      numbers = reinterpret_cast<char const*>(a.columns + std::int64_t{first} * group);
    else
      numbers = reinterpret_cast<char const*>(a.local + std::int64_t{first} * group);
    auto const* const values =
        reinterpret_cast<char const*>(a.values + std::int64_t{first} * group);
    for (int i = lane; i < count * number_pieces; i += 32)
      copy_to_shared(memory + 16 * i, numbers + 16 * i);
    char* const to = memory + capacity * number_pieces * 16;
    for (int i = lane; i < count * value_pieces; i += 32)
      copy_to_shared(to + 16 * i, values + 16 * i);
  }
  __device__ Four<Number> numbers(int chunk, int within) const {
    return reinterpret_cast<Four<Number> const*>(memory)[chunk * (group / size) + within];
  }
  __device__ Four<S> values(int chunk, int within) const {
    auto const* const from =
        reinterpret_cast<Four<S> const*>(memory + capacity * group * sizeof(Number));
    return from[chunk * (group / size) + within];
  }
};

/// Where 16 bytes number c of a gathered row stand.
template <int lanes>
__device__ int place(int row, int c) {
  return row * lanes + (lanes == 8 ? c ^ (row & 7) : c ^ (row >> 1 & 3));
}

template <class T>
__device__ Together<T> load_together(T const* from) {
  uint4 const v = __ldg(reinterpret_cast<uint4 const*>(from));
  Together<T> out;
  memcpy(&out, &v, sizeof v);
  return out;
}
/// Up to 16 bytes of a row of X: `valid` elements, zeros behind them.
template <class T>
__device__ Together<T> load_elements(T const* from, int valid) {
  Together<T> out;
#pragma unroll
  for (int e = 0; e < adjacent<T>; ++e) out.v[e] = e < valid ? __ldg(from + e) : T(0);
  return out;
}

/// The rows of X that a stage maps, to shared memory from row 1 on. columns: of this tile.
template <int lanes, class T>
__device__ void gather(std::int32_t const* map, int count, Strided<T const> const& x,
                       std::int64_t first_column, int columns, Together<T>* shared) {
  constexpr int n = adjacent<T>;
  int const lane = threadIdx.x % 32, c = lane % lanes, valid = min(max(columns - c * n, 0), n);
  bool const whole = x.aligned && valid == n;
  int const stride = static_cast<int>(blockDim.x);
  // A warp has 32 rows: one load for their columns, the next ones on their way.
  int base = static_cast<int>(threadIdx.x) - lane;
  int next = base + lane < count ? __ldg(map + base + lane) : 0;
  for (; base < count; base += stride) {
    int const mine = next;
    if (base + stride + lane < count) next = __ldg(map + base + stride + lane);
#pragma unroll
    for (int u = 0; u < lanes; ++u) {
      int const f = u * (32 / lanes) + lane / lanes;
      std::int64_t const row = __shfl_sync(~0u, mine, f);
      if (base + f >= count) continue;
      T const* const from = x.data + row * x.row + first_column + c * n;
      Together<T>* const to = shared + place<lanes>(base + f + 1, c);
      if (whole)
        copy_to_shared(to, from);
      else
        *to = load_elements(from, valid);
    }
  }
}

}  // namespace

}  // namespace tcsolve::cuda
