// SPDX-License-Identifier: Apache-2.0
/// A listener that times operations one by one.
#pragma once

#include <tcsolve/core/ranges.hpp>
#include <tcsolve/core/recording.hpp>

namespace tcsolve {

/// While it listens to a Context, loops run eagerly, so that each operation has a range of its own.
struct TimingListener : RangeListener {
  /// A step was recorded, in the ranges that it has heard of: it may give the commands other names,
  /// by which it knows them when they run and the ranges around them are gone.
  virtual void recorded(Recording&) = 0;
};

}  // namespace tcsolve
