// SPDX-License-Identifier: Apache-2.0
/// Sliced ELLPACK with 16-bit column numbers: SELL-C-sigma of Kreutzer, Hager, Wellein, Fehske and
/// Bishop (2014) with C = 32, sigma = 1. Drawn with C = 2:
///
///            cols 0 1 2 3
///     row 0  [ 5 . . 2 ]    slice 0  base 0  width 2    step 0   step 1     lengths 2 1
///     row 1  [ . 7 . . ]                       values   5  7     2  0       0: padding
///     row 2  [ 1 . 4 . ]                       deltas   0  1     3  0       column - base
///     row 3  [ . . . 9 ]    slice 1  base 0  width 2    1  9     4  0  ...
///
/// Lanes of a warp hold neighbouring rows, so every load of values and deltas is contiguous. A
/// slice whose columns spread over more than 65536 keeps 32-bit columns; others keep 16 bits.
///
/// Bytes: stored entries (sizeof(value) + 2, or + 4 in a wide slice) + 4 rows + 32 slices. Stored
/// over true entries is 1 where neighbouring rows are equally long; one long row stretches its
/// slice.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// 32 rows, stored step by step: entry j of lane l lies at start + 32 j + l.
struct SellSlice {
  Offset values;       ///< start among the values
  Offset indices;      ///< start among the deltas, or among the columns when `wide`
  Index base;          ///< smallest column of the slice
  std::int32_t width;  ///< entries of its longest row
  std::int32_t wide;   ///< 1: columns beyond base + 65535 occur
};

template <class S>
struct SellView {
  static constexpr int C = 32;  ///< rows of a slice

  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  SellSlice const* slices = nullptr;      // (ceil(rows / 32))
  Index const* lengths = nullptr;         // (rows) entries of each row
  std::uint16_t const* deltas = nullptr;  // column - base, of narrow slices
  std::int32_t const* columns = nullptr;  // of wide slices
  S const* values = nullptr;
  bool streams = false;  ///< larger than the cache: entries are read once and should not stay
  Space space = Space::host;
};

// ---- conversion ----
//
// Conversion to SELL-32 (formats/sell/sell.hpp). The products are operations
// (formats/sell/ops.hpp).
//
//   host    a row a task                                                            (Kokkos)
//   cuda    a thread a row, the values of 32 rows in shared memory
//   bytes   columns and values once each, and the arrays once; 48 a slice of scratch

/// The arrays of a matrix, in one space.
template <class S>
struct SellArrays {
  SellView<S> view;
  Array<SellSlice> slices;
  Array<Index> lengths;
  Array<std::uint16_t> deltas;
  Array<std::int32_t> columns;
  Array<S> values;
};

namespace host {
template <class S>
SellArrays<S> build_sell(Host&, Arena&, CsrView<S> const& a);
template <class S>
void refill_sell(Host&, Arena&, CsrView<S> const& a, SellArrays<S>&);
}  // namespace host

namespace cuda {
template <class S>
SellArrays<S> build_sell(Device&, Arena&, CsrView<S> const& a);
template <class S>
void refill_sell(Device&, Arena&, CsrView<S> const& a, SellArrays<S>&);
}  // namespace cuda

// ---- storage ----

/// A SELL matrix that owns its arrays in a Context's space.
template <class S>
class Sell {
 public:
  /// From a canonical CSR matrix in the Context's space. Cost: two passes, and three words to the
  /// host.
  Sell(Context&, CsrView<S> const& a);

  /// The values of a matrix in the Context's space with the same pattern: the entries of each row
  /// in the same columns, which is not looked at (matrix/same_pattern.hpp does). No memory is
  /// taken, nothing is waited for. Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);

  SellView<S> view() const { return arrays_.view; }
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  std::size_t bytes() const;
  Offset stored() const { return static_cast<Offset>(arrays_.values.size()); }

 private:
  SellArrays<S> arrays_;
};

}  // namespace tcsolve
