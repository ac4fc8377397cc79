// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/repeat.hpp>

#include <tcsolve/app/record/story.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/timed.hpp>

#include <algorithm>
#include <cstdio>

namespace tcsolve {
namespace {

std::string brief(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

}  // namespace

double RepeatTimes::median() const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  std::size_t const half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double RepeatTimes::least() const {
  return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
}

double RepeatTimes::most() const {
  return seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end());
}

double RepeatTimes::spread() const { return median() > 0 ? (most() - least()) / median() : 0; }

std::string RepeatTimes::text() const {
  std::string text = cat("repeat: median ", brief(median()), " s, least ", brief(least()),
                         " s, spread ", brief(100 * spread()), " % of ", seconds.size(),
                         seconds.size() == 1 ? " solve" : " solves", " after a warm-up:");
  for (double const s : seconds) text += " " + brief(s);
  return text;
}

SolveReport repeat_solve(Context& ctx, std::vector<double>& x,
                         std::function<SolveReport()> const& solve, int count, RepeatTimes& times) {
  std::vector<double> const start = x;
  std::vector<ChoiceReport> story;
  auto const next = [&] {
    SolveReport report = solve();
    times.setup += report.setup_seconds;
    continue_story(story, report.choices, false);
    return report;
  };
  SolveReport report = next();
  EnergyMeter meter(ctx);
  double counted = 0;
  meter.start();
  for (int i = 1; i <= count && report.reason != Stop::cancelled; ++i) {
    x = start;
    double seconds = 0;
    timed(seconds, [&] { report = next(); });
    if (report.reason == Stop::cancelled) break;
    counted += seconds;
    times.seconds.push_back(seconds - report.setup_seconds);
    ctx.log(Severity::note,
            cat("solve ", i, " of ", count, ": ", brief(times.seconds.back()), " s"));
  }
  // A solve that was cancelled has been counted and is none of them.
  if (report.reason != Stop::cancelled)
    times.joules = meter.per_solve(counted, times.seconds.size());
  report.choices = std::move(story);
  return report;
}

}  // namespace tcsolve
