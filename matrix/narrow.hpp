// SPDX-License-Identifier: Apache-2.0
/// Rounds values to a narrower type and scales a matrix into its range by powers of two (the rules
/// are in matrix/scaled.hpp), in the space of the matrix. One template over a backend,
/// matrix/narrow_build.hpp.
///
///   host   Kokkos
///   cuda   one thread per entry; with exponents one warp per row
///   bytes  values are read and written once; scaling reads values and columns up to ten times
///   more,
///          and 8 bytes per column at random
///   bits   the same on both backends, except the bit pattern of NaN in FP16: an entry is rounded
///          once, after an exact multiplication
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
  refuse_infinite,  ///< throw if a value overflows to infinity; underflow to zero is allowed
  refuse,           ///< throw if a value overflows to infinity or underflows to zero
  scale             ///< scale rows by powers of two, and columns as well if rows do not suffice
};

/// The exponents applied to rows and columns (an empty list: all zeros), and whether the values
/// fit.
struct Narrowed {
  Array<std::int32_t> row_exponents, column_exponents;  ///< (rows), (cols), or empty
  bool fits =
      true;  ///< if false, row, column and value are those of the first entry that does not fit
  Index row = 0, column = 0;
  double value = 0;
};

/// 2^-e as T of n exponents.
template <class T>
struct UndoneExponents {
  Array<T> factors;
  std::int64_t outside = -1;  ///< index of the first factor out of T's range; -1: none
};

namespace host {
/// to_k = round(a_k 2^(rows_i + cols_j)) for each entry; every NaN becomes the backend's NaN.
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
