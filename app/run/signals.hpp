// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C: the first asks the solve to stop, the second ends the program. And a limit on file
/// sizes.
#pragma once

#include <tcsolve/core/context.hpp>

#include <sys/types.h>

#include <array>
#include <csignal>

namespace tcsolve {

/// The signals by which people and batch queues end a program, handled in another way while this
/// lives. One that is ignored stays so, as SIGHUP under nohup.
class SignalsHandled {
 public:
  using Handler = void (*)(int);
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
  explicit SignalsHandled(Handler handler);
  ~SignalsHandled();
  SignalsHandled(SignalsHandled const&) = delete;
  SignalsHandled& operator=(SignalsHandled const&) = delete;

 private:
  std::array<Handler, signals.size()> before_{};  ///< what they did
};

/// While it lives, these signals call ctx.cancel(); another one half a second after that or later
/// has its usual effect, but for SIGXCPU, which the kernel repeats until the hard limit. Rank 0
/// alone says so. At most one lives at a time.
class CancelOnSignal {
 public:
  explicit CancelOnSignal(Context& ctx);
  ~CancelOnSignal();

 private:
  SignalsHandled handled_;
};

/// While it lives, the first of these signals is passed on to the process that runs aside, and the
/// second ends it. At most one lives at a time.
class PassSignalsOn {
 public:
  PassSignalsOn();
  ~PassSignalsOn();
  /// One has come.
  bool asked() const;
  /// Forks, unless one has come: 0 in the new process, which hears signals as usual again, -1 where
  /// there is none.
  pid_t fork();
  /// The process that was forked has ended.
  void ended();

 private:
  SignalsHandled handled_;
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
