// SPDX-License-Identifier: Apache-2.0
/// Sums and diagonals of rows on the host (sparse/rows.hpp).
#include <tcsolve/kernels/host/convert.hpp>
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

#define TCSOLVE_ROWS(T)                                                           \
  template void sum_rows<T>(Host&, Arena&, CsrView<T> const&, sparse::Sizes, T*); \
  template void take_diagonal<T>(Host&, Arena&, CsrView<T> const&, T*);
TCSOLVE_ROWS(double)
TCSOLVE_ROWS(float)
#undef TCSOLVE_ROWS

}  // namespace tcsolve::host
