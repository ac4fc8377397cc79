// SPDX-License-Identifier: Apache-2.0
/// The memory bandwidth of the backend, to compare a solve with.
#pragma once

#include <tcsolve/core/context.hpp>

namespace tcsolve {

/// Whether an iteration that moves so many bytes goes to memory at all: on a device, where they are
/// more than its L2 cache, on the host, where they are more than 32 MiB. Of a smaller one the time
/// is that of caches and barriers, and a comparison with the memory's bandwidth says nothing.
bool beyond_caches(Context const&, double bytes_per_iteration);

/// Of the vectors that measure_bandwidth() takes.
double bandwidth_bytes(Context const&);

/// Bytes per second, read and written, of a pass t = x + 2 d over vectors of 128 MiB in all (on a
/// device 512 MiB), the median of nine. Takes a tenth of a second on the host. Throws MemoryError.
double measure_bandwidth(Context&);

}  // namespace tcsolve
