// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/columns.hpp>

#include <algorithm>

namespace tcsolve {

SolveReport report_of_columns(std::vector<SolveReport> const& columns) {
  auto const solved = [](SolveReport const& r) { return r.solved(); };
  auto chosen = std::ranges::find_if_not(columns, solved);
  // A least-squares solution that is accepted is no convergence of the whole.
  if (chosen == columns.end()) chosen = std::ranges::find_if_not(columns, &SolveReport::converged);
  if (chosen == columns.end())
    chosen = std::ranges::max_element(columns, {}, &SolveReport::iterations);
  SolveReport report = *chosen;
  report.bytes = report.bytes_per_iteration = 0;
  for (SolveReport const& r : columns) {
    report.bytes += r.bytes;
    report.bytes_per_iteration += r.bytes_per_iteration;
  }
  report.message =
      cat(std::ranges::count_if(columns, solved), " of ", columns.size(),
          " columns solved; column ", chosen - columns.begin() + 1, ": ", chosen->message);
  return report;
}

}  // namespace tcsolve
