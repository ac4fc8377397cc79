// SPDX-License-Identifier: Apache-2.0
/// DASP: rows by length, their entries in blocks that fit the matrix unit (Lu and Liu 2023,
/// "DASP: Specific Dense Matrix Multiply-Accumulate Units Accelerated General Sparse Matrix-Vector
/// Multiplication", section 3.2). docs/formats/dasp.md draws a 16 x 16 matrix.
///
///     long    more than 256 entries   units of up to 32 blocks, as many as the row needs
///     medium  5 to 256                sorted by decreasing length, stably; 8 rows are a unit
///     short   1 to 4                  pieced to lines of 4: 1 & 3, 2 & 2, 4 (or 3 and a zero)
///     single  what is left of 1       value, column
///     empty   0                       named, so that y is written
///
/// A block is 8 lines of 4 slots, one for each lane of a warp. Drawn with lines of 2 slots, 2 lines
/// a block, a medium unit of rows a (5 entries) and b (4):
///
///     row a  a0 a1 | a2 a3 | a4       block 0       block 1       irregular
///     row b  b0 b1 | b2 b3 |          a0 a1 b0 b1   a2 a3 b2 b3   a4       (a third block would be
///                                                                           filled by 1/4 < 3/4)
///     stored, two blocks interleaved:  a0 a2  a1 a3  b0 b2  b1 b3
///
/// Column numbers lie in the same order, 16-bit distances to the smallest of the unit where that
/// reaches, else 32 bits. Padding holds 0 and the last column of its row, by which it is known
/// again: columns ascend within a row.
///
/// Bytes: slots (sizeof(value) + 2, or + 4) + irregular and single entries (sizeof(value) + 4)
/// + 4 rows + 4 medium rows + 16 units.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// The work of one warp: consecutive blocks of 8 x 4 slots. In a long unit all slots belong to one
/// row; in a medium unit line r of each block belongs to one row; in a short unit each line of each
/// block is a piece.
struct DaspUnit {
  std::int32_t blocks;      ///< blocks before this unit: its values start at slot 32 blocks
  std::int32_t indices;     ///< 64-byte lines of column numbers before it
  std::int32_t base;        ///< what 16-bit distances count from; -1: its columns have 32 bits
  std::uint32_t irregular;  ///< irregular entries before it; of a long unit, the place of its row
};

enum class DaspKind { long_row, medium, four, one_three, two_two };

template <class S>
struct DaspView {
  static constexpr int lines = 8;        ///< lines of a block: M of the FP64 instruction
  static constexpr int slots = 4;        ///< entries of a line: K of the FP64 instruction
  static constexpr int block = 32;       ///< slots of a block, one for each lane
  static constexpr int pieces = 32;      ///< lines of a short unit, four blocks
  static constexpr int index_line = 32;  ///< 16-bit words of a 64-byte line

  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index long_rows = 0, medium_rows = 0;
  Index with[5] = {};  ///< rows of 0, 1, 2, 3 and 4 entries
  Index long_units = 0;
  Offset irregular = 0;               ///< irregular entries of medium rows
  Index const* order = nullptr;       ///< (rows) long, medium by length, 4, 3, 2, 1, 0 entries
  DaspUnit const* units = nullptr;    ///< (units + 1)
  Index const* long_start = nullptr;  ///< (long_rows + 1) first unit of each
  Index const* long_order = nullptr;  ///< (long_units) by their first column, as they are taken
  S const* values = nullptr;          ///< (blocks, 32) in the order of place()
  std::uint16_t const* indices = nullptr;          ///< the same order
  std::uint32_t const* irregular_start = nullptr;  ///< (medium_rows + 1)
  S const* irregular_values = nullptr;             ///< then those of rows with one entry
  std::int32_t const* irregular_columns = nullptr;
  Space space = Space::host;

  // Rows of three are pieced with rows of one; what is left of them becomes pieces of four.
  TCSOLVE_HD Index pairs_13() const { return with[1] < with[3] ? with[1] : with[3]; }
  TCSOLVE_HD Index pairs_22() const { return (with[2] + 1) / 2; }
  TCSOLVE_HD Index fours() const { return with[4] + with[3] - pairs_13(); }
  TCSOLVE_HD Index singles() const { return with[1] - pairs_13(); }

  TCSOLVE_HD Index medium_units() const { return (medium_rows + lines - 1) / lines; }
  TCSOLVE_HD Index four_units() const { return (fours() + pieces - 1) / pieces; }
  TCSOLVE_HD Index units_13() const { return (pairs_13() + pieces - 1) / pieces; }
  TCSOLVE_HD Index units_22() const { return (pairs_22() + pieces - 1) / pieces; }
  TCSOLVE_HD Index short_units() const { return four_units() + units_13() + units_22(); }
  TCSOLVE_HD Index unit_count() const { return long_units + medium_units() + short_units(); }

  TCSOLVE_HD Index first_medium() const { return long_rows; }
  TCSOLVE_HD Index first_four() const { return long_rows + medium_rows; }
  TCSOLVE_HD Index first_three() const { return first_four() + fours(); }  ///< pieced with ones
  TCSOLVE_HD Index first_two() const { return first_four() + with[4] + with[3]; }
  TCSOLVE_HD Index first_one() const { return first_two() + with[2]; }
  TCSOLVE_HD Index first_single() const { return first_one() + pairs_13(); }
  TCSOLVE_HD Index first_empty() const { return first_one() + with[1]; }

