// SPDX-License-Identifier: Apache-2.0
/// Ranks that are threads of this process, each with a Context of its own.
#pragma once

#include <functional>

#include <tcsolve/comm/ranks.hpp>

namespace tcsolve {

/// f(ranks) in `count` threads. What one of them throws ends the others, and is rethrown once all
/// have ended; of several that of the first. timeout: Board's.
void run_threads(int count, std::function<void(Ranks&)> const& f, double timeout = 30);

}  // namespace tcsolve
