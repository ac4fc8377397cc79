// SPDX-License-Identifier: Apache-2.0
/// What a run over ranks needs before its matrix: the memory of each rank, and a trial of the
/// config.
#pragma once

#include <vector>

#include <tcsolve/app/config/memory_plan.hpp>
#include <tcsolve/comm/ranks.hpp>

namespace tcsolve {

/// Rank 0's, which has looked at the files, on all; called by each rank, with nothing on the
/// others.
ProblemSize told_size(Ranks&, ProblemSize const& of_rank_0);

/// The memory that each rank takes, called by each with its own Context and parts. Rank 0 has the
/// whole matrix for a while, unless ranks read their rows and no other order is looked for.
std::vector<MemoryPlan> plan_memory_of_ranks(Context const&, SolverParts const&, RunConfig const&,
                                             ProblemSize const&);
/// Called by each rank: throws MemoryError, on all and with the number of one, where a device has
/// no room, or a host none for all ranks on it together.
void require_room(Ranks&, std::vector<MemoryPlan> const&);

/// Tries the config on a small definite matrix with as many more rows than columns, and throws what
/// the run would throw whatever its matrix holds: a format without the transpose that the solver
/// asks for, keys that exclude each other, what is refused over ranks. Called by each rank. Writes
/// nothing.
void rehearse(Context const& like, RunConfig const&, ProblemSize const&);

}  // namespace tcsolve
