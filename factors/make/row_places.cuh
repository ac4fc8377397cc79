// SPDX-License-Identifier: Apache-2.0
/// A row of joint factors in shared memory, and where its columns are in it.
///
///     columns of the row     3  7  8  20
///     table                  .  2  .  0  .  .  3  1
///
/// The slot of a column's hash, or the next free one, holds its place in the row.
/// The table has two to four slots for each column.
#pragma once

#include <algorithm>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/shared_memory.hpp>
#include <tcsolve/factors/make/find.cuh>
#include <tcsolve/factors/make/joint_factors.hpp>

namespace tcsolve::cuda {

/// Places of the columns of a row, and room for its numbers. A row that is too long for it is
/// searched in global memory.
class RowPlaces {
 public:
  using Slot = unsigned short;

  /// Of shared memory for a row.
  TCSOLVE_HD static int bytes(int count) {
    int const all = count * static_cast<int>(sizeof(double) + sizeof(Index)) +
                    static_cast<int>(sizeof(Slot)) * (1 << slot_bits(count));
    return (all + 15) / 16 * 16;
  }

  /// `columns` (count), ascending, in device memory; `room`: bytes(count), or null. All lanes of a
  /// warp take part.
  __device__ RowPlaces(char* room, int lane, Index const* columns, int count)
      : in_shared_(room != nullptr),
        count_(count),
        there_(columns),
        numbers_(reinterpret_cast<double*>(room)),
        columns_(reinterpret_cast<Index*>(numbers_ + count)),
        slots_(reinterpret_cast<Slot*>(columns_ + count)) {
    if (!in_shared_) return;
    int const bits = slot_bits(count);
    shift_ = 32 - bits;
    mask_ = (1u << bits) - 1;
    for (int s = lane; s <= static_cast<int>(mask_); s += 32) slots_[s] = free_slot;
    for (int e = lane; e < count; e += 32) columns_[e] = columns[e];
    __syncwarp();
    for (int e = lane; e < count; e += 32) {
      unsigned s = first_slot(columns_[e]);
      while (atomicCAS(slots_ + s, free_slot, static_cast<Slot>(e)) != free_slot)
        s = (s + 1) & mask_;
    }
    __syncwarp();
  }

  __device__ bool in_shared() const { return in_shared_; }
  /// Room for the numbers of the row, in shared memory.
  __device__ double* numbers() const { return numbers_; }
  /// Column e of the row.
  __device__ Index column(int e) const { return in_shared_ ? columns_[e] : there_[e]; }
  /// The place of column j; -1 where the row has none.
  __device__ int of(Index j) const {
    if (!in_shared_) return find(there_, 0, count_, j);
    for (unsigned s = first_slot(j);; s = (s + 1) & mask_) {
      Slot const e = slots_[s];
      if (e == free_slot) return -1;
      if (columns_[e] == j) return e;
    }
  }

 private:
  static constexpr Slot free_slot = 0xffff;
  /// 2^bits slots, two to four for each column.
  TCSOLVE_HD static int slot_bits(int count) {
    int bits = 1;
    while (1 << bits < 2 * count) ++bits;
    return bits;
  }
  __device__ unsigned first_slot(Index j) const {
    return static_cast<unsigned>(j) * 0x9e3779b1u >> shift_;
  }

  bool in_shared_;
  int count_, shift_ = 0;
  unsigned mask_ = 0;
  Index const* there_;
  double* numbers_;
  Index* columns_;
  Slot* slots_;
};

/// Shared memory of a block whose warps take a row each: room for each one's, if it is not longer
/// than most, and for a long one of whichever comes first.
class SharedRows {
 public:
  static constexpr int warps = 4;

  explicit SharedRows(JointArrays const& f)
      : each_(RowPlaces::bytes(f.short_row)),
        long_(f.longest_row > f.short_row
                  ? RowPlaces::bytes(std::min(f.longest_row, JointArrays::most_in_shared))
                  : 0) {}
  /// What a block of the kernel takes; asks for it.
  template <class Kernel>
  std::size_t bytes(Device const& on, Kernel kernel) const {
    auto const bytes = static_cast<std::size_t>(head + warps * each_ + long_);
    allow_shared(on, kernel, bytes);
    return bytes;
  }
  /// Before any row takes memory; the whole block takes part.
  __device__ void open() const {
    if (threadIdx.x == 0) *taken() = 0;
    __syncthreads();
  }
  /// Memory for a row of `count` entries; null where there is not enough. A warp takes part.
  __device__ char* take(int count, int lane) const {
    if (count > JointArrays::most_in_shared) return nullptr;
    int const need = RowPlaces::bytes(count);
    if (need <= each_) return memory() + head + threadIdx.x / 32 * each_;
    if (need > long_) return nullptr;
    int const before = __shfl_sync(0xffffffffu, lane == 0 ? atomicExch(taken(), 1) : 0, 0);
    return before == 0 ? memory() + head + warps * each_ : nullptr;
  }

 private:
  static constexpr int head = 16;
  __device__ static char* memory() {
    extern __shared__ __align__(16) char memory_of_rows[];
    return memory_of_rows;
  }
  /// Whether the room for a long row is taken.
  __device__ static int* taken() { return reinterpret_cast<int*>(memory()); }

  int each_, long_;
};

}  // namespace tcsolve::cuda
