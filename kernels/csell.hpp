// SPDX-License-Identifier: Apache-2.0
/// Conversion to SELL-32-sigma with compressed columns (formats/csell.hpp), and
/// y = alpha A x + beta y with it (Kreutzer et al. 2014, section 2).
///
///   host    the same arrays, strip by strip, a line's sum in T                     (Kokkos)
///   cuda    a warp a strip, a lane a line; while eight steps are multiplied, the next eight are on
///           their way
///   bytes   positions (sizeof(S) + 1, 2 or 4) + 1/8 a position for bases, x and y once
///   error   of STYLE section 11 with u_acc = 2^-53 or 2^-24, m = entries in the row
///   bits    the same on every run: a line in the order of the row; the pieces of a long row in
///           their order, or, where they are many, by a warp; <x, y> by lane, warp, block, then
///           the blocks in their order
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/views/csell.hpp>
#include <tcsolve/kernels/views/csr.hpp>

namespace tcsolve {

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
}  // namespace cuda

}  // namespace tcsolve
