// SPDX-License-Identifier: Apache-2.0
/// Seconds between points in the order of a device's work.
#pragma once

#include <memory>
#include <vector>

#include <tcsolve/core/device.hpp>

namespace tcsolve::cuda {

/// Points of the Device's stream, by events: the host does not wait at one. Cost: about 1 us each.
class StreamClock {
 public:
  explicit StreamClock(Device&);
  ~StreamClock();
  StreamClock(StreamClock const&) = delete;
  StreamClock& operator=(StreamClock const&) = delete;

  /// A point after all that has been submitted. False, and no point, while the stream is captured.
  bool mark();
  /// Seconds between each point and the next one, from the last point of the call before on. Waits
  /// for the last point.
  std::vector<double> seconds();

 private:
  struct Events;
  std::unique_ptr<Events> events_;
};

}  // namespace tcsolve::cuda
