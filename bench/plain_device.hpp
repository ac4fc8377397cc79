// SPDX-License-Identifier: Apache-2.0
/// What a device does without tcsolve: inner products as others make them, and its copy bandwidth.
/// For comparison only.
#pragma once

#include <cstdint>

#include <tcsolve/core/context.hpp>

namespace tcsolve::bench {

/// *sigma = <x, y>: each block adds its sum to *sigma by a floating-point atomic, so that the bits
/// depend on which block comes first. Two nodes: the sum must be zero first.
void atomic_dot(Context&, std::int64_t n, double const* x, double const* y, double* sigma);
/// The same by cublasDdot, result on the device.
void cublas_dot(Context&, std::int64_t n, double const* x, double const* y, double* sigma);
/// Microseconds of one of `count` calls of f, captured as one graph, median of `repetitions`.
double graph_microseconds(Context&, int count, int repetitions, void (*f)(void*), void* argument);

/// Reads the memory once and keeps nothing of it: what was in the caches before is not there after.
void read_all(cuda::Device& on, std::byte const* data, std::size_t bytes);
/// Bytes read and written a second by a copy of 1 GiB within the device, median of 20.
double copy_bandwidth(Context&);
/// Bytes a second that come from the second-level cache: what 12 MB more of them cost where 24 MB
/// are read again and again.
double cache_bandwidth(Context&);

}  // namespace tcsolve::bench
