// SPDX-License-Identifier: Apache-2.0
/// What a solver tells the record of a run (RunResult), from set-up to solve.
#pragma once

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/record/profile.hpp>
#include <tcsolve/app/record/result.hpp>

namespace tcsolve {

/// What the result tells of the set-up, as far as it came.
void note_setup(LinearSolver const& solver, RunResult& result);

/// What it tells of A and of the device once the solve is over.
void note_solve(LinearSolver& solver, RunResult& result);

/// Iterations, the seconds of one, and what was set up meanwhile: that is no part of the solve.
void note_work(LinearSolver const& solver, RunResult& result);

/// The parts of the solve that `profile` has seen; what is left of its seconds is `other`.
void note_profile(LinearSolver const& solver, Profile& profile, Index columns, RunResult& result);

}  // namespace tcsolve
