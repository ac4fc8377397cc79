// SPDX-License-Identifier: Apache-2.0
/// 16 bytes of a row of a row-major block as one number, so that what multiplies a column by a
/// matrix multiplies neighbouring columns as it stands: a thread reads an entry once for all of
/// them, and the threads of a row its columns in one run.
///
///     row i of X   [ x0 x1 x2 x3 | x4 x5 x6 x7 ]    FP32, 8 columns: two packs, two threads
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>
#include <tcsolve/kernels/read_only.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve::cuda {

template <class T>
struct alignas(16) Pack {
  static constexpr int columns = 16 / sizeof(T);
  T v[columns];

  Pack() = default;
  template <class N>
  TCSOLVE_HD explicit Pack(N number) {
    each([&](int c) { v[c] = T(number); });
  }
  TCSOLVE_HD Pack& operator+=(Pack const& other) {
    each([&](int c) { v[c] += other.v[c]; });
    return *this;
  }
  TCSOLVE_HD friend Pack operator+(Pack a, Pack const& b) { return a += b; }
  TCSOLVE_HD friend Pack operator*(Pack const& a, Pack const& b) {
    Pack product;
    each([&](int c) { product.v[c] = a.v[c] * b.v[c]; });
    return product;
  }
  /// All columns are equal; of a pack and itself: none is NaN.
  TCSOLVE_HD friend bool operator==(Pack const& a, Pack const& b) {
    bool equal = true;
    each([&](int c) { equal = equal && a.v[c] == b.v[c]; });
    return equal;
  }

 private:
  template <class F>
  TCSOLVE_HD static void each(F const& f) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int c = 0; c < columns; ++c) f(c);
  }
};

/// A block of which a row is whole packs that lie where 16 bytes are loaded at once.
constexpr Index most_packs = 64;  // of a row
template <class T>
bool has_packs(Elements<T> const& v) {
  constexpr Index columns = Pack<std::remove_const_t<T>>::columns;
  return v.cols > 1 && v.col_stride == 1 && v.cols % columns == 0 &&
         v.cols <= columns * most_packs && v.row_stride % columns == 0 &&
         v.row_stride < (std::int64_t{1} << 31) / std::int64_t(sizeof(T)) &&
         reinterpret_cast<std::uintptr_t>(v.data) % 16 == 0;
}
template <class T>
Elements<Pack<T> const> packs_of(Elements<T const> const& v) {
  constexpr Index columns = Pack<T>::columns;
  return MultiView<Pack<T> const>{reinterpret_cast<Pack<T> const*>(v.data),
                                  0,
                                  v.cols / columns,
                                  v.row_stride / columns,
                                  Layout::row_major,
                                  Space::cuda};
}
template <class T>
Elements<Pack<T>> packs_of(Elements<T> const& v) {
  constexpr Index columns = Pack<T>::columns;
  return MultiView<Pack<T>>{reinterpret_cast<Pack<T>*>(v.data),
                            0,
                            v.cols / columns,
                            v.row_stride / columns,
                            Layout::row_major,
                            Space::cuda};
}

/// Pack j of every row of X, read like an array of them. Where row i is takes one instruction,
/// which a product of 64 bits does not.
template <class T>
class PackColumn {
 public:
  __device__ PackColumn(Pack<T> const* X, std::int64_t row_stride, int j)
      : row_(reinterpret_cast<std::byte const*>(X + j)),
        step_(static_cast<std::uint32_t>(row_stride * sizeof(Pack<T>))) {}
  __device__ Pack<T> operator[](std::int64_t i) const { return read_only((*this + i).row()); }
  __device__ PackColumn operator+(std::int64_t i) const {
    PackColumn there = *this;
    there.row_ += std::uint64_t{static_cast<std::uint32_t>(i)} * step_;
    return there;
  }
  __device__ friend Pack<T> read_only(PackColumn const& x) { return tcsolve::read_only(x.row()); }

 private:
  __device__ Pack<T> const* row() const { return reinterpret_cast<Pack<T> const*>(row_); }
  std::byte const* row_;
  std::uint32_t step_;
};

/// Rows of a matrix, dealt to threads a pack each: neighbouring threads have the packs of a row,
/// then the next row. A block takes chunks of neighbouring tiles, so that what rows of a mesh share
/// of X is read by one multiprocessor while it is in its cache, as long as there are chunks for
/// all.
struct PackRows {
  static constexpr int threads = 256, most_tiles = 8;  ///< of a chunk
  std::int64_t rows;
  int packs, tiles;
  unsigned int blocks;
  PackRows(Device const& on, std::int64_t of_matrix, int of_row) : rows(of_matrix), packs(of_row) {
    std::int64_t const all = (rows + height() - 1) / height(),
                       running = std::int64_t{8} * on.properties.multiProcessorCount;
    tiles = static_cast<int>(std::clamp<std::int64_t>(all / running, 1, most_tiles));
    blocks =
        static_cast<unsigned int>(std::clamp<std::int64_t>((all + tiles - 1) / tiles, 1, 1 << 20));
  }
  /// Rows of a tile.
  TCSOLVE_HD int height() const { return threads / packs; }
  /// f(first row of the tile, row, pack) of those of this thread.
  template <class F>
  __device__ void each(F const& f) const {
    int const r = threadIdx.x / packs, j = threadIdx.x % packs, of_tile = height();
    if (r >= of_tile) return;
    std::int64_t const chunk = std::int64_t{of_tile} * tiles;
    for (std::int64_t c = blockIdx.x; c * chunk < rows; c += gridDim.x)
      for (int t = 0; t < tiles; ++t) {
        std::int64_t const first = c * chunk + std::int64_t{t} * of_tile;
        if (first + r < rows) f(first, first + r, j);
      }
  }
};

}  // namespace tcsolve::cuda
