// SPDX-License-Identifier: Apache-2.0
/// Host memory that a device reaches.
#include <cstddef>
#include <mutex>
#include <vector>

#include <tcsolve/core/cuda/captures.hpp>
#include <tcsolve/core/cuda/device.hpp>

namespace tcsolve::cuda {

namespace {

/// Pinned memory in pieces of one size, never given back: cudaFreeHost waits for the device.
class PinnedPieces {
 public:
  static constexpr std::size_t piece = 256, at_once = 64;
  static PinnedPieces& all() {
    static PinnedPieces& pieces = *new PinnedPieces;
    return pieces;
  }
  void* take() {
    std::lock_guard<std::mutex> const turn(mutex_);
    if (free_.empty()) {
      BesideCaptures const beside;
      void* p = nullptr;
      check(cudaHostAlloc(&p, piece * at_once, cudaHostAllocMapped | cudaHostAllocPortable));
      made_ += at_once;
      free_.reserve(made_);  // put() does not throw
      for (std::size_t k = 0; k < at_once; ++k)
        free_.push_back(static_cast<std::byte*>(p) + k * piece);
    }
    void* const p = free_.back();
    free_.pop_back();
    return p;
  }
  void put(void* p) noexcept {
    std::lock_guard<std::mutex> const turn(mutex_);
    free_.push_back(p);
  }

 private:
  std::mutex mutex_;
  std::vector<void*> free_;
  std::size_t made_ = 0;
};

}  // namespace

void* allocate_pinned(std::size_t bytes) {
  if (bytes > PinnedPieces::piece)
    throw MemoryError(
        cat("pinned memory: ", bytes, " bytes asked for, a piece has ", PinnedPieces::piece));
  return PinnedPieces::all().take();
}

void release_pinned(void* p) noexcept {
  if (p != nullptr) PinnedPieces::all().put(p);
}

}  // namespace tcsolve::cuda
