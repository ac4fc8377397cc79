// SPDX-License-Identifier: Apache-2.0
/// SELL-C-sigma of Kreutzer, Hager, Wellein, Fehske and Bishop (2014), C = 32, with column numbers
/// as small differences along the steps. Drawn with C = 4 and differences of at most 3 instead of
/// 254, a 5-point stencil on a grid of 3 columns:
///
///              columns        step 0 1 2 3 4     stored: column - base
///     row 4    1 3 4 5 7      base 1 3 4 5 7     0 0 0 0 0
///     row 5    2 4 5 8                           1 1 1 3 -    - padding
///     row 6    3 6 7 9                           2 3 3 - 2    - padding: 9 is too far from 5
///     row 7    4 6 7 8 10                        3 3 3 3 3
///
/// A step takes from each line its next entry, if that lies within 254 columns of the least one;
/// else the line has padding there and waits for its neighbours. Rows that are alike, as those
/// of meshes and stencils, stay side by side so, and one base for each step and a byte for each
/// entry say where. Where that takes too many steps, column numbers have two bytes and reach
/// 65534, or they are the columns themselves.
///
/// A strip is a few slices that one warp multiplies, their steps end to end; their column numbers
/// are equally long. Two steps lie side by side for each lane, so that it reads them with one load:
///
///     strip    | slice 0: 5 steps            | slice 1: 6 steps                  |
///     pairs    | 0 1 | 2 3 | 4             5 | 6 7 | 8 9 | 10 - |   ends 5, 11
///     lane 0   | v v | v v | v    of slice 1: v | ...
///
/// Rows longer than max_length are cut into pieces, lines of their own, whose sums are added
/// afterwards: 256, or, so that small matrices have work for a whole device, less, down to 32.
/// Where padding would take more than 3 %, lines are sorted by length within windows of sigma =
/// 4096, and `order` holds the rows of y. What padding reads of x is not added
/// to a sum, so that an Inf in x reaches only rows that refer to it.
///
/// Bytes: positions (sizeof(value) + 1, 2 or 4) + 4 for each 32 positions + 16 a strip + 4 a slice
/// (+ 4 a line where there is an order).
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>
#include <tcsolve/kernels/smoothing_step.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// A few slices of 32 lines, stored step by step, one slice after another: what one warp takes.
struct CsellStrip {
  std::int32_t first;     ///< steps before it
  std::uint32_t numbers;  ///< column numbers before it, in units of 64 bytes
  std::int32_t steps;     ///< of all its slices, made even
  std::int32_t bytes;     ///< of a column number, counted from the base of its step: 1, 2 or 4
};

/// The column number of type I of a line without an entry in a step.
template <class I>
constexpr I csell_padding = static_cast<I>(-1);

template <class S>
struct CsellView {
  static constexpr int C = 32;      ///< lines of a slice
  static constexpr int slack = 16;  ///< steps after the last strip that may be read

  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index lines = 0;                      ///< rows, or pieces of long rows
  Index parts = 0;                      ///< pieces of long rows
  Index long_rows = 0;                  ///< rows in more than one piece
  Index count = 0;                      ///< strips
  Index depth = 1;                      ///< slices of a strip; the last may have fewer
  CsellStrip const* strips = nullptr;   // (count)
  std::int32_t const* ends = nullptr;   // (slices) the step of its strip after its last
  std::int32_t const* bases = nullptr;  // (steps)
  std::uint8_t const* numbers = nullptr;
  S const* values = nullptr;            // (steps, 32), placed
  std::int32_t const* order = nullptr;  // (lines) its row, or ~part; null: line i is row i
  Index const* long_row = nullptr;      // (long_rows)
  Index const* long_start = nullptr;    // (long_rows + 1) first part of each
  Space space = Space::host;

  /// The position of step j of lane l within a strip: a lane has two steps side by side and reads
  /// them with one load.
  TCSOLVE_HD static Offset place(Index j, int lane) {
    return (Offset{j / 2} * C + lane) * 2 + j % 2;
  }
};

