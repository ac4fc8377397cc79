// SPDX-License-Identifier: Apache-2.0
/// Sliced ELLPACK of dense blocks: BELLPACK of Choi, Singh and Vuduc (2010), in slices as those of
/// SELL-C-sigma of Kreutzer, Hager, Wellein, Fehske and Bishop (2014), C = 32; for matrices with
/// several unknowns a node. Drawn with C = 2 and blocks of 2 x 2:
///
///           cols 0 1   2 3   4 5        slice 0   base 0, 2 steps
///     row 0    [ 5 1 | . . | . 2 ]                step 0            step 1
///     row 1    [ 1 6 | . . | 3 . ]      numbers   0       1         2       0       block column
///              -------------------      values    5       2         .       .       (0, 0) of each
///     row 2    [ . . | 2 . | . . ]                1       .         2       .       (0, 1)
///     row 3    [ . . | 4 7 | . . ]                1       4         3       .       (1, 0)
///                                                 6       7         .       .       (1, 1)
///                                       lane      0       1         0       1       .  padding
///
/// One column number for b b values. Lanes of a warp hold neighbouring block rows, so that each of
/// the b b values of a step is a run of 32. Block rows are sorted by the number of their blocks,
/// most first, within windows of sigma = 1024, where padding without would be more than 3 %;
/// `order` says where they came from. Numbers are counted from the slice's first block column in 16
/// bits, or, where these do not reach, they are the block columns in 32.
///
/// Rows and columns need not be multiples of b: what lies beyond is padding. Padding is the value
/// -0, which adds nothing; a row whose sum is NaN is added anew without padding, so that an Inf in
/// x reaches only rows that refer to it. An entry of -0 is stored as 0.
///
/// Bytes: positions sizeof(value) + 2 (or 4) for each b b of them + 16 a slice (+ 4 a block row
/// where they are sorted).
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/padding.hpp>
#include <tcsolve/kernels/read_only.hpp>
#include <tcsolve/kernels/smoothing_step.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// 32 block rows, stored step by step: the first block of each, then the second, ...
struct BsellSlice {
  std::int32_t first;     ///< steps before it
  std::uint32_t numbers;  ///< column numbers before it, in units of 64 bytes
  std::int32_t steps;     ///< blocks of its longest block row
  std::int32_t base;      ///< 16-bit numbers are counted from it; -1: numbers have 32 bits
};
static_assert(sizeof(BsellSlice) == 16);

template <class S>
struct BsellView {
  static constexpr int C = 32;  ///< block rows of a slice

  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index block = 0;                        ///< b: rows and columns of a block
  Index block_rows = 0;                   ///< rows / b, rounded up
  Index count = 0;                        ///< slices
  Index steps = 0;                        ///< of all slices
  BsellSlice const* slices = nullptr;     // (count)
  std::uint8_t const* numbers = nullptr;  // (steps, 32), 2 or 4 bytes each
  S const* values = nullptr;              // (steps, b, b, 32)
  Index const* order = nullptr;           // (block_rows) the one in each place; null: as they come
  Space space = Space::host;

  /// The block column of a lane in step j of a slice; where the lane has no block, some other's.
  TCSOLVE_HD Index column(BsellSlice const& slice, Index j, int lane) const {
    std::uint8_t const* const here = numbers + Offset{slice.numbers} * 64;
    Offset const at = Offset{j} * C + lane;
    if (slice.base < 0) return read_only(reinterpret_cast<std::int32_t const*>(here) + at);
    return slice.base + read_only(reinterpret_cast<std::uint16_t const*>(here) + at);
  }
};

// ---- conversion ----
//
// Conversion to sliced ELLPACK of dense blocks (formats/bsell/bsell.hpp), and
// y = alpha A x + beta y with it (BELLPACK: Choi, Singh and Vuduc 2010, section 3; slices:
// Kreutzer et al. 2014, section 2).
//
//   host    the same arrays, slice by slice, 32 lanes side by side                 (Kokkos)
//   cuda    a warp a slice, or a few of a thread block where slices are few; a lane a block row;
//           column numbers of the next steps are asked for before these are multiplied
//   bytes   positions sizeof(S) + a column number of 2 or 4 for each b b of them, x and y once
//   error   of STYLE section 11 with u_acc = 2^-53 or 2^-24, m = entries in the row
//   bits    the same on every run: a row in the order of its columns, or, where warps share a
//           slice, in as many sums, added in their order; <x, y> by lane, warp, block, then the
//           blocks in their order

/// The blocks there are: b x b.
constexpr std::array<Index, 4> bsell_blocks{2, 3, 4, 6};

/// f(std::integral_constant<int, b>) for a block of bsell_blocks.
template <class F>
void with_bsell_block(Index block, F const& f) {
  switch (block) {
    case 2: return f(std::integral_constant<int, 2>{});
    case 3: return f(std::integral_constant<int, 3>{});
    case 4: return f(std::integral_constant<int, 4>{});
    case 6: return f(std::integral_constant<int, 6>{});
    default: throw Error("internal: a block that bsell does not have");
  }
}

struct BsellTuning {
  Index block = 0;      ///< one of bsell_blocks; 0: the one that stores the least
  Index window = 1024;  ///< sigma: block rows are sorted within so many, where they are
};

/// What a matrix would take in blocks of b x b; an estimate where it is large (count_blocks).
struct BsellCount {
  Offset blocks = 0;  ///< with an entry
  Offset stored = 0;  ///< with padding, block rows as they come
  Offset wide = 0;    ///< of these, in slices whose block columns span 65536 or more
  bool operator==(BsellCount const&) const = default;
};
using BsellCounts = std::array<BsellCount, 4>;  // of bsell_blocks

