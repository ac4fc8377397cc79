// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/columns.hpp>

#include <tcsolve/app/record/story.hpp>

#include <algorithm>
#include <span>

namespace tcsolve {
namespace {

/// f(columns that were solved together) for each group of them.
template <class F>
void for_each_group(std::vector<SolveReport> const& columns, Index together, F const& f) {
  std::span<SolveReport const> rest = columns;
  while (!rest.empty()) {
    auto const size = std::min(rest.size(), static_cast<std::size_t>(std::max<Index>(1, together)));
    f(rest.first(size));
    rest = rest.subspan(size);
  }
}

/// The largest figure of a group, whose columns share what it counts.
template <class Figure>
auto most(std::span<SolveReport const> group, Figure figure) {
  return (*std::ranges::max_element(group, {}, figure)).*figure;
}

}  // namespace

std::int64_t iterations_of(std::vector<SolveReport> const& columns, Index together) {
  std::int64_t sum = 0;
  for_each_group(columns, together,
                 [&](auto group) { sum += most(group, &SolveReport::iterations); });
  return sum;
}

SolveReport report_of_columns(std::vector<SolveReport> const& columns, Index together) {
  auto const solved = [](SolveReport const& r) { return r.solved(); };
  auto chosen = std::ranges::find_if_not(columns, solved);
  // A least-squares solution that is accepted is no convergence of the whole.
  if (chosen == columns.end()) chosen = std::ranges::find_if_not(columns, &SolveReport::converged);
  if (chosen == columns.end())
    chosen = std::ranges::max_element(columns, {}, &SolveReport::iterations);
  SolveReport report = *chosen;
  report.residuals = 0;
  report.products = report.applications = report.inner_iterations = 0;
  report.bytes = report.seconds = report.setup_seconds = report.loop_seconds = 0;
  if (together > 1) report.bytes_per_iteration = 0;
  report.choices.clear();
  for (SolveReport const& r : columns) {
    report.bytes += r.bytes;
    if (together > 1) report.bytes_per_iteration += r.bytes_per_iteration;
    continue_story(report.choices, r.choices, true);
  }
  for_each_group(columns, together, [&](std::span<SolveReport const> group) {
    report.residuals += most(group, &SolveReport::residuals);
    report.products += most(group, &SolveReport::products);
    report.applications += most(group, &SolveReport::applications);
    report.inner_iterations += most(group, &SolveReport::inner_iterations);
    report.seconds += most(group, &SolveReport::seconds);
    report.setup_seconds += most(group, &SolveReport::setup_seconds);
    report.loop_seconds += most(group, &SolveReport::loop_seconds);
  });
  report.message =
      cat(std::ranges::count_if(columns, solved), " of ", columns.size(),
          " columns solved; column ", chosen - columns.begin() + 1, ": ", chosen->message);
  return report;
}

}  // namespace tcsolve
