// SPDX-License-Identifier: Apache-2.0
/// A solve with several right-hand sides, told as one.
#pragma once

#include <tcsolve/solvers/driver/report.hpp>

#include <vector>

namespace tcsolve {

/// The report that stands for all columns: that of the first one that is not solved, else of the
/// first that is a least-squares solution, else of the one that took most iterations; bytes are
/// those of all. The message says how many are solved.
SolveReport report_of_columns(std::vector<SolveReport> const& columns);

}  // namespace tcsolve
