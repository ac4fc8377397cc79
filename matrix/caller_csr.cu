// SPDX-License-Identifier: Apache-2.0
/// Matrices of the caller's number types on the device (matrix/caller_csr.hpp).
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/matrix/caller_csr_build.hpp>

namespace tcsolve::cuda {

CsrArrays<double> convert_csr(Device& device, Arena& arena, CallerCsr const& a,
                              std::int64_t& wrong) {
  Converter on(device, arena);
  return tcsolve::convert_csr(on, a, wrong);
}
void convert_numbers(Device& device, Arena& arena, NumbersView from, void* to, NumberKind type,
                     std::int64_t n) {
  Converter on(device, arena);
  tcsolve::convert_numbers(on, from, to, type, n);
}
bool same_bytes(Device& device, Arena& arena, void const* a, void const* b, std::size_t bytes) {
  Converter on(device, arena);
  return tcsolve::same_bytes(on, a, b, bytes);
}

}  // namespace tcsolve::cuda
