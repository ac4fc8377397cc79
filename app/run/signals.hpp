// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C: the first asks the solve to stop, the second ends the program. And a limit on file
/// sizes.
#pragma once

#include <tcsolve/core/context.hpp>

#include <array>
#include <csignal>

namespace tcsolve {

/// While it lives, the signals by which people and batch queues end a program call ctx.cancel();
/// another one after that has its usual effect, but for SIGXCPU, which the kernel repeats until the
/// hard limit. A signal that is ignored stays so, as SIGHUP under nohup. At most one lives at a
/// time.
class CancelOnSignal {
 public:
  explicit CancelOnSignal(Context& ctx);
  ~CancelOnSignal();
  CancelOnSignal(CancelOnSignal const&) = delete;
  CancelOnSignal& operator=(CancelOnSignal const&) = delete;

 private:
  using Handler = void (*)(int);
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
  std::array<Handler, signals.size()> before_{};  ///< what they did
};

/// While it lives, a write to a pipe whose reader is gone fails instead of ending the
/// program.
class IgnoreLostReaders {
 public:
  IgnoreLostReaders();
  ~IgnoreLostReaders();
  IgnoreLostReaders(IgnoreLostReaders const&) = delete;
  IgnoreLostReaders& operator=(IgnoreLostReaders const&) = delete;

 private:
  void (*before_)(int);  ///< what SIGPIPE did before
};

/// A write beyond `ulimit -f` fails with an error that is reported, instead of ending the program.
void file_size_limit_is_an_error();

}  // namespace tcsolve
