// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/host/parallel.hpp>

#include <cstdlib>

namespace tcsolve::host {

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (Kokkos::is_initialized()) return;  // the caller's Kokkos is the caller's to end
    Kokkos::initialize();
    std::atexit([] {
      if (Kokkos::is_initialized()) Kokkos::finalize();
    });
  });
}

std::mutex& region() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace tcsolve::host
