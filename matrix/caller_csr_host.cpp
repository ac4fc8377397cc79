// SPDX-License-Identifier: Apache-2.0
/// Matrices of the caller's number types on the host (matrix/caller_csr.hpp).
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/matrix/caller_csr_build.hpp>

namespace tcsolve::host {

CsrArrays<double> convert_csr(Host&, Arena& arena, CallerCsr const& a, std::int64_t& wrong) {
  Converter on(arena);
  return tcsolve::convert_csr(on, a, wrong);
}
void convert_numbers(Host&, Arena& arena, NumbersView from, void* to, NumberKind type,
                     std::int64_t n) {
  Converter on(arena);
  tcsolve::convert_numbers(on, from, to, type, n);
}
bool same_bytes(Host&, Arena& arena, void const* a, void const* b, std::size_t bytes) {
  Converter on(arena);
  return tcsolve::same_bytes(on, a, b, bytes);
}

}  // namespace tcsolve::host
