// SPDX-License-Identifier: Apache-2.0
/// The memory bandwidth of the backend, to compare a solve with.
#pragma once

#include <tcsolve/core/context.hpp>

namespace tcsolve {

/// Bytes per second, read and written, of the fastest of a few passes t = x + 2 d over vectors of
/// `bytes` in all, or a little more than what caches hold, whichever is less. Takes milliseconds.
double measure_bandwidth(Context&, double bytes);

}  // namespace tcsolve
