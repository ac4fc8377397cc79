// SPDX-License-Identifier: Apache-2.0
/// Facts of a matrix on the device (matrix/facts.hpp).
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/matrix/facts_build.hpp>

namespace tcsolve::cuda {

MatrixFacts matrix_facts(Device& device, Arena& arena, CsrView<double> const& a, Pairs pairs) {
  Converter on(device, arena);
  return tcsolve::matrix_facts(on, a, pairs);
}
bool mirrors_bit_by_bit(Device& device, Arena& arena, CsrView<double> const& a) {
  Converter on(device, arena);
  return tcsolve::mirrors_bit_by_bit(on, a);
}

}  // namespace tcsolve::cuda
