// SPDX-License-Identifier: Apache-2.0
/// Sums and diagonals of rows on the device (sparse/rows.hpp).
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/sparse/rows_build.hpp>

namespace tcsolve::cuda {

template <class T>
void sum_rows(Device& device, Arena& arena, CsrView<T> const& a, sparse::Sizes sizes, T* y) {
  Converter on(device, arena);
  sparse::sum_rows(on, a, sizes, y);
}

template <class T>
void take_diagonal(Device& device, Arena& arena, CsrView<T> const& a, T* y) {
  Converter on(device, arena);
  sparse::take_diagonal(on, a, y);
}

#define TCSOLVE_ROWS(T)                                                             \
  template void sum_rows<T>(Device&, Arena&, CsrView<T> const&, sparse::Sizes, T*); \
  template void take_diagonal<T>(Device&, Arena&, CsrView<T> const&, T*);
TCSOLVE_ROWS(double)
TCSOLVE_ROWS(float)
#undef TCSOLVE_ROWS

}  // namespace tcsolve::cuda
