// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/faults.hpp>

#include <algorithm>
#include <atomic>
#include <limits>

namespace tcsolve::faults {

namespace {

/// Counts down to the one call that fails; below zero it rests. Costs a load where it rests.
class Countdown {
 public:
  void set(std::int64_t n) { left_.store(n < 0 ? -1 : n, std::memory_order_relaxed); }
  bool pending() const { return left_.load(std::memory_order_relaxed) >= 0; }
  bool due() {
    if (left_.load(std::memory_order_relaxed) < 0) return false;
    return left_.fetch_sub(1, std::memory_order_relaxed) == 0;
  }

 private:
  std::atomic<std::int64_t> left_{-1};
};

Countdown allocations, device_calls;
constexpr auto no_limit = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> available{no_limit};
std::atomic<bool> no_conditional_nodes{false}, no_cooperative_launches{false};
std::atomic<unsigned> failing_transports{0};

}  // namespace

void fail_allocation_after(std::int64_t n) { allocations.set(n); }
void fail_device_call_after(std::int64_t n) { device_calls.set(n); }
void limit_available_memory(std::int64_t bytes) { available = bytes < 0 ? no_limit : bytes; }
void forget_conditional_nodes(bool yes) { no_conditional_nodes = yes; }
void refuse_cooperative_launches(bool yes) { no_cooperative_launches = yes; }
void fail_transports(unsigned bits) { failing_transports = bits; }

bool pending() { return allocations.pending() || device_calls.pending(); }

bool allocation_fails() { return allocations.due(); }
bool device_call_fails() { return device_calls.due(); }
std::int64_t available_at_most(std::int64_t bytes) { return std::min(bytes, available.load()); }
bool conditional_nodes_forgotten() { return no_conditional_nodes; }
bool cooperative_launches_refused() { return no_cooperative_launches; }
bool transport_fails(int which) { return (failing_transports >> which & 1) != 0; }

}  // namespace tcsolve::faults
