// SPDX-License-Identifier: Apache-2.0
/// Wall-clock seconds: since a moment, of a call.
#pragma once

#include <chrono>

namespace tcsolve {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Adds the seconds of f() to `sum`, also when it throws.
template <class F>
void timed(double& sum, F const& f) {
  struct Clock {
    double& sum;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    ~Clock() { sum += seconds_since(start); }
  } const clock{sum};
  f();
}

}  // namespace tcsolve
