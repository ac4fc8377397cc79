// SPDX-License-Identifier: Apache-2.0
/// Copies between host and device. Large ones from pageable memory go by way of pinned pieces: the
/// driver's own staging runs in one thread, at a sixth of what the bus carries.
///
///     host memory     | 0 | 1 | 2 | 3 | 4 | 5 | ...     pieces, taken by worker threads in turn
///       memcpy
///     pinned memory   a worker has two: it fills one while the other one travels
///       cudaMemcpyAsync
///     device memory   | 0 | 1 | 2 | 3 | 4 | 5 | ...     all in the Device's stream
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include <tcsolve/core/cuda/captures.hpp>
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/rank_link.hpp>
#include <tcsolve/core/parallel.hpp>

namespace tcsolve::cuda {
namespace {

/// The pinned pieces of the process, for one upload at a time; never given back, since cudaFreeHost
/// waits for the device.
class Stage {
 public:
  static constexpr std::size_t piece = std::size_t{1} << 20;
  static constexpr int most_workers = 8, each = 2;
  static Stage& all() {
    static Stage& stage = *new Stage;
    return stage;
  }
  /// False where another thread is using it, or pinned memory is short.
  bool take() {
    if (!busy_.try_lock()) return false;
    if (memory_ == nullptr) {
      BesideCaptures const beside;
      void* p = nullptr;
      if (cudaHostAlloc(&p, piece * most_workers * each, cudaHostAllocPortable) != cudaSuccess) {
        cudaGetLastError();
        busy_.unlock();
        return false;
      }
      memory_ = static_cast<std::byte*>(p);
    }
    return true;
  }
  void give_back() { busy_.unlock(); }
  std::byte* slot(int worker, int k) { return memory_ + piece * (worker * each + k); }

 private:
  std::mutex busy_;
  std::byte* memory_ = nullptr;
};

/// Of memory that the driver would stage itself.
bool is_pageable(void const* p) {
  cudaPointerAttributes of{};
  if (cudaPointerGetAttributes(&of, p) == cudaSuccess) return of.type == cudaMemoryTypeUnregistered;
  cudaGetLastError();
  return false;
}

/// Where the copy of a slot ends.
struct Landed {
  Landed() { check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); }
  ~Landed() { cudaEventDestroy(event); }
  Landed(Landed const&) = delete;
  cudaEvent_t event = nullptr;
};

/// False where it is not for pinned pieces: nothing is copied then.
bool staged(Device& on, std::byte* to, std::byte const* from, std::size_t bytes) {
  constexpr std::size_t least = 12 * Stage::piece;  // below it threads take longer to begin
  int const workers = std::min(thread_count(0), Stage::most_workers);
  if (bytes < least || workers < 2 || !is_pageable(from) || captured(on.stream)) return false;
  Stage& stage = Stage::all();
  if (!stage.take()) return false;
  struct GiveBack {
    Stage& stage;
    ~GiveBack() { stage.give_back(); }
  } const give_back{stage};
  std::vector<std::unique_ptr<Landed>> landed;
  for (int k = 0; k < workers * Stage::each; ++k) landed.push_back(std::make_unique<Landed>());
  std::array<int, Stage::most_workers> turns{};
  auto const pieces = static_cast<std::int64_t>((bytes + Stage::piece - 1) / Stage::piece);
  // Also where a worker throws: no copy may read a slot that the next upload fills.
  struct Wait {
    cudaStream_t stream;
    ~Wait() { cudaStreamSynchronize(stream); }
  } const wait{on.stream};
  parallel_tasks(workers, pieces, [&](std::int64_t i, int worker) {
    Current const current(on);
    int const k = turns[static_cast<std::size_t>(worker)]++ % Stage::each;
    cudaEvent_t const event = landed[static_cast<std::size_t>(worker * Stage::each + k)]->event;
    check(cudaEventSynchronize(event));  // at once where nothing was recorded
    std::size_t const begin = static_cast<std::size_t>(i) * Stage::piece;
    std::size_t const size = std::min(Stage::piece, bytes - begin);
    std::memcpy(stage.slot(worker, k), from + begin, size);
    check(cudaMemcpyAsync(to + begin, stage.slot(worker, k), size, cudaMemcpyHostToDevice,
                          on.stream));
    check(cudaEventRecord(event, on.stream));
  });
  check(cudaStreamSynchronize(on.stream));
  return true;
}

void copy_in(Device& on, cudaStream_t stream, void* to, void const* from, std::size_t bytes) {
  // A copy to memory that is not pinned waits within the driver: what comes before it is waited for
  // where failed ranks are seen.
  if (on.link && stream == on.stream) wait(on, stream);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  check(cudaStreamSynchronize(stream));
}

}  // namespace

void copy(Device& on, void* to, void const* from, std::size_t bytes) {
  Current const current(on);
  if (staged(on, static_cast<std::byte*>(to), static_cast<std::byte const*>(from), bytes)) return;
  copy_in(on, on.stream, to, from, bytes);
}

void copy_aside(Device& on, void* to, void const* from, std::size_t bytes) {
  Current const current(on);
  copy_in(on, on.side_stream, to, from, bytes);
}

}  // namespace tcsolve::cuda
