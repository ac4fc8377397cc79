// SPDX-License-Identifier: Apache-2.0
/// `tcsolve CONFIG`: from a config to a verdict and its files.
#pragma once

#include <tcsolve/app/arguments.hpp>
#include <tcsolve/app/config/registries.hpp>
#include <tcsolve/app/config/run_config.hpp>
#include <tcsolve/comm/ranks.hpp>

namespace tcsolve {

/// The exit code of the outcome. Throws what keeps a run from beginning or ends it before there is
/// an outcome; once the config is read and the output directory is there, result.json says so too.
/// A failing set-up and memory that runs out are outcomes.
int solve_run(Arguments const&, Registries const&);
/// The same for a config that has been read; of the arguments count those that are no keys. Where
/// it asks for ranks they are processes that this one starts, and it must have no threads yet.
int solve_run(Arguments const&, ParsedConfig);
/// The run of one process; of several `ranks` that of rank 0, with which the others follow().
int solve_as(Arguments const&, ParsedConfig, Ranks* ranks);

}  // namespace tcsolve
