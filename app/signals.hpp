// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C: the first asks the solve to stop, the second ends the program.
#pragma once

#include <tcsolve/core/context.hpp>

namespace tcsolve {

/// While it lives, SIGINT and SIGTERM call ctx.cancel(); another one after that has its usual
/// effect. At most one lives at a time.
class CancelOnSignal {
 public:
  explicit CancelOnSignal(Context& ctx);
  ~CancelOnSignal();
  CancelOnSignal(CancelOnSignal const&) = delete;
  CancelOnSignal& operator=(CancelOnSignal const&) = delete;
};

}  // namespace tcsolve
