// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/core/device.hpp>
#include <tcsolve/core/host_memory.hpp>

namespace tcsolve {

namespace {
constexpr std::align_val_t alignment{256};
}

void* allocate(Space space, std::size_t bytes) {
  if (space == Space::cuda) return cuda::allocate(bytes);
  void* p = ::operator new(bytes, alignment, std::nothrow);
  if (p == nullptr) throw MemoryError(cat("host memory: ", bytes, " bytes are not available"));
  return p;
}

void release(Space space, void* p) noexcept {
  if (p == nullptr) return;
  if (space == Space::cuda)
    cuda::release(p);
  else
    ::operator delete(p, alignment);
}

void* Arena::take(std::size_t bytes) {
  bytes = (bytes + 255) / 256 * 256;
  // The next chunk that holds the request; a chunk too small is skipped, not split.
  while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size()) ++chunk_, used_ = 0;
  if (chunk_ == chunks_.size()) {
    chunks_.emplace_back(space_, std::max<std::size_t>(bytes, std::size_t{1} << 20));
    used_ = 0;
  }
  void* p = chunks_[chunk_].data() + used_;
  used_ += bytes;
  return p;
}

void copy_bytes(Context& ctx, void* to, Space to_space, void const* from, Space from_space,
                std::size_t bytes) {
  if (bytes == 0) return;
  if (to_space == Space::host && from_space == Space::host) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (ctx.device() == nullptr)
    throw ShapeError(
        "a host Context cannot reach device memory; open the Context with Backend::cuda");
  cuda::copy(*ctx.device(), to, from, bytes);
}

std::size_t Context::cache_bytes() const {
  return device_ ? cuda::facts(*device_).l2 : std::numeric_limits<std::size_t>::max();
}

std::size_t Context::available_memory() const {
  return device_ ? cuda::free_memory(*device_)
                 : static_cast<std::size_t>(tcsolve::available_memory());
}

}  // namespace tcsolve
