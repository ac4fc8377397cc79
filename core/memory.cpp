// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/core/device.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/core/host_memory.hpp>

namespace tcsolve {

namespace {

constexpr std::align_val_t alignment{256};

std::atomic<std::int64_t> allocations{0}, releases{0}, copied_bytes{0}, copies{0};
std::atomic<std::int64_t> host_bytes{0}, most_host_bytes{0};

void count_on_host(void* p, int sign) {
  auto const bytes = sign * static_cast<std::int64_t>(malloc_usable_size(p));
  std::int64_t const now = host_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t most = most_host_bytes.load(std::memory_order_relaxed);
  while (now > most && !most_host_bytes.compare_exchange_weak(most, now)) {}
}

void* allocate_on_host(std::size_t bytes) {
  void* p = ::operator new(bytes, alignment, std::nothrow);
  if (p == nullptr)
    throw MemoryError(cat("out of memory: ", bytes, " bytes more are not available on the host"));
  count_on_host(p, 1);
  return p;
}

}  // namespace

MemoryCounters memory_counters() {
  return {allocations, releases, copied_bytes, copies, host_bytes, most_host_bytes};
}
void forget_host_peak() { most_host_bytes = host_bytes.load(); }

void* allocate(Space space, std::size_t bytes) {
  if (faults::allocation_fails())
    throw MemoryError(cat(name(space), " memory: ", bytes, " bytes are refused, as a test asked"));
  void* p = space == Space::host ? allocate_on_host(bytes) : cuda::allocate(space, bytes);
  allocations.fetch_add(1, std::memory_order_relaxed);
  return p;
}

void release(Space space, void* p) noexcept {
  if (p == nullptr) return;
  releases.fetch_add(1, std::memory_order_relaxed);
  if (space != Space::host) return cuda::release(space, p);
  count_on_host(p, -1);
  ::operator delete(p, alignment);
}

void* Arena::take(std::size_t bytes) {
  bytes = (bytes + 255) / 256 * 256;
  // The next chunk that holds the request; a chunk too small is skipped, not split.
  while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size()) ++chunk_, used_ = 0;
  if (chunk_ == chunks_.size()) {
    std::size_t const least = std::max(bytes, std::size_t{1} << 20);
    try {
      chunks_.emplace_back(space_, std::max(least, wanted_));
    } catch (MemoryError const&) {
      if (wanted_ <= least) throw;
      chunks_.emplace_back(space_, least);
    }
    wanted_ = 0;
    used_ = 0;
  }
  void* p = chunks_[chunk_].data() + used_;
  used_ += bytes;
  return p;
}

void Arena::close(std::size_t chunk, std::size_t used) noexcept {
  chunk_ = chunk;
  used_ = used;
  if (--open_ > 0 || kept_ || chunks_.size() < 2) return;
  wanted_ = bytes();
  chunks_.clear();
}

void Arena::trim() noexcept {
  if (open_ > 0 || kept_) return;
  chunks_.clear();
  wanted_ = 0;
}

std::size_t Arena::bytes() const {
  std::size_t sum = 0;
  for (auto const& chunk : chunks_) sum += chunk.size();
  return sum;
}

std::size_t Arena::idle_bytes() const noexcept { return open_ > 0 || kept_ ? 0 : bytes(); }

void copy_bytes(Context& ctx, void* to, Space to_space, void const* from, Space from_space,
                std::size_t bytes) {
  if (bytes == 0) return;
  copied_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  copies.fetch_add(1, std::memory_order_relaxed);
  if (to_space == Space::host && from_space == Space::host) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (ctx.device() == nullptr)
    throw ShapeError(
        "a host Context cannot reach device memory; open the Context with Backend::cuda");
  Context::Entry const entry(ctx);
  cuda::copy(*ctx.device(), to, from, bytes);
}

std::size_t Context::cache_bytes() const {
  return device_ ? cuda::facts(*device_).l2 : std::numeric_limits<std::size_t>::max();
}

std::size_t Context::available_memory() const {
  std::size_t const free =
      device_ ? cuda::free_memory(*device_) : static_cast<std::size_t>(tcsolve::available_memory());
  return static_cast<std::size_t>(
      faults::available_at_most(static_cast<std::int64_t>(free + arena_.idle_bytes())));
}

}  // namespace tcsolve
