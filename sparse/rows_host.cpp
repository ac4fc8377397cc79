// SPDX-License-Identifier: Apache-2.0
/// Sums and diagonals of rows on the host (sparse/rows.hpp).
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/sparse/rows_build.hpp>

namespace tcsolve::host {

template <class T>
void sum_rows(Host&, Arena& arena, CsrView<T> const& a, sparse::Sizes sizes, T* y) {
  Converter on(arena);
  sparse::sum_rows(on, a, sizes, y);
}

template <class T>
void take_diagonal(Host&, Arena& arena, CsrView<T> const& a, T* y) {
  Converter on(arena);
  sparse::take_diagonal(on, a, y);
}

template <class S, class T>
void residual_of_rows(Host&, Arena& arena, CsrView<S> const& a, In<Index> rows, In<T> b, In<T> x,
                      Out<T> r) {
  Converter on(arena);
  sparse::residual_of_rows(on, a, rows, b, x, r);
}

#define TCSOLVE_ROWS(T)                                                           \
  template void sum_rows<T>(Host&, Arena&, CsrView<T> const&, sparse::Sizes, T*); \
  template void take_diagonal<T>(Host&, Arena&, CsrView<T> const&, T*);
TCSOLVE_ROWS(double)
TCSOLVE_ROWS(float)
#undef TCSOLVE_ROWS
#define TCSOLVE_RESIDUALS(S, T)                                                                   \
  template void residual_of_rows<S, T>(Host&, Arena&, CsrView<S> const&, In<Index>, In<T>, In<T>, \
                                       Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_RESIDUALS)
#undef TCSOLVE_RESIDUALS

}  // namespace tcsolve::host
