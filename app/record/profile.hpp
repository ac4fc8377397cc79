// SPDX-License-Identifier: Apache-2.0
/// `--profile`: which part of a solve takes which of its seconds.
///
///     products         A or A^T, with the inner product that some formats fuse with them
///     preconditioner   M; a diagonal M is folded into the updates
///     updates          inner products and updates of vectors
///     verification     b - A x, norms, x + d: what the driver does between runs of the method
///     other            of the host: launches, waits, the way of b and x to a device
///
/// It listens to the ranges of the Context, whose loops run eagerly meanwhile: on the host a clock
/// is read where an operation begins and ends, on a device an event is recorded.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/stream_clock.hpp>
#include <tcsolve/core/timing_listener.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tcsolve {

enum class Part { products, preconditioner, updates, verification, other, outside };
constexpr char const* name(Part part) {
  constexpr std::array<char const*, 6> words{"products",     "preconditioner", "updates",
                                             "verification", "other",          "outside"};
  return words[static_cast<std::size_t>(part)];
}

/// What a part has taken.
struct PartTimes {
  std::int64_t calls = 0;  ///< applications of an operator, or operations
  double seconds = 0;
};

class Profile final : public TimingListener {
 public:
  /// Listens to the Context's ranges, and passes them on, as long as it lives. `operators`: names
  /// of operators that are A; all others are M.
  Profile(Context&, std::vector<std::string> operators);
  ~Profile() override;
  Profile(Profile const&) = delete;
  Profile& operator=(Profile const&) = delete;

  /// Forgets what was counted.
  void restart();
  /// On a device it waits.
  PartTimes const& of(Part);

  void open(char const* name) override;
  void close() noexcept override;
  void recorded(Recording&) override;

 private:
  struct Frame {
    std::string name;
    Part part;
    bool in_cycle;  // of a method's run
    bool decided;   // what is inside belongs to the same part
    bool counted;   // an operation was recorded in it: the first one counts as the application
  };
  Frame frame_of(std::string name);
  void hear_of_recorded(char const* name);
  void tick();
  void drain();

  Context& ctx_;
  RangeListener* const next_;
  std::vector<std::string> operators_;
  std::vector<Frame> stack_;
  std::vector<std::string> heard_;    // names of the operations of the recording in progress
  std::array<PartTimes, 6> times_{};  // by Part
  std::chrono::steady_clock::time_point last_{};
  std::unique_ptr<cuda::StreamClock> clock_;  // null on the host
  std::vector<Part> pending_;                 // of the intervals between its points
  bool running_ = false;                      // there is a point
};

}  // namespace tcsolve
