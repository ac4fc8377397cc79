// SPDX-License-Identifier: Apache-2.0
/// Ranks that are processes of one host, forked by this one, which watches over them:
///
///     parent --fork--> rank 0 .. rank n - 1      they share a Board and have all else for themselves
///       one of them dies         the others are told, and throw RankFailed
///       some do not end then     they are killed, after ranks.timeout
///       a signal to the parent   goes on to all, unless a terminal has sent it to all already
#pragma once

#include <functional>

#include <tcsolve/comm/ranks.hpp>

namespace tcsolve {

/// f(ranks) in `count` processes; its answer is the exit code of its process, and that of rank 0 is
/// returned, 5 where that was killed. f is to catch what it throws and to tell it to Ranks::fail().
/// To be called before this process has threads, or a device. On return all have ended.
int run_processes(int count, double timeout, std::function<int(Ranks&)> const& f);

}  // namespace tcsolve
