// SPDX-License-Identifier: Apache-2.0
/// Asking for memory ahead of its use. A product adds too few numbers a byte for the processor's
/// own look-ahead: it stalls at the end of each row. A prefetch beyond an array is ignored.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tcsolve::host {

/// Asks for the cache lines of `count` entries that lie `ahead` entries after p. Inlined always:
/// GCC considers a function that only prefetches to have no effect, and removes the call.
template <class E>
[[gnu::always_inline]] inline void prefetch(E const* p, std::int64_t ahead, int count) {
  auto address = reinterpret_cast<std::uintptr_t>(p) + ahead * sizeof(E);  // may be no object's
  for (std::size_t byte = 0; byte < count * sizeof(E); byte += 64)
    __builtin_prefetch(reinterpret_cast<void const*>(address + byte));
}

}  // namespace tcsolve::host
