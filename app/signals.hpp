// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C: the first asks the solve to stop, the second ends the program. And a limit on file
/// sizes.
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

/// A write beyond `ulimit -f` fails with an error that can be told, instead of ending the program.
void file_size_limit_is_an_error();

}  // namespace tcsolve
