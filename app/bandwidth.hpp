// SPDX-License-Identifier: Apache-2.0
/// The memory bandwidth of the backend, to compare a solve with.
#pragma once

#include <tcsolve/core/context.hpp>

namespace tcsolve {

/// Bytes per second, read and written, of the fastest of a few copies of a vector of `bytes / 2`
/// bytes, or a little more than what caches hold, whichever is less. Takes some milliseconds.
double measure_bandwidth(Context&, double bytes);

}  // namespace tcsolve
