// SPDX-License-Identifier: Apache-2.0
/// Conversion to SELL-32-sigma with compressed columns (formats/csell.hpp); its products are verbs
/// (verbs/csell.hpp).
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/views/csell.hpp>
#include <tcsolve/kernels/views/csr.hpp>

namespace tcsolve {

struct CsellTuning {
  Index max_length = 256;  ///< longer rows are cut into pieces of this length
  Index window = 4096;     ///< sigma: lines are sorted within so many, where they are
  double padding = 0.03;   ///< they are sorted where padding without is more than this
};

/// The arrays of a matrix, in one space.
template <class S>
struct CsellArrays {
  CsellView<S> view;
  Index most = 0;  ///< entries of a line
  Array<CsellSlice> slices;
  Array<std::int32_t> bases, order;
  Array<std::uint8_t> indices;
  Array<S> values;
  Array<Index> long_row, long_start;
  // Of no use to products; a refill with new values reads them.
  Array<Index> first, row;  ///< lines of each row, row of each line; empty: no long rows
  Array<Index> at;          ///< line in each place; empty: not sorted
};

namespace host {
/// Throws SizeError beyond 2^31 - 1 lines or steps.
template <class S>
CsellArrays<S> build_csell(Host&, Arena&, CsrView<S> const& a, CsellTuning const&);
template <class S>
void refill_csell(Host&, Arena&, CsrView<S> const& a, CsellArrays<S>&);
}  // namespace host

namespace cuda {
template <class S>
CsellArrays<S> build_csell(Device&, Arena&, CsrView<S> const& a, CsellTuning const&);
template <class S>
void refill_csell(Device&, Arena&, CsrView<S> const& a, CsellArrays<S>&);
}  // namespace cuda

}  // namespace tcsolve
