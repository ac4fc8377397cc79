// SPDX-License-Identifier: Apache-2.0
/// A block of captured iterations, replayed by the host: the other way to keep a loop on the
/// device. For comparison with the WHILE node; not part of the library.
#pragma once

#include <memory>

#include <tcsolve/core/context.hpp>

namespace tcsolve::bench {

class Replay {
 public:
  /// `steps` times what is in `body`, as one graph.
  Replay(Context&, Recording const& body, LoopState* state, int steps);
  ~Replay();
  Replay(Replay const&) = delete;
  /// Starts it once more.
  void launch();
  /// A mark behind all that was started; and whether the device has passed the mark before the
  /// last.
  void mark();
  bool behind() const;

 private:
  struct State;
  std::unique_ptr<State> s_;
};

}  // namespace tcsolve::bench
