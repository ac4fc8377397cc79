// SPDX-License-Identifier: Apache-2.0
/// A^T on the device (sparse/transpose.hpp).
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/sparse/transpose_build.hpp>

namespace tcsolve::cuda {

sparse::TransposedPattern transpose_pattern(Device& device, Arena& arena, PatternView const& a) {
  Converter on(device, arena);
  return sparse::transpose_pattern(on, a);
}

template <class T>
void transpose_values(Device& device, Arena& arena, sparse::TransposedPattern const& made,
                      T const* from, T* to) {
  Converter on(device, arena);
  sparse::transpose_values(on, made, from, to);
}

#define TCSOLVE_TRANSPOSE(T)                                                                     \
  template void transpose_values<T>(Device&, Arena&, sparse::TransposedPattern const&, T const*, \
                                    T*);
TCSOLVE_VALUES(TCSOLVE_TRANSPOSE)
#undef TCSOLVE_TRANSPOSE

}  // namespace tcsolve::cuda
