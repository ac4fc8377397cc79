// SPDX-License-Identifier: Apache-2.0
/// Rounds values to a narrower type and scales a matrix into its range by powers of two (the rules
/// are in matrix/scaled.hpp), in the space of the matrix. One template over a backend,
/// matrix/narrow_build.hpp, matrix/equilibrate_build.hpp and matrix/diagonal_build.hpp.
///
///   host   Kokkos
///   cuda   one thread per entry; with exponents one warp per row
///   bytes  values are read twice and written once; scaling reads values and columns up to ten
///          times more, and 8 bytes per column at random
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
  scale             ///< scale the matrix by powers of two
};

/// What is kept of the diagonal in FP32, beside values that are rounded
/// (matrix/diagonal_build.hpp).
enum class KeptDiagonal {
  stored,    ///< nothing
  exact,     ///< what rounding has changed of it
  row_sums,  ///< and of the other entries of its row: A e is what it was
  automatic  ///< row_sums of a symmetric matrix, else stored
};

/// What a matrix was multiplied by before it was rounded: nothing, one power of two, the same for
/// row and column i, or any of rows and columns.
enum class MatrixScale { nothing, one_power, symmetric, rows_and_columns };
constexpr char const* name(MatrixScale s) {
  constexpr char const* all[] = {"nothing", "one_power", "symmetric", "rows_and_columns"};
  return all[static_cast<int>(s)];
}

/// What rounding has done to a matrix. Counts are of finite nonzero entries.
struct NarrowFigures {
  MatrixScale scaled = MatrixScale::nothing;
  std::int64_t overflow = 0;   ///< unscaled they would be infinite
  std::int64_t underflow = 0;  ///< unscaled they would be below the normal range, or zero
  std::int64_t zeros = 0;      ///< they are zero now
  /// The largest change of a row sum, relative to the sum of magnitudes of its row.
  double row_sum_change = 0;

  bool operator==(NarrowFigures const&) const = default;
};

/// The powers of two a matrix was scaled by, and whether the values fit:
///
///     b_ij = round(a_ij 2^(shift + rows_i + columns_j))
struct Narrowed {
  Array<std::int32_t> row_exponents, column_exponents;  ///< (rows), (cols); empty: zeros
  int shift = 0;
  bool symmetric = false;  ///< rows_i = columns_i: a symmetric matrix has stayed symmetric
  int farthest = 0;        ///< the largest |rows_i| or |columns_j|
  Array<float> diagonal;   ///< (rows, block), added to b in blocks of its diagonal; empty: zeros
  int block = 1;
  NarrowFigures figures;  ///< where the values fit; zeros with Beyond::refuse_infinite
  bool fits =
      true;  ///< if false, row, column and value are those of the first entry that does not fit
  Index row = 0, column = 0;
  double value = 0;
};

namespace host {
/// to_k = b_ij for each entry; every NaN becomes the backend's NaN.
template <class S, class T>
Narrowed narrow_values(Host&, Arena&, CsrView<T> const& a, Beyond, KeptDiagonal, S* to);
/// ||A||_inf of a matrix before it was scaled; null exponents are zeros.
template <class S>
double norm_without_scales(Host&, Arena&, CsrView<S> const& b, int shift, std::int32_t const* rows,
                           std::int32_t const* columns);
}  // namespace host

namespace cuda {
template <class S, class T>
Narrowed narrow_values(Device&, Arena&, CsrView<T> const& a, Beyond, KeptDiagonal, S* to);
template <class S>
double norm_without_scales(Device&, Arena&, CsrView<S> const& b, int shift,
                           std::int32_t const* rows, std::int32_t const* columns);
}  // namespace cuda

}  // namespace tcsolve
