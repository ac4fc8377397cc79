// SPDX-License-Identifier: Apache-2.0
/// `tcsolve sweep FILE`: many runs, and what they have in common on one page.
#pragma once

#include <tcsolve/app/arguments.hpp>
#include <tcsolve/app/config/registries.hpp>

namespace tcsolve {

/// Runs every problem with every setting of the file, each as `tcsolve CONFIG --repeat N` would, in
/// a process of its own, and writes sweep.csv, sweep.jsonl and sweep.html into `output.directory`.
/// A run that is there already, of this program on this machine and of inputs that have not changed
/// since, is kept: a sweep that was stopped goes on. Answers the least of the runs' exit codes, 3
/// where a signal has stopped it. Throws what keeps it from beginning.
int sweep(Arguments const&, Registries const&);

}  // namespace tcsolve
