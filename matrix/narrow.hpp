// SPDX-License-Identifier: Apache-2.0
/// Values in a narrower type, and powers of two that bring a matrix into its range
/// (matrix/scaled.hpp says which), where the matrix lies: one template over a backend,
/// kernels/narrow_build.hpp.
///
///   host   Kokkos
///   cuda   a thread an entry; with exponents a warp a row
///   bytes  values once, and written once; where they must be scaled, values and columns up to ten
///          times more, and 8 a column at random
///   bits   the same on both, but for a NaN in FP16, of which each has one of its own: an entry is
///          rounded once, after a multiplication that is exact
#pragma once

#include <cstdint>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>

/// Types and narrower ones, for explicit instantiations: X(S, T) for values of T stored as S.
#define TCSOLVE_NARROWER(X) \
  X(float, double) X(half, double) X(bfloat16, double) X(half, float) X(bfloat16, float)

namespace tcsolve {

/// What becomes of a value that the narrower type cannot hold.
enum class Beyond {
  refuse_infinite,  ///< refused where it would become infinite; one too small becomes zero
  refuse,           ///< refused where it would become zero, too
  scale             ///< rows, and columns where these do not suffice, are scaled by powers of two
};

/// What was done to the values; an empty list of exponents is all zeros.
struct Narrowed {
  Array<std::int32_t> row_exponents, column_exponents;  ///< (rows), (cols), or empty
  bool fits = true;                                     ///< else the first entry that does not:
  Index row = 0, column = 0;
  double value = 0;
};

/// 2^-e as T of n exponents.
template <class T>
struct UndoneExponents {
  Array<T> factors;
  std::int64_t outside = -1;  ///< the first that T cannot hold; -1: none
};

namespace host {
/// to_k = round(a_k 2^(rows_i + cols_j)) for each entry; every NaN is the backend's one.
template <class S, class T>
Narrowed narrow_values(Host&, Arena&, CsrView<T> const& a, Beyond, S* to);
template <class T>
UndoneExponents<T> undo_exponents(Host&, Arena&, std::int32_t const* exponents, std::size_t n);
/// ||A||_inf of a matrix before it was scaled; null exponents are zeros.
template <class S>
double norm_without_scales(Host&, Arena&, CsrView<S> const& a, std::int32_t const* rows,
                           std::int32_t const* columns);
}  // namespace host

namespace cuda {
template <class S, class T>
Narrowed narrow_values(Device&, Arena&, CsrView<T> const& a, Beyond, S* to);
template <class T>
UndoneExponents<T> undo_exponents(Device&, Arena&, std::int32_t const* exponents, std::size_t n);
template <class S>
double norm_without_scales(Device&, Arena&, CsrView<S> const& a, std::int32_t const* rows,
                           std::int32_t const* columns);
}  // namespace cuda

}  // namespace tcsolve
