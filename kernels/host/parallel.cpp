// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/host/parallel.hpp>

#include <cstdlib>

namespace tcsolve::host {

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (Kokkos::is_initialized()) return;  // the caller's Kokkos is the caller's to end
    // The argument says it in every Kokkos from 3.4 on: no advice about thread binding on stderr.
    char program[] = "tcsolve", quiet[] = "--kokkos-disable-warnings";
    char* arguments[] = {program, quiet, nullptr};
    int count = 2;
    Kokkos::initialize(count, arguments);
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
