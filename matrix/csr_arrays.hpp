// SPDX-License-Identifier: Apache-2.0
/// The arrays of a CSR matrix: its pattern as a view, and all of them with an owner.
#pragma once

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/csr_view.hpp>

namespace tcsolve {

/// The pattern of a canonical CSR matrix, in memory that the caller owns.
struct PatternView {
  Index rows = 0, cols = 0;
  Offset entries = 0;
  OffsetsView offsets;             // (rows + 1)
  Index const* columns = nullptr;  // (entries)

  PatternView() = default;
  template <class S>
  PatternView(CsrView<S> const& a)
      : rows(a.rows), cols(a.cols), entries(a.entries), offsets(a.offsets), columns(a.columns) {}
};

/// The arrays of a CSR matrix in one space. Offsets have 32 bits where the entries fit.
template <class S>
struct CsrArrays {
  Array<std::int32_t> narrow_offsets;  ///< (rows + 1), or empty
  Array<std::int64_t> wide_offsets;    ///< (rows + 1), or empty
  Array<Index> columns;                ///< (entries)
  Array<S> values;                     ///< (entries)
};

}  // namespace tcsolve
