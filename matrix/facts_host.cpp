// SPDX-License-Identifier: Apache-2.0
/// Facts of a matrix on the host (matrix/facts.hpp).
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/matrix/facts_build.hpp>

namespace tcsolve::host {

MatrixFacts matrix_facts(Host&, Arena& arena, CsrView<double> const& a, Pairs pairs) {
  Converter on(arena);
  return tcsolve::matrix_facts(on, a, pairs);
}
bool mirrors_bit_by_bit(Host&, Arena& arena, CsrView<double> const& a) {
  Converter on(arena);
  return tcsolve::mirrors_bit_by_bit(on, a);
}

}  // namespace tcsolve::host
