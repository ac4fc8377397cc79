// SPDX-License-Identifier: Apache-2.0
/// `tcsolve CONFIG`: from a config to a verdict and its files.
#pragma once

#include <tcsolve/app/arguments.hpp>
#include <tcsolve/app/registries.hpp>

namespace tcsolve {

/// The exit code of the outcome. Throws what keeps a run from beginning; once the output directory
/// is there, a failing set-up and memory that runs out are outcomes, with their result.json.
int solve_run(Arguments const&, Registries const&);

}  // namespace tcsolve
