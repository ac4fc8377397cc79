// SPDX-License-Identifier: Apache-2.0
/// What the rows of a CSR matrix say, in the Context's space, as vectors of the matrix' type T
/// (double or float):
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
namespace host {
template <class T>
void sum_rows(Host&, Arena&, CsrView<T> const& a, sparse::Sizes, T* y);
template <class T>
void take_diagonal(Host&, Arena&, CsrView<T> const& a, T* y);
}  // namespace host
namespace cuda {
template <class T>
void sum_rows(Device&, Arena&, CsrView<T> const& a, sparse::Sizes, T* y);
template <class T>
void take_diagonal(Device&, Arena&, CsrView<T> const& a, T* y);
}  // namespace cuda
}  // namespace tcsolve
