// SPDX-License-Identifier: Apache-2.0
/// Loads of data that no thread writes while the kernel runs.
#pragma once

#include <tcsolve/core/portable.hpp>

namespace tcsolve {

template <class E>
TCSOLVE_HD E read_only(E const* p) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(E) == 2) {
    unsigned short const v = __ldg(reinterpret_cast<unsigned short const*>(p));
    return *reinterpret_cast<E const*>(&v);
  } else if constexpr (sizeof(E) == 16) {
    int4 const v = __ldg(reinterpret_cast<int4 const*>(p));
    return *reinterpret_cast<E const*>(&v);
  } else {
    return __ldg(p);
  }
#else
  return *p;
#endif
}

}  // namespace tcsolve
