// SPDX-License-Identifier: Apache-2.0
/// Conversion to SELL-32 (formats/sell.hpp). The products are verbs (kernels/verbs/sell.hpp).
///
///   host    a row a task                                                            (Kokkos)
///   cuda    a thread a row, the values of 32 rows in shared memory
///   bytes   columns and values once each, and the arrays once; 48 a slice of scratch
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/views/csr.hpp>
#include <tcsolve/kernels/views/sell.hpp>

namespace tcsolve {

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

}  // namespace tcsolve
