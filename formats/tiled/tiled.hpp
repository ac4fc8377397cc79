// SPDX-License-Identifier: Apache-2.0
/// Tiled SpMM: rows in panels, a panel's part of X gathered to shared memory in stages, 16-bit
/// numbers of what was gathered instead of columns. Drawn with panels of four rows, stages of at
/// most three rows of X, and chunks of two entries instead of four:
///
///         cols 0 1 2 3 4 5 6        footprint 0 1 3 4 6   two stages: [0 1 3] and [4 6]
///     row 0  [ a . . b . . . ]
///     row 1  [ . c . . d . e ]      stage 0, chunk 0     stage 1, chunk 0
///     row 2  [ f g . h . . . ]        local  values        local  values
///     row 3  [ . . . . i . . ]        1 3    a b           0 0    . .
///                                     2 0    c .           1 2    d e
///     local number: 0 is padding,     1 2    f g           0 0    . .
///     else one more than the place    0 0    . .           1 0    i .
///     in the stage's part of the      chunk 1
///     footprint; row 0 of the         0 0    . .
///     gathered rows is zero           0 0    . .
///                                     3 0    h .
///                                     0 0    . .
///
/// Four lines make a slice, which a warp multiplies side by side: S-ELL, filled up to the longest
/// of these four lines in the stage, and that to whole chunks. A line is a row, or a segment of a
/// long row (model.hpp says when), whose sums are added afterwards in order. Lines may stand in
/// another order than rows; products write each row where it belongs.
///
/// Where few of a panel's entries meet in a column, gathering does not pay: then the whole matrix
/// is `direct`, with columns of 32 bits, and rows of X are read where they lie.
///
/// Bytes: (sizeof(value) + 2, direct + 4) slots + 4 footprint + 8 stages + 4 slices of stages
/// + (4 lines where they are no rows).
///
/// Sources: "Optimizing Tiled Sparse Matrix Multiplication with Performance Modeling on GPUs",
/// where a thread has a row; here eight lanes share one (product.cuh). S-ELL: Mahmoud et al. 2018.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>
#include <tcsolve/formats/tiled/model.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

template <class S>
struct TiledView {
  static constexpr int height = 4;              ///< lines of a slice
  static constexpr int chunk = 4;               ///< entries of a line that lie together
  static constexpr int group = height * chunk;  ///< slots of a slice's chunk

  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index lines = 0, panels = 0, panel_rows = 0;
  Index stages = 0;       ///< of all panels
  Index widest = 0;       ///< most rows of X of a stage
  Index most_chunks = 0;  ///< most chunks of a warp in a stage
  Index parts = 0, long_rows = 0;
  bool direct = false;
  std::uint32_t const* stage_start = nullptr;  ///< (panels + 1) first stage of each
  std::uint32_t const* map_start = nullptr;    ///< (stages + 1) first column of each; null: direct
  std::int32_t const* map = nullptr;           ///< columns of the stages, ascending in a panel
  std::uint32_t const* start = nullptr;        ///< (stages x slices + 1) first chunk of each slice
  std::uint16_t const* local = nullptr;        ///< (16 chunks) null: direct
  std::int32_t const* columns = nullptr;       ///< (16 chunks) -1 is padding; null: not direct
  S const* values = nullptr;                   ///< (16 chunks)
  std::int32_t const* target = nullptr;        ///< (lines) row, ~part of one; null: line i is row i
  std::uint32_t const* long_start = nullptr;   ///< (long_rows + 1) first part of each
  std::int32_t const* long_row = nullptr;
  Space space = Space::host;

  TCSOLVE_HD Index slices() const { return panel_rows / height; }  ///< of a panel
  TCSOLVE_HD Index warp_lines() const { return panel_rows > 128 ? 16 : 8; }
};

struct TiledTuning {
  Index panel_rows = 64;      ///< 8 lines a warp; beyond 128, up to 256, 16
  Index capacity = 880;       ///< rows of X that a stage gathers, at most
  Index least_segment = 32;   ///< a long row is not cut into smaller pieces,
  Index most_segments = 512;  ///< nor into more
  double direct_below = 4;    ///< entries that meet in a gathered row, on average
  bool balance = true;        ///< long rows are cut where the decision chart says so
  bool reorder = true;        ///< rows are sorted by their pattern where that gathers less
  double least_gain = 1.1;    ///< so much less
  int multiprocessors = 0;    ///< that U is meant for; 0: those of the device, on the host 132
};

/// The arrays of a matrix, in one space.
template <class S>
struct TiledArrays {
  TiledView<S> view;  ///< its pointers are those of the arrays below
  TiledModel model;
  Array<std::uint32_t> stage_start, map_start, start, long_start;
  Array<std::int32_t> map, columns, target, long_row;
  Array<std::uint16_t> local;
  Array<S> values;
};

// The conversion (build.hpp), the same pattern with new values, and the product, on each backend.
//
// spmm_tiled: y = alpha A x + beta y, any number of columns in any layout.
//
//   bytes   those of the matrix, where blocks are turned for every 64 columns, k sizeof(T)
//           (rows + cols), and 2 k sizeof(T) parts; on the device
//           2 k sizeof(T) cols more for a column-major x and 2 k sizeof(T) rows for such a y, which
//           are turned in workspace of up to 64 columns
//   cache   from the second level come k sizeof(T) bytes of each row of the footprint (direct: of
//           those that the first level does not hold), and the matrix once for every tile of 128
//           bytes of columns
//   error   of STYLE section 11 with u_acc of T, m = 2 + entries of the row
//   bits    the same on every run: entries of a line in order, parts of a row in order
//   loop    the one around it, or null: in a stopped one nothing happens
namespace host {
/// Throws SizeError beyond 2^31 - 1 entries.
template <class S>
TiledArrays<S> build_tiled(Host&, Arena&, CsrView<S> const& a, TiledTuning const&);
template <class S>
void refill_tiled(Host&, Arena&, CsrView<S> const& a, TiledArrays<S>&);
template <class S, class T>
void spmm_tiled(Host&, Arena&, LoopState*, T alpha, TiledView<S> const& a, In<T> x, T beta,
                Out<T> y);
}  // namespace host
namespace cuda {
template <class S>
TiledArrays<S> build_tiled(Device&, Arena&, CsrView<S> const& a, TiledTuning const&);
template <class S>
void refill_tiled(Device&, Arena&, CsrView<S> const& a, TiledArrays<S>&);
template <class S, class T>
void spmm_tiled(Device&, Arena&, LoopState*, T alpha, TiledView<S> const& a, In<T> x, T beta,
                Out<T> y);
}  // namespace cuda

/// A matrix in panels that owns its arrays in a Context's space.
template <class S>
class Tiled {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws SizeError beyond 2^31 - 1 entries,
  /// ShapeError for a tuning out of range. Cost: two or three sorts of the entries by 32-bit keys,
  /// about 44 bytes of workspace an entry, eight or nine waits for the device.
  Tiled(Context&, CsrView<S> const& a, TiledTuning const& = {});
  /// Values of the same pattern, which is not looked at. No memory is taken, nothing is waited for.
  /// Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);

  TiledView<S> const& view() const { return arrays_.view; }
  TiledArrays<S> const& arrays() const { return arrays_; }
  TiledModel const& model() const { return arrays_.model; }
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  std::size_t bytes() const;
  Offset stored() const { return static_cast<Offset>(arrays_.values.size()); }

 private:
  TiledArrays<S> arrays_;
};

}  // namespace tcsolve
