// SPDX-License-Identifier: Apache-2.0
/// How a run of many small systems is told.
#pragma once

#include <tcsolve/solvers/driver/batch_report.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tcsolve {

/// The report that stands for all systems: that of BatchReport::worst(), with the seconds of all.
/// The message says how many have converged. There is at least one.
SolveReport report_of_systems(BatchReport const&);

/// What result.json says of them: how many ended in which outcome, the largest residual, and how
/// the iterations are spread.
nlohmann::ordered_json systems_json(BatchReport const&);

/// A line for each system. starts: their first rows, and the number of all.
std::string systems_csv(BatchReport const&, std::vector<Index> const& starts);

}  // namespace tcsolve
