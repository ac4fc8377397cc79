// SPDX-License-Identifier: Apache-2.0
/// What a run prints on standard output before its verdict.
#pragma once

#include <tcsolve/app/config/memory_plan.hpp>
#include <tcsolve/app/config/problem.hpp>
#include <tcsolve/app/record/result.hpp>

#include <string>

namespace tcsolve {

/// The system and the memory that it takes, of each rank where there are several and `dry`; before
/// the run, as comments of a config where `dry`.
void print_problem(ProblemSize const& size, std::string const& rhs,
                   std::vector<MemoryPlan> const& plans, bool dry);

/// Seconds, repeated solves, parts, what `auto` took, and where the results are.
void print_summary(RunResult const&, RunConfig const&);

}  // namespace tcsolve
