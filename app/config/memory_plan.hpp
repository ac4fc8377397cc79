// SPDX-License-Identifier: Apache-2.0
/// What a run will take of memory, stated and checked before anything large is allocated.
#pragma once

#include <tcsolve/api/parts.hpp>
#include <tcsolve/app/config/problem.hpp>

#include <cstdint>
#include <string>

namespace tcsolve {

struct MemoryPlan {
  std::int64_t host = 0, device = 0;                      ///< bytes at the peak
  std::int64_t host_available = 0, device_available = 0;  ///< bytes
  bool on_device = false;
  /// Factors whose size the pattern decides, or that `auto` may make, come on top.
  bool at_least = false;

  /// "memory: host at least 0.12 GiB of 7.4 GiB available, ...", `of` behind the first word.
  std::string text(std::string const& of = {}) const;
  /// Throws MemoryError, with both figures, when a peak exceeds what may be used (80 % of the host
  /// memory available, 95 % of the device's).
  void require() const;
};

/// Without the peaks. `parts`: what the config names.
MemoryPlan plan_of(Context const&, SolverParts const& parts);
/// Bytes that the Context holds in its space at the peak, of a system of that size; over ranks of a
/// rank's rows, whose columns are `all_cols` over all ranks. `bandwidth`: that of the memory is
/// measured.
double space_bytes(Context const&, SolverParts const& parts, bool bandwidth, ProblemSize const&,
                   std::int64_t all_cols);
/// Of one rank.
MemoryPlan plan_memory(Context const&, SolverParts const& parts, RunConfig const&,
                       ProblemSize const&);

/// "1.5 GiB".
std::string byte_text(double bytes);

}  // namespace tcsolve
