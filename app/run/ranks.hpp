// SPDX-License-Identifier: Apache-2.0
/// A run of several processes: rank 0 speaks and writes result.json; the others follow, read their
/// part of a matrix whose file can be cut, and are silent.
#pragma once

#include <functional>

#include <tcsolve/app/arguments.hpp>
#include <tcsolve/app/config/run_config.hpp>
#include <tcsolve/comm/ranks.hpp>

namespace tcsolve {

/// Throws for what ranks cannot do, a batch, a profile, and where GPUs are named that are not for
/// them.
void require_rankable(Arguments const&, RunConfig const&);
/// Where nothing says how many threads a rank has: its share of the processors.
void share_processors(RunConfig&);
/// Called by each rank: all compute on the host, or each on the device of its number on its host,
/// or of its place in `ranks.devices`. Throws DeviceError where `backend: cuda`, that list or a
/// transport asks for devices and one has none, or `peer` for such as do not reach each other.
void take_devices(Ranks&, RunConfig&);
/// Of the only rank: the first of `ranks.devices`.
void take_device(RunConfig&);

/// Of rank 0: the exit code that run() answers, or of what it throws, which standard error is told.
int lead(Ranks&, std::function<int()> const& run);
/// Of another rank: the same, and nothing is said.
int silently(Ranks&, std::function<int()> const& run);
/// Of another rank: sets up and solves with rank 0, or tries the config with it where that is a dry
/// run; 0.
int follow(Ranks&, ParsedConfig, bool dry_run);
/// In a catch clause: the others learn of what is being handled, unless they threw it too.
void tell_others(Ranks&) noexcept;

}  // namespace tcsolve