// ---- conversion ----
//
// Conversion to SELL-32-sigma with compressed columns (formats/csell/csell.hpp), and
// y = alpha A x + beta y with it (Kreutzer et al. 2014, section 2).
//
//   host    the same arrays, strip by strip, a line's sum in T                     (Kokkos)
//   cuda    a warp a strip, a lane a line; while eight steps are multiplied, the next eight are on
//           their way
//   bytes   positions (sizeof(S) + 1, 2 or 4) + 1/8 a position for bases, x and y once
//   error   of STYLE section 11 with u_acc = 2^-53 or 2^-24, m = entries in the row
//   bits    the same on every run: a line in the order of the row; the pieces of a long row in
//           their order, or, where they are many, by a warp; <x, y> by lane, warp, block, then
//           the blocks in their order

struct CsellTuning {
  static constexpr Index deepest = 8;
  Index max_length = 0;   ///< longer rows are cut into pieces; 0: 256, less for small matrices
  Index window = 4096;    ///< sigma: lines are sorted within so many, where they are
  double padding = 0.03;  ///< they are sorted where padding without is more than this
  Index strip = 0;        ///< slices of a strip; 0: by the matrix
};

/// The arrays of a matrix, in one space.
template <class S>
struct CsellArrays {
  CsellView<S> view;
  Index most = 0;  ///< entries of a line
  Array<CsellStrip> strips;
  Array<std::int32_t> ends, bases, order;
  Array<std::uint8_t> numbers;
  Array<S> values;
  Array<Index> long_row, long_start;
  // Of no use to products; a refill with new values reads them.
  Array<Index> first, row;  ///< lines of each row, row of each line; empty: no long rows
  Array<Index> at;          ///< line in each place; empty: not sorted
};

/// y = alpha A x + beta y. `parts` (a.parts, or null where there are none) is scratch: one product
/// of an operator runs at a time.
template <class S, class T>
struct CsellProduct {
  T alpha;
  CsellView<S> const& a;
  In<T> x;
  T beta;
  Out<T> y;
  T* parts;
  LoopState* loop;  ///< around it, or null: in a stopped one nothing happens
};

namespace host {
/// Throws SizeError beyond 2^31 - 1 lines or steps.
template <class S>
CsellArrays<S> build_csell(Host&, Arena&, CsrView<S> const& a, CsellTuning const&);
template <class S>
void refill_csell(Host&, Arena&, CsrView<S> const& a, CsellArrays<S>&);
template <class S, class T>
void spmm_csell(Host&, CsellProduct<S, T> const&);
}  // namespace host

namespace cuda {
template <class S>
CsellArrays<S> build_csell(Device&, Arena&, CsrView<S> const& a, CsellTuning const&);
template <class S>
void refill_csell(Device&, Arena&, CsrView<S> const& a, CsellArrays<S>&);
template <class S, class T>
void spmm_csell(Device&, CsellProduct<S, T> const&);
/// y = alpha A x of one column without parts, sigma = <x, y>, in one pass.
template <class S, class T>
void spmv_dot_csell(Device&, CsellProduct<S, T> const&, double* sigma);
/// One column of adjacent entries, and the step that takes each of its rows.
template <class S, class T>
void spmv_then_csell(Device&, CsellProduct<S, T> const&, SmoothingStep<T> const&);
}  // namespace cuda

// ---- storage ----

/// A compressed SELL-C-sigma matrix that owns its arrays in a Context's space.
template <class S>
class Csell {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws SizeError, ShapeError for a tuning
  /// out of range. Cost: the columns twice, or three times where those of a slice are far
  /// apart, the values once, scans over rows and strips, a sort where lines are sorted, counts to
  /// the host.
  Csell(Context&, CsrView<S> const& a, CsellTuning const& = {});

  CsellView<S> const& view() const { return arrays_.view; }
  CsellArrays<S> const& arrays() const { return arrays_; }
  /// The values of a matrix in the Context's space with the same pattern: the entries of each row
  /// in the same columns, which is not looked at (matrix/same_pattern.hpp does). No memory is
  /// taken, nothing is waited for. Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  /// What products read.
  std::size_t bytes() const;
  /// Positions, padding included.
  Offset stored() const {
    using View = CsellView<S>;
    return static_cast<Offset>(arrays_.values.size()) - Offset{View::slack} * View::C;
  }

 private:
  CsellArrays<S> arrays_;
};

}  // namespace tcsolve
