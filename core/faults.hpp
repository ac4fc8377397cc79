// SPDX-License-Identifier: Apache-2.0
/// For tests of the core: counts of allocations and copies, and faults injected at a chosen place.
/// The counts and the faults are the process's, of all threads and Contexts.
#pragma once

#include <cstdint>

namespace tcsolve {

struct MemoryCounters {
  std::int64_t allocations = 0, releases = 0;  ///< of Arrays, on the host and on devices
  std::int64_t copied_bytes = 0;               ///< by copy_bytes(), in any direction ...
  std::int64_t copies = 0;                     ///< ... and how often: on a device each is a wait
  std::int64_t host_bytes = 0;                 ///< of Arrays on the host, now ...
  std::int64_t most_host_bytes = 0;            ///< ... and at the most, since forget_host_peak()

  std::int64_t live() const { return allocations - releases; }
};
MemoryCounters memory_counters();
void forget_host_peak();

namespace faults {

/// `n` more allocations succeed, the one after them throws MemoryError; negative: none does.
void fail_allocation_after(std::int64_t n);
/// `n` more device calls succeed, the one after them is reported as a launch failure (DeviceError),
/// once; negative: none is.
void fail_device_call_after(std::int64_t n);
/// Whether no injected fault has occurred yet.
bool pending();
/// At most so many bytes are said to be available, on the host and on devices, from now on;
/// negative: what there is.
void limit_available_memory(std::int64_t bytes);
/// The driver has no conditional graph nodes from now on.
void forget_conditional_nodes(bool);
/// No cooperative kernel fits the device from now on.
void refuse_cooperative_launches(bool);
/// What joins devices of ranks brings wrong numbers when it is tried out: bit k, of
/// DeviceTransport(k).
void fail_transports(unsigned bits);

// Called by the core.
bool allocation_fails();
bool device_call_fails();
/// The lesser of `bytes` and the limit.
std::int64_t available_at_most(std::int64_t bytes);
bool conditional_nodes_forgotten();
bool cooperative_launches_refused();
bool transport_fails(int which);

}  // namespace faults

}  // namespace tcsolve
