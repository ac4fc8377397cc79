// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/systems.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace tcsolve {
namespace {

using Json = nlohmann::ordered_json;

double relative_residual(SystemState const& s) {
  return s.rhs_norm > 0 ? s.true_residual / s.rhs_norm : s.true_residual;
}

}  // namespace

SolveReport report_of_systems(BatchReport const& systems) {
  Index const worst = systems.worst();
  SolveReport report = systems.of(worst);
  report.message = cat(systems.converged(), " of ", systems.count(), " systems converged; system ",
                       worst + 1, ": ", report.message);
  return report;
}

Json systems_json(BatchReport const& report) {
  std::map<std::string, Index> outcomes;
  std::vector<Index> iterations;
  double largest = 0;
  for (Index k = 0; k < report.count(); ++k) {
    SystemState const& s = report.systems[static_cast<std::size_t>(k)];
    ++outcomes[outcome_of(static_cast<Stop>(s.stop), static_cast<Cause>(s.cause))];
    iterations.push_back(s.iterations);
    double const relative = relative_residual(s);
    if (!(relative <= largest)) largest = relative;  // NaN stays
  }
  std::ranges::sort(iterations);
  std::size_t const n = iterations.size();
  Json counts = Json::object();
  for (auto const& [outcome, count] : outcomes) counts[outcome] = count;
  return {{"count", report.count()},
          {"converged", report.converged()},
          {"outcomes", counts},
          {"worst", report.worst() + 1},
          {"largest_relative_residual", std::isfinite(largest) ? Json(largest) : Json(nullptr)},
          {"iterations",
           {{"least", iterations.front()},
            {"median", 0.5 * (iterations[(n - 1) / 2] + iterations[n / 2])},
            {"most", iterations.back()},
            {"sum", report.iterations()}}}};
}

std::string systems_csv(BatchReport const& report, std::vector<Index> const& starts) {
  std::string text =
      "system,rows,outcome,iterations,restarts,true_residual,true_relative,tolerance,rhs_norm\n";
  auto const figure = [](double v) { return std::isnan(v) ? std::string() : cat(v); };
  for (std::size_t k = 0; k < report.systems.size(); ++k) {
    SystemState const& s = report.systems[k];
    text +=
        cat(k + 1, ",", starts[k + 1] - starts[k], ",",
            outcome_of(static_cast<Stop>(s.stop), static_cast<Cause>(s.cause)), ",", s.iterations,
            ",", s.restarts, ",", figure(s.true_residual), ",", figure(relative_residual(s)), ",",
            figure(s.tolerance), ",", figure(s.rhs_norm), "\n");
  }
  return text;
}

}  // namespace tcsolve
