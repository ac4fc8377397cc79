// SPDX-License-Identifier: Apache-2.0
/// Whether a method will run as one kernel: what `operator: {format: auto}` reckons with.
#pragma once

#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

/// Over ranks of devices a graph has two more kernels a step, and each waits for the others: one
/// kernel wins for so much longer (docs/results/two-gpus.md).
constexpr double share_of_ranks = 4;

/// Whether a device can run the step of `solver` with a preconditioner of `M` (null: none) and a
/// product that a persistent loop has as one kernel. Found out as the loop itself does, from a
/// recording: of a system of a few rows, set up on the host
/// (PreconditionerFactory::build_in_miniature). False where that cannot be set up.
/// Cost: some 0.1 ms; leaves the solver set up with a system that is gone: set it up anew.
bool runs_as_one_kernel(Solver& solver, PreconditionerFactory const* M);

}  // namespace tcsolve
