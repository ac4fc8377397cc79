// SPDX-License-Identifier: Apache-2.0
/// Conversion to DASP, and y = alpha A x + beta y with it (Lu and Liu 2023, sections 3.2 and 3.3).
///
///   host    the same arrays, slot by slot, FP64 sums                                (Kokkos)
///   cuda    one kernel for all categories; a warp a unit. Lines are added up by FMA; or, FP64, by
///           mma.m8n8k4: line r of a block in row r of A, its entries of x in column r of B, the
///           result on the diagonal of C; or, FP16 values and FP32 vectors, by TF32 mma.m16n8k8
///           with x split in two; or, x rounded to FP16 too, by m16n8k8
///   bytes   slots (sizeof(S) + 2, or + 4 where columns are far apart) + irregular and single
///           entries (sizeof(S) + 4) + 16 units + 4 rows + k sizeof(T) (cols + rows)
///   error   of STYLE section 11 with u_acc = 2^-53 or 2^-24 (2^-23 on the TF32 unit), m = 2 +
///           entries in the row; `half_products` rounds x: u_in = 2^-11
///   bits    the same on every run: sums have a fixed order; the parts of a long row are added by
///           whoever finishes last, in the order of the row
///   note    padding multiplies the last x that its row refers to by 0: an Inf in x reaches only
///           rows that refer to it
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/views/csr.hpp>
#include <tcsolve/kernels/views/dasp.hpp>

namespace tcsolve {

/// What the paper fixes by measurement on its devices; ours were measured on an H200 (bench/spmv,
/// docs/formats/dasp.md).
struct DaspTuning {
  Index max_length = 256;   ///< MAX_LEN: longer rows are shared by several warps
  double threshold = 0.25;  ///< a block is stored when this part of it or more is filled
  Index long_blocks = 64;   ///< blocks of a long row that one warp takes; even
  int loop_num = 0;         ///< LOOP_NUM, row-blocks of a warp: 1, 2 or 4; 0: by the matrix
};

/// The arrays of a DASP matrix, in one space.
template <class S>
struct DaspArrays {
  DaspView<S> view;  ///< extents and counts; its pointers are those of the arrays below
  Array<Index> order, long_start, long_order;
  Array<DaspUnit> units;
  Array<S> values, irregular_values;
  Array<std::uint16_t> indices;
  Array<std::uint32_t> irregular_start;
  Array<std::int32_t> irregular_columns;
  Offset blocks = 0;
  Index medium_blocks = 0;
  Index long_slots = 0;  ///< of a long unit
};

/// How T-vectors are multiplied. `automatic` is mma for FP64 where LOOP_NUM is 1 and rows are not
/// few, else fma: what was measured faster (docs/formats/dasp.md);
/// half_products rounds x to FP16 and takes the matrix unit, of FP16 values alone; absolute is |A|
/// times ones, for norms, and reads no x.
enum class DaspUnitOf { automatic, fma, mma, half_products, absolute };

/// What a product writes besides y: the parts of long rows, and a ticket for each of them that is 0
/// between products. One product of an operator runs at a time.
template <class T>
struct DaspWork {
  T* parts = nullptr;               // (long_units)
  unsigned int* tickets = nullptr;  // (long_rows)
  T const* row_scale = nullptr;     // (rows), or null: row i of the result is multiplied by it
  DaspUnitOf unit = DaspUnitOf::automatic;
  int loop_num = 1;
  double blocks_per_unit = 0;  // of medium units, on average
};

namespace host {
/// Throws SizeError beyond 2^31 - 1 blocks or 2^32 - 1 irregular entries.
template <class S>
DaspArrays<S> build_dasp(Host&, Arena&, CsrView<S> const& a, DaspTuning const&);
/// The values of a, which has the pattern that the arrays were built from.
template <class S>
void refill_dasp(Host&, Arena&, CsrView<S> const& a, DaspArrays<S>&);
template <class S, class T>
void spmm_dasp(Host&, T alpha, DaspView<S> const& a, DaspWork<T> const&, In<T> x, T beta, Out<T> y);
}  // namespace host

namespace cuda {
template <class S>
DaspArrays<S> build_dasp(Device&, Arena&, CsrView<S> const& a, DaspTuning const&);
template <class S>
void refill_dasp(Device&, Arena&, CsrView<S> const& a, DaspArrays<S>&);
template <class S, class T>
void spmm_dasp(Device&, T alpha, DaspView<S> const& a, DaspWork<T> const&, In<T> x, T beta,
               Out<T> y);
}  // namespace cuda

}  // namespace tcsolve
