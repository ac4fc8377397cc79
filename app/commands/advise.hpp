// SPDX-License-Identifier: Apache-2.0
/// `tcsolve advise MATRIX [RHS]`.
#pragma once

#include <tcsolve/app/arguments.hpp>
#include <tcsolve/app/config/registries.hpp>

namespace tcsolve {

/// Prints the configurations that the matrix admits, raced and ranked (api/ranking.hpp), with
/// times, iterations and memory, and the first of them as a whole config; JSON with --json.
/// Progress goes to standard error. The exit code is 0 where a method converged; else 3 where the
/// time was up, and 4 where none works; after a signal 3, with the ranking so far. Throws as
/// matrix_run(), load_problem() and ranking().
int advise(Arguments const&, Registries const&);

}  // namespace tcsolve
