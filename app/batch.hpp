// SPDX-License-Identifier: Apache-2.0
/// A run of many small systems: what they are, and how they are told.
#pragma once

#include <tcsolve/app/problem.hpp>
#include <tcsolve/matrix/csr_batch.hpp>
#include <tcsolve/solvers/driver/batch_report.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tcsolve {

/// As problem_size(), of all systems together. Throws SizeError beyond 2^31 - 1 rows.
ProblemSize batch_size(ParsedConfig const&);

/// The systems of `problem.batch`, one after another. Throws as load_problem(), ShapeError for a
/// matrix that is not square.
CsrBatch load_batch(ParsedConfig const&, CancelFlag cancel);

/// The report that stands for all systems: that of BatchReport::worst(), with the seconds of all.
/// The message says how many have converged. There is at least one.
SolveReport report_of_systems(BatchReport const&);

/// What result.json says of them: how many ended in which outcome, the largest residual, and how
/// the iterations are spread.
nlohmann::ordered_json systems_json(BatchReport const&);

/// A line for each system. starts: their first rows, and the number of all.
std::string systems_csv(BatchReport const&, std::vector<Index> const& starts);

}  // namespace tcsolve