  TCSOLVE_HD DaspKind kind(Index unit) const {
    if (unit < long_units) return DaspKind::long_row;
    unit -= long_units;
    if (unit < medium_units()) return DaspKind::medium;
    unit -= medium_units();
    if (unit < four_units()) return DaspKind::four;
    return unit - four_units() < units_13() ? DaspKind::one_three : DaspKind::two_two;
  }

  /// Slots [0, split) of a line belong to row `first`, the others to `second`; -1: there is none.
  struct Line {
    Index first, second;
    int split;
  };
  /// Line l, 0 <= l < 32, of short unit u, counted from the first unit of its kind.
  TCSOLVE_HD Line line(DaspKind kind, Index u, int l) const {
    Index p = u * pieces + l;
    if (kind == DaspKind::four) return {p < fours() ? order[first_four() + p] : -1, -1, 4};
    if (kind == DaspKind::one_three)
      return p < pairs_13() ? Line{order[first_one() + p], order[first_three() + p], 1}
                            : Line{-1, -1, 1};
    Index i = 2 * p;
    return {i < with[2] ? order[first_two() + i] : -1,
            i + 1 < with[2] ? order[first_two() + i + 1] : -1, 2};
  }
  /// Unit u of short kind, counted from the first unit of that kind.
  TCSOLVE_HD Index within_kind(DaspKind kind, Index u) const {
    u -= long_units + medium_units();
    if (kind == DaspKind::four) return u;
    return kind == DaspKind::one_three ? u - four_units() : u - four_units() - units_13();
  }

  /// Where slot `lane` of block b lies in a unit of `count` blocks: two blocks are interleaved, so
  /// that a lane reads its slots of both with one load.
  TCSOLVE_HD static Offset place(Index count, Index b, int lane) {
    return b < count / 2 * 2 ? (Offset{b / 2} * block + lane) * 2 + b % 2
                             : Offset{b} * block + lane;
  }
  TCSOLVE_HD Index column(DaspUnit const& unit, Offset at) const {
    std::uint16_t const* words = indices + Offset{unit.indices} * index_line;
    return unit.base < 0 ? reinterpret_cast<std::int32_t const*>(words)[at] : unit.base + words[at];
  }
};

// ---- conversion ----
//
// Conversion to DASP, and y = alpha A x + beta y with it (Lu and Liu 2023, sections 3.2 and 3.3).
//
//   host    the same arrays, slot by slot, FP64 sums                                (Kokkos)
//   cuda    one kernel for all categories; a warp a unit. Lines are added up by FMA; or, FP64, by
//           mma.m8n8k4: line r of a block in row r of A, its entries of x in column r of B, the
//           result on the diagonal of C; or, FP16 values and FP32 vectors, by TF32 mma.m16n8k8
//           with x split in two; or, x rounded to FP16 too, by m16n8k8
//   bytes   slots (sizeof(S) + 2, or + 4 where columns are far apart) + irregular and single
//           entries (sizeof(S) + 4) + 16 units + 4 rows + k sizeof(T) (cols + rows)
//   error   of STYLE section 11 with u_acc = 2^-53 or 2^-24 (2^-23 on the TF32 unit), m = 2 +
//           entries in the row; `half_products` rounds x: u_in = 2^-11
//   bits    the same on every run: sums have a fixed order; the parts of a long row are added by
//           the last warp to finish, in the order of the row
//   note    padding multiplies the last x that its row refers to by 0: an Inf in x reaches only
//           rows that refer to it

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
  DaspUnitOf unit = DaspUnitOf::automatic;
  int loop_num = 1;
  double blocks_per_unit = 0;  // of medium units, on average
  LoopState* loop = nullptr;   // around a product, or null: in a stopped one nothing happens
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

// ---- storage ----

/// A DASP matrix that owns its arrays in a Context's space.
template <class S>
class Dasp {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws SizeError beyond 2^31 - 1 entries,
  /// ShapeError for a tuning out of range. Cost: one sort of the rows by 9 bits, four scans over
  /// units, two passes over the entries.
  Dasp(Context&, CsrView<S> const& a, DaspTuning const& = {});

  /// The values of a matrix in the Context's space with the same pattern: the entries of each row
  /// in the same columns, which is not looked at (matrix/same_pattern.hpp does). No memory is
  /// taken, nothing is waited for. Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);

  DaspView<S> const& view() const { return arrays_.view; }
  DaspArrays<S> const& arrays() const { return arrays_; }
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  std::size_t bytes() const;
  /// Values stored, padding included.
  Offset stored() const { return arrays_.blocks * view().block + entries_outside(); }
  /// ||A||_inf = max_i (|A| 1)_i by a product, which shares long rows evenly. Memory: a value for
  /// each row and unit of a long row, a ticket for each long row.
  double norm_inf(Context&) const;
  /// Blocks of a medium row-block, on average: what LOOP_NUM goes by.
  double blocks_per_unit() const;

 private:
  Offset entries_outside() const { return view().irregular + view().singles(); }
  DaspArrays<S> arrays_;
};

}  // namespace tcsolve
