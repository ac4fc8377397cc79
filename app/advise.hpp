// SPDX-License-Identifier: Apache-2.0
/// `tcsolve advise MATRIX [RHS]`.
#pragma once

#include <tcsolve/app/arguments.hpp>

#include <string>

namespace tcsolve {

/// The configurations that the matrix admits, raced and ranked (api/ranking.hpp), with times,
/// iterations and memory, and the first of them as a config writes it; JSON with --json. Throws as
/// read_matrix() and ranking().
std::string advise(Arguments const&);

}  // namespace tcsolve
