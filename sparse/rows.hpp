// SPDX-License-Identifier: Apache-2.0
/// What the rows of a CSR matrix say, in the Context's space, as vectors of the matrix' type T
/// (double or float), and rows of a residual:
///
///     row_sums            y_i = sum_j a_ij
///     absolute_row_sums   y_i = sum_j |a_ij|
///     diagonal            y_i = a_ii, 0 where it is not stored
///
/// Sums are taken in T, by ascending column and from +0 on: the same bits on every backend, and
/// |error| <= l u / (1 - l u) sum_j |a_ij| for l entries. y has as many rows as the matrix. Throws
/// ShapeError where y is no vector of that length in the Context's space, or the matrix lies
/// elsewhere. Cost: one pass over the matrix; of diagonal() a search in each row. A row is one
/// thread's.
#pragma once

#include <span>

#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve::sparse {

template <class T>
void row_sums(Context&, CsrView<T> const& a, Out<T> y);
template <class T>
void absolute_row_sums(Context&, CsrView<T> const& a, Out<T> y);
template <class T>
void diagonal(Context&, CsrView<T> const& a, Out<T> y);

/// What sum_rows() adds.
enum class Sizes { with_sign, absolute };

}  // namespace tcsolve::sparse

namespace tcsolve {

/// r_i = b_i - sum_j a_ij x_j for i in `rows`, no other: what r = b - A x becomes where values of
/// A, or of b, have changed in these rows. `rows` are on the host, in any order, one perhaps
/// several times; the rest lies where the Context computes. Sums are taken in FP64 by ascending
/// column, and rounded to T once. Returns how many rows there are. (Where elements of x have
/// changed instead: sparse/spmspv.hpp.)
///
///   throws ShapeError where extents or spaces differ, or a row is outside [0, rows of A)
///   cost   the entries of these rows, a row one thread's; a copy of `rows`
template <class S, class T>
Index update_residual(Context&, CsrView<S> const& a, std::span<Index const> rows, In<T> b, In<T> x,
                      Out<T> r);

namespace host {
template <class T>
void sum_rows(Host&, Arena&, CsrView<T> const& a, sparse::Sizes, T* y);
template <class T>
void take_diagonal(Host&, Arena&, CsrView<T> const& a, T* y);
template <class S, class T>
void residual_of_rows(Host&, Arena&, CsrView<S> const& a, In<Index> rows, In<T> b, In<T> x, Out<T>);
}  // namespace host
namespace cuda {
template <class T>
void sum_rows(Device&, Arena&, CsrView<T> const& a, sparse::Sizes, T* y);
template <class T>
void take_diagonal(Device&, Arena&, CsrView<T> const& a, T* y);
template <class S, class T>
void residual_of_rows(Device&, Arena&, CsrView<S> const& a, In<Index> rows, In<T> b, In<T> x,
                      Out<T> r);
}  // namespace cuda
}  // namespace tcsolve
