// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/summary.hpp>

#include <tcsolve/app/config/blocks.hpp>
#include <tcsolve/app/record/story.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <utility>

namespace tcsolve {
namespace {

/// Phases that took a hundredth of the run or more, and the solve.
std::string seconds_text(RunTimes const& t) {
  std::pair<char const*, double> const before[] = {{"read", t.read},       {"upload", t.upload},
                                                   {"plan", t.plan},       {"reorder", t.reorder},
                                                   {"convert", t.convert}, {"setup", t.setup}};
  double sum = t.solve;
  for (auto const& [phase, seconds] : before) sum += seconds;
  std::string text = "seconds: ";
  for (auto const& [phase, seconds] : before)
    if (seconds >= 0.01 * sum) text += cat(phase, " ", figure_text(seconds), ", ");
  return cat(text, "solve ", figure_text(t.solve));
}

void print_profile(RunResult const& r) {
  std::cout << "the solve by parts (timed one by one, which takes time itself):\n";
  for (ProfiledPart const& p : r.profile) {
    char line[96];
    std::snprintf(line, sizeof line, "  %-15s%11s s%6.1f %%", name(p.part),
                  figure_text(p.took.seconds).c_str(),
                  r.times.solve > 0 ? 100 * p.took.seconds / r.times.solve : 0.0);
    std::cout << line;
    if (p.took.calls > 0) std::cout << "  " << p.took.calls << " calls";
    if (double const rate = p.bytes / p.took.seconds; std::isfinite(rate) && p.took.calls > 0)
      std::cout << ", " << figure_text(rate / 1e9) << " GB/s (estimate)";
    std::cout << "\n";
  }
}

/// The lines of a config that name what `auto` took.
void print_taken(ChoiceReport const& taken) {
  std::cout << "taken, as a config says it:\n  solver: " << brief_block(taken.solver_block) << "\n";
  if (taken.preconditioner_block)
    std::cout << "  preconditioner: " << brief_block(taken.preconditioner_block) << "\n";
}

}  // namespace

void print_summary(RunResult const& r, RunConfig const& config) {
  RunTimes const& t = r.times;
  std::cout << seconds_text(t);
  if (std::isfinite(r.seconds_per_iteration))
    std::cout << " (" << figure_text(1e3 * r.seconds_per_iteration) << " ms an iteration)";
  std::cout << "\n";
  if (r.repeat) std::cout << r.repeat->text() << "\n";
  if (!r.profile.empty()) print_profile(r);
  if (ChoiceReport const* const taken = in_force(r.report.choices)) print_taken(*taken);
  if (double const rate = r.report.bytes / t.solve; r.bandwidth > 0 && std::isfinite(rate))
    std::cout << "memory traffic: " << figure_text(rate / 1e9) << " GB/s (estimate), "
              << std::lround(100 * rate / r.bandwidth) << " % of the "
              << figure_text(r.bandwidth / 1e9) << " GB/s of a vector update\n";
  std::cout << "results: "
            << (std::filesystem::path(config.output.directory) / "result.json").string() << "\n";
}

void print_problem(ProblemSize const& size, std::string const& rhs,
                   std::vector<MemoryPlan> const& plans, bool dry) {
  char const* const comment = dry ? "# " : "";
  std::cout << comment << "problem: " << size.source << ", " << size.rows << " x " << size.cols
            << ", at most " << size.entries << " entries";
  if (size.columns > 1)
    std::cout << "; " << size.columns << " right-hand sides"
              << (rhs.empty() ? "" : ", the columns of " + rhs);
  std::cout << "\n";
  for (std::size_t r = 0; r < (dry ? plans.size() : 1); ++r)
    std::cout << comment << plans[r].text(plans.size() == 1 ? "" : cat(" of rank ", r)) << "\n";
  for (std::string const& note : size.notes) std::cout << comment << note << "\n";
  std::cout << std::flush;
}

}  // namespace tcsolve
