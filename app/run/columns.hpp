// SPDX-License-Identifier: Apache-2.0
/// A solve with several right-hand sides, told as one.
#pragma once

#include <tcsolve/solvers/report.hpp>

#include <cstdint>
#include <vector>

namespace tcsolve {

/// The report that stands for all columns: outcome, iterations, residuals and history are those of
/// the first one that is not solved, else of the first that is a least-squares solution, else of
/// the one that took most iterations. Work, bytes, seconds and the choices of `auto` are those of
/// all columns, of which `together` shared theirs. The message says how many are solved.
SolveReport report_of_columns(std::vector<SolveReport> const& columns, Index together);

/// Iterations of all columns: where `together` of them share theirs, the most of each group.
std::int64_t iterations_of(std::vector<SolveReport> const& columns, Index together);

}  // namespace tcsolve