/// Block rows are sorted where padding without is more than 3 %.
constexpr bool bsell_sorts(BsellCount const& c) {
  return double(c.stored) > 1.03 * double(c.blocks) + 1024;
}
/// Blocks that are stored, as known before they are sorted: exact where they are not.
constexpr double bsell_stored(BsellCount const& c) {
  if (!bsell_sorts(c)) return double(c.stored);
  return std::min(double(c.stored), 1.02 * double(c.blocks) + 128);
}
/// Bytes of values and column numbers.
constexpr double bsell_bytes(BsellCount const& c, Index block, double size) {
  double const wide = c.stored > 0 ? double(c.wide) / double(c.stored) : 0;
  return bsell_stored(c) * (block * block * size + 2 + 2 * wide);
}
/// Which of bsell_blocks takes the fewest bytes, of those with few enough positions if there are.
constexpr std::size_t bsell_choice(BsellCounts const& counts, Offset entries, double size) {
  auto const fits = [&](std::size_t k) {
    return padding_pays(bsell_stored(counts[k]) * bsell_blocks[k] * bsell_blocks[k], entries);
  };
  auto const bytes = [&](std::size_t k) { return bsell_bytes(counts[k], bsell_blocks[k], size); };
  std::size_t best = 0;
  for (std::size_t k = 1; k < counts.size(); ++k)
    if (fits(k) != fits(best) ? fits(k) : bytes(k) < bytes(best)) best = k;
  return best;
}

/// The arrays of a matrix, in one space.
template <class S>
struct BsellArrays {
  BsellView<S> view;
  Array<BsellSlice> slices;
  Array<std::uint8_t> numbers;
  Array<S> values;
  Array<Index> order;
  double norm = 0;  ///< ||A||_inf, taken as the values came
  // Of no use to products: a refill reads them.
  Array<Index> place;        ///< of each block row
  Array<std::uint8_t> full;  ///< whether all blocks of a block row are
};

/// y = alpha A x + beta y.
template <class S, class T>
struct BsellProduct {
  T alpha;
  BsellView<S> const& a;
  In<T> x;
  T beta;
  Out<T> y;
  LoopState* loop;  ///< around it, or null: in a stopped one nothing happens
};

namespace host {
template <class S>
BsellCounts count_blocks(Host&, Arena&, CsrView<S> const& a);
/// Throws MatrixError where padding_pays() says no.
template <class S>
BsellArrays<S> build_bsell(Host&, Arena&, CsrView<S> const& a, BsellTuning const&);
template <class S>
void refill_bsell(Host&, Arena&, CsrView<S> const& a, BsellArrays<S>&);
template <class S, class T>
void spmm_bsell(Host&, BsellProduct<S, T> const&);
}  // namespace host

namespace cuda {
template <class S>
BsellCounts count_blocks(Device&, Arena&, CsrView<S> const& a);
template <class S>
BsellArrays<S> build_bsell(Device&, Arena&, CsrView<S> const& a, BsellTuning const&);
template <class S>
void refill_bsell(Device&, Arena&, CsrView<S> const& a, BsellArrays<S>&);
template <class S, class T>
void spmm_bsell(Device&, BsellProduct<S, T> const&);
/// y = alpha A x of one column, sigma = <x, y>, in one pass.
template <class S, class T>
void spmv_dot_bsell(Device&, BsellProduct<S, T> const&, double* sigma);
/// One column of adjacent entries, and the step that takes each of its rows.
template <class S, class T>
void spmv_then_bsell(Device&, BsellProduct<S, T> const&, SmoothingStep<T> const&);
}  // namespace cuda

/// Of a matrix in the Context's space; host and device give the same numbers. Those of more than
/// 393216 rows are estimates: every k-th stretch of 384 rows is counted, 512 at most, and the
/// counts are scaled to all entries. Cost: four passes over the pattern that is counted, a merge of
/// the rows of each block row, serial in its thread.
template <class S>
BsellCounts count_blocks(Context& ctx, CsrView<S> const& a) {
  return ctx.visit([&](auto& on) { return count_blocks(on, ctx.arena(), a); });
}

// ---- storage ----

/// A matrix of dense blocks in slices that owns its arrays in a Context's space.
template <class S>
class Bsell {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws MatrixError where blocks have more
  /// than two positions for an entry (a small matrix is taken anyway), ShapeError for a tuning out
  /// of range, SizeError. Cost: the columns three times, the values once, a scan over slices, where
  /// no block is given a walk of every size through rows (of a large matrix through some, see
  /// count_blocks), where block rows are sorted the sort and another scan; a short message to the
  /// host for each of these.
  Bsell(Context&, CsrView<S> const& a, BsellTuning const& = {});

  BsellView<S> const& view() const { return arrays_.view; }
  BsellArrays<S> const& arrays() const { return arrays_; }
  /// The values of a matrix in the Context's space with the same pattern, which is not looked at
  /// (matrix/same_pattern.hpp does). No memory is taken; waits for the norm. Cost: the
  /// values once, and, of block rows with padding, the old ones. Throws ShapeError where extents or
  /// the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);
  /// ||A||_inf, taken as the values came.
  double norm_inf() const { return arrays_.norm; }
  /// Canonical CSR on the host, the matrix that went in (+0 for -0).
  Csr<S> to_csr(Context&) const;
  /// What products read.
  std::size_t bytes() const {
    return arrays_.slices.bytes() + arrays_.numbers.bytes() + arrays_.values.bytes() +
           arrays_.order.bytes();
  }
  /// Positions, padding included.
  Offset stored() const { return static_cast<Offset>(arrays_.values.size()); }

 private:
  BsellArrays<S> arrays_;
};

}  // namespace tcsolve
