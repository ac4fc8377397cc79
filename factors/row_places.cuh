// SPDX-License-Identifier: Apache-2.0
/// A row of joint factors in a warp's part of shared memory, and where its columns are in it.
///
///     columns of the row     3  7  8  20
///     table                  .  8  .  3  .  .  20  7      a column stands at its hash, or at the
///                                                         next place that is free
///
/// The table holds places in the row, and has two to four slots for each.
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/factors/find.cuh>
#include <tcsolve/factors/joint_factors.hpp>

namespace tcsolve::cuda {

/// Room for a row in each warp's part: for the longest row, or as much as there is.
struct SharedRows {
  static constexpr int warps = 4;
  using Slot = unsigned short;
  int room;  ///< entries

  explicit SharedRows(Index longest_row)
      : room(longest_row <= 512    ? 512
             : longest_row <= 1024 ? 1024
                                   : static_cast<int>(JointArrays::short_row)) {}
  /// Of a block; asks for it.
  template <class Kernel>
  std::size_t bytes(Kernel kernel) const {
    auto const bytes =
        static_cast<int>(warps * room * (sizeof(double) + sizeof(Index) + 2 * sizeof(Slot)));
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    return static_cast<std::size_t>(bytes);
  }
  __device__ double* numbers(int warp) const {
    extern __shared__ double rows_in_shared[];
    return rows_in_shared + warp * room;
  }
  __device__ Index* columns(int warp) const {
    return reinterpret_cast<Index*>(numbers(warps)) + warp * room;
  }
  __device__ Slot* slots(int warp) const {
    return reinterpret_cast<Slot*>(columns(warps)) + 2 * warp * room;
  }
};

/// Places of the columns of a row. A row that has no room is searched where it lies.
class RowPlaces {
 public:
  using Slot = SharedRows::Slot;

  /// `columns` (count), ascending, in device memory; all lanes of a warp take part.
  __device__ RowPlaces(SharedRows const& shared, int warp, int lane, Index const* columns,
                       int count)
      : in_shared_(count <= shared.room),
        count_(count),
        there_(columns),
        columns_(shared.columns(warp)),
        slots_(shared.slots(warp)) {
    if (!in_shared_) return;
    int const bits = 33 - __clz(max(count, 1) - 1);  // 2 count to 4 count slots
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
  __device__ unsigned first_slot(Index j) const {
    return static_cast<unsigned>(j) * 0x9e3779b1u >> shift_;
  }

  bool in_shared_;
  int count_, shift_ = 0;
  unsigned mask_ = 0;
  Index const* there_;
  Index* columns_;
  Slot* slots_;
};

}  // namespace tcsolve::cuda
