// SPDX-License-Identifier: Apache-2.0
/// Memory that something will hold once it is made, told before any of it is allocated.
#pragma once

#include <string>

#include <tcsolve/core/context.hpp>

namespace tcsolve {

/// Bytes. The Context's workspace is not in these numbers.
struct MemoryNeed {
  double host = 0;     ///< held once it is made, on the host, whatever the Context
  double space = 0;    ///< held in the Context's space
  double passing = 0;  ///< held besides, on the host, at the most while it is made: about
  bool exact = true;   ///< what is held is counted; false: inferred from a sample

  double held() const { return host + space; }
  MemoryNeed& operator+=(MemoryNeed const& other) {
    host += other.host;
    space += other.space;
    passing += other.passing;
    exact = exact && other.exact;
    return *this;
  }
};

/// Whether it is, while it is made, at most 80 % of the host's available memory, and 95 % of the
/// device's.
bool fits(Context const&, MemoryNeed const&);
/// Throws MemoryError, "<what> needs about ... GiB; ... GiB may be used", unless it fits.
void require_memory(Context const&, MemoryNeed const&, std::string const& what);

}  // namespace tcsolve
