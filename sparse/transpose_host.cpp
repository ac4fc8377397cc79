// SPDX-License-Identifier: Apache-2.0
/// A^T on the host (sparse/transpose.hpp).
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/sparse/transpose_build.hpp>

namespace tcsolve::host {

sparse::TransposedPattern transpose_pattern(Host&, Arena& arena, PatternView const& a) {
  Converter on(arena);
  return sparse::transpose_pattern(on, a);
}

template <class T>
void transpose_values(Host&, Arena& arena, sparse::TransposedPattern const& made, T const* from,
                      T* to) {
  Converter on(arena);
  sparse::transpose_values(on, made, from, to);
}

#define TCSOLVE_TRANSPOSE(T) \
  template void transpose_values<T>(Host&, Arena&, sparse::TransposedPattern const&, T const*, T*);
TCSOLVE_TRANSPOSE(double)
TCSOLVE_TRANSPOSE(float)

}  // namespace tcsolve::host
