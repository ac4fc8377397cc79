// SPDX-License-Identifier: Apache-2.0
/// Conversion to diagonals (formats/dia.hpp). The products are verbs (kernels/verbs/dia.hpp).
///
///   host    a row a task                                                            (Kokkos)
///   cuda    a thread a row, 32 rows of the matrix in shared memory
///   bytes   columns and values two to four times; 8 (rows + cols) of scratch
#pragma once

#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/views/csr.hpp>
#include <tcsolve/kernels/views/dia.hpp>

namespace tcsolve {

struct DiaTuning {
  bool symmetric = true;  ///< A = A^T is stored by its lower triangle
};

/// Positions of a stored diagonal: a hole closes it, and the next one begins on a line of the
/// cache.
constexpr Offset dia_length(Index rows) { return (Offset{rows} + 1 + 31) / 32 * 32; }
/// Whether so many diagonals are worth it (holes_pay).
constexpr bool dia_fits(double diagonals, Index rows, Offset entries, double spare = 1 << 20) {
  return holes_pay(diagonals * double(dia_length(rows)), entries, spare);
}

/// The arrays of a matrix, in one space.
template <class S>
struct DiaArrays {
  DiaView<S> view;
  Index stored = 0;  ///< diagonals in `values`: all of them, or those with offset <= 0
  Array<DiaDiagonal> diagonals;
  std::vector<DiaDiagonal> list;  ///< the same on the host
  Array<Index> offsets;           ///< (distinct), ascending
  Array<S> values;                ///< (stored, dia_length(rows)), and a line of holes
  Array<S> upper;                 ///< the others, once the matrix is not symmetric
  double norm = 0;                ///< ||A||_inf, taken as the values came
};

namespace host {
template <class S>
Index count_diagonals(Host&, Arena&, CsrView<S> const& a);
/// Throws MatrixError where dia_fits() says no.
template <class S>
DiaArrays<S> build_dia(Host&, Arena&, CsrView<S> const& a, DiaTuning const&);
template <class S>
void refill_dia(Host&, Arena&, CsrView<S> const& a, DiaArrays<S>&);
}  // namespace host

namespace cuda {
template <class S>
Index count_diagonals(Device&, Arena&, CsrView<S> const& a);
template <class S>
DiaArrays<S> build_dia(Device&, Arena&, CsrView<S> const& a, DiaTuning const&);
template <class S>
void refill_dia(Device&, Arena&, CsrView<S> const& a, DiaArrays<S>&);
}  // namespace cuda

/// The diagonals with an entry, of a matrix in the Context's space.
template <class S>
Index count_diagonals(Context& ctx, CsrView<S> const& a) {
  return ctx.visit([&](auto& on) { return count_diagonals(on, ctx.arena(), a); });
}

}  // namespace tcsolve
