// SPDX-License-Identifier: Apache-2.0
/// The many small systems of a run.
#pragma once

#include <tcsolve/app/config/problem.hpp>
#include <tcsolve/matrix/csr_batch.hpp>

namespace tcsolve {

/// As problem_size(), of all systems together. Throws SizeError beyond 2^31 - 1 rows.
ProblemSize batch_size(ParsedConfig const&);

/// The systems of `problem.batch`, one after another. Throws as load_problem(), ShapeError for a
/// matrix that is not square.
CsrBatch load_batch(ParsedConfig const&, CancelFlag cancel);

}  // namespace tcsolve
