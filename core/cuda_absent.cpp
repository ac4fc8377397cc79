// SPDX-License-Identifier: Apache-2.0
/// The device half of the core in a build without CUDA.
#include <tcsolve/core/device.hpp>
#include <tcsolve/core/device_energy.hpp>
#include <tcsolve/core/device_links.hpp>
#include <tcsolve/core/device_speeds.hpp>
#include <tcsolve/core/own_stream.hpp>
#include <tcsolve/core/ranges.hpp>
#include <tcsolve/core/stream_clock.hpp>

namespace tcsolve::cuda {

class Device {};

namespace {
[[noreturn]] void absent() { throw NotBuilt("cuda"); }
}  // namespace

bool available(std::string& why, int) {
  why = "this build has no CUDA";
  return false;
}
std::shared_ptr<Device> open(int) { absent(); }
Facts facts(Device&) { absent(); }
Speeds speeds(Device&) { absent(); }
bool shared(Device const&) { absent(); }
Space space(Device const&) { absent(); }
std::size_t free_memory(Device&) { absent(); }
std::size_t peak_memory(Device&) { absent(); }
Clocks clocks(Device&) { absent(); }
double consumed_joules(Device&) { absent(); }
void synchronize(Device&) { absent(); }
void lend(Device&, Arena*) { absent(); }
void join_ranks(Device&, Communicator&, DeviceTransport, std::vector<std::string>&) { absent(); }
DeviceTransport transport(Device const&) { return DeviceTransport::automatic; }
bool sums_in_graphs(Device const&) { return true; }
void begin_exchange(Device&, std::span<Communicator::Outgoing const>,
                    std::span<Communicator::Incoming const>) {
  absent();
}
void end_exchange(Device&) { absent(); }
void leave_ranks(Device&) noexcept {}
bool reaches(int, int) noexcept { return false; }
void refuse_peer_access(bool) noexcept {}
void sum_over_ranks(Device&, bool) noexcept {}
Current::Current(Device const&) { absent(); }
Current::Current(int) { absent(); }
Current::~Current() = default;
void* stream(Device&) { absent(); }
void wait_for(Device&, void*) { absent(); }
void let_wait(Device&, void*) noexcept {}
OwnStream::OwnStream(int) : ordinal_(0) { absent(); }
OwnStream::~OwnStream() = default;
void OwnStream::synchronize() const { absent(); }
void* allocate(Space, std::size_t) { absent(); }
void release(Space, void*) noexcept {}
void* allocate_pinned(std::size_t) { absent(); }
void release_pinned(void*) noexcept {}
void copy(Device&, void*, void const*, std::size_t) { absent(); }
void copy_aside(Device&, void*, void const*, std::size_t) { absent(); }
RangeListener* profiler() noexcept { return nullptr; }
struct StreamClock::Events {};
StreamClock::StreamClock(Device&) { absent(); }
StreamClock::~StreamClock() = default;
bool StreamClock::mark() { absent(); }
std::vector<double> StreamClock::seconds() { absent(); }

}  // namespace tcsolve::cuda
