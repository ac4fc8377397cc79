// SPDX-License-Identifier: Apache-2.0
/// What the runs of a sweep have given, as tables: sweep.csv, sweep.jsonl.
#pragma once

#include <tcsolve/app/config/sweep.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tcsolve {

/// One problem with one setting. A figure that is not known is NaN.
struct SweepRow {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::size_t problem = 0, setting = 0;
  std::string run;  ///< the folder with result.json and history.csv, from that of the sweep
  std::string outcome, message, method, format, device;
  int exit_code = 6;
  std::int64_t iterations = 0;
  std::size_t solves = 0;                                                      ///< that were timed
  double median = unknown, least = unknown, most = unknown, spread = unknown;  ///< of their seconds
  double setup = unknown;          ///< seconds of plan, order, conversion and set-up
  double residual = unknown;       ///< true, over norm(b)
  double attainable = unknown;     ///< the same where rtol was 0
  double joules = unknown;         ///< of a solve
  double speedup = unknown;        ///< median of the baseline over this one's
  double whole_speedup = unknown;  ///< the same with the set-up

  bool solved() const { return exit_code == 0; }
  double whole() const { return setup + median; }
};

/// The figures of a run by the text of its result.json.
SweepRow row_of(SweepPoint const&, std::string const& result);

/// Fills in what is relative to the baseline of each row.
void compare(Sweep const&, std::vector<SweepRow>& rows);

/// Of each problem the shortest time, set-up included, in which a setting solves it; NaN: none
/// does.
std::vector<double> best_times(Sweep const&, std::vector<SweepRow> const&);

/// The time of a row over the shortest of its problem, 1 for the fastest; infinite where it does
/// not solve it. Their distribution is the performance profile (Dolan and More 2002, sec. 2).
double ratio_to_best(SweepRow const&, std::vector<double> const& best);

/// The share of the problems that some setting solves which `setting` solves within `factor` of the
/// shortest time.
double share_within(std::size_t setting, double factor, std::vector<SweepRow> const&,
                    std::vector<double> const& best);

std::string sweep_csv(Sweep const&, std::vector<SweepRow> const&);
/// A JSON object a line, for each row.
std::string sweep_jsonl(Sweep const&, std::vector<SweepRow> const&);

}  // namespace tcsolve
