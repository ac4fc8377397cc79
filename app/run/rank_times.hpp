// SPDX-License-Identifier: Apache-2.0
/// What parts of an iteration over ranks take by themselves, tried out for a moment after a solve.
#pragma once

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/record/result.hpp>

namespace tcsolve {

/// Called by each rank with the solver's matrix set. Takes about 2 % of `solve` seconds, 20 ms at
/// most but for a few repetitions, and two vectors of memory; where these are not there, or A is
/// not a DistributedOperator, nothing is known on any rank.
RankTimes time_parts(LinearSolver&, double solve);

}  // namespace tcsolve
