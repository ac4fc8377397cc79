// SPDX-License-Identifier: Apache-2.0
/// Long rows of CSR on the host.
#include <tcsolve/formats/csr/long_rows_build.hpp>
#include <tcsolve/kernels/host/convert.hpp>

namespace tcsolve::host {

CsrLongRows long_rows(Host&, Arena& arena, PatternView const& a, Offset length) {
  Converter on(arena);
  return csr::long_rows(on, a, length);
}

}  // namespace tcsolve::host
