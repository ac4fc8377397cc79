// SPDX-License-Identifier: Apache-2.0
/// When the host saw how many steps of a running loop were done. The steps between two such moments
/// are taken to last equally long; no step waits for its time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// At most 256 moments, evenly spread: where they are full, every second one goes and the next ones
/// are twice as far apart. Takes no memory from the heap.
class Moments {
 public:
  /// A run begins, with no step done, `seconds` after the solve did.
  void begin(double seconds) {
    spacing_ = first_spacing;
    count_ = 1;
    seen_[0] = end_ = {0, seconds};
  }
  /// `steps` are done. Cost: a comparison, but for one call in many.
  void note(Index steps, double seconds) {
    if (seconds < seen_[count_ - 1].seconds + spacing_ || steps <= seen_[count_ - 1].steps) return;
    if (count_ == most) thin_out();
    seen_[count_++] = {steps, seconds};
  }
  void end(Index steps, double seconds) { end_ = {steps, seconds}; }

  /// Seconds of the solve after so many steps, at most those that end() was given.
  double at(Index steps) const {
    auto const* const last = seen_.data() + count_;
    auto const* const next = std::upper_bound(seen_.data(), last, steps,
                                              [](Index s, Moment const& m) { return s < m.steps; });
    Moment const before = next[-1], after = next == last ? end_ : *next;
    if (after.steps <= before.steps) return std::max(before.seconds, after.seconds);
    double const part = double(steps - before.steps) / double(after.steps - before.steps);
    return before.seconds + std::min(part, 1.0) * (after.seconds - before.seconds);
  }

 private:
  static constexpr std::size_t most = 256;
  static constexpr double first_spacing = 1e-4;  // seconds
  struct Moment {
    Index steps;
    double seconds;
  };
  void thin_out() {
    for (std::size_t k = 1; 2 * k < most; ++k) seen_[k] = seen_[2 * k];
    count_ = most / 2;
    spacing_ *= 2;
  }
  std::array<Moment, most> seen_{};
  std::size_t count_ = 1;
  Moment end_{};
  double spacing_ = first_spacing;
};

}  // namespace tcsolve
