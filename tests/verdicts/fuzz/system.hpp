// SPDX-License-Identifier: Apache-2.0
/// Small matrices of the kinds that solvers meet, and of those that they should not believe.
#pragma once

#include "tests/verdicts/fuzz/case.hpp"
#include "tests/verdicts/fuzz/draw.hpp"

namespace tcsolve::fuzz {

/// Square, or of any extents for lsmr. `constant`: its nullspace is said to hold the constant
/// vector.
System system(Draw&, bool rectangular, bool& constant);

}  // namespace tcsolve::fuzz
