// SPDX-License-Identifier: Apache-2.0
/// M of a matrix over ranks, made and applied by rank 0 as by the only one there is:
///
///     A, all rows --> rank 0: M         once, and for new values
///     r of all    --> rank 0: z = M r   each application
///     z's rows    <-- rank 0
///
/// The halo of rank 0 is all rows of the others (distributed/halo.hpp).
#pragma once

#include <memory>
#include <string>

#include <tcsolve/precond/over_ranks.hpp>
#include <tcsolve/precond/system.hpp>

namespace tcsolve {

/// Rows that one rank gathers at the most.
constexpr std::int64_t most_gathered_rows = 2'000'000;

/// By `inside`, which outlives it not. Every rank calls it. Throws Unsupported for more rows than
/// most_gathered_rows, ShapeError where A is not square, and what `inside` throws, on all ranks.
std::unique_ptr<Preconditioner> on_one_rank(Context&, System const&, std::string name,
                                            std::shared_ptr<PreconditionerFactory const> inside);

}  // namespace tcsolve
