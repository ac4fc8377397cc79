// SPDX-License-Identifier: Apache-2.0
/// Long rows of CSR on the device.
#include <tcsolve/formats/csr/long_rows_build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>

namespace tcsolve::cuda {

CsrLongRows long_rows(Device& device, Arena& arena, PatternView const& a, Offset length) {
  Converter on(device, arena);
  return csr::long_rows(on, a, length);
}

}  // namespace tcsolve::cuda
