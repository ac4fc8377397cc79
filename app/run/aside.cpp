// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/aside.hpp>

#include <tcsolve/app/failure.hpp>
#include <tcsolve/core/error.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

namespace tcsolve {

ProcessEnd run_aside(PassSignalsOn& signals, std::filesystem::path const& log,
                     std::function<int()> const& f) {
  int const out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0) throw Error(cat(log.string(), ": cannot be written: ", std::strerror(errno)));
  std::cout.flush();  // or the copy would print it again
  errno = 0;
  pid_t const child = signals.fork();
  if (child == 0) {
    if (int const none = ::open("/dev/null", O_RDONLY); none >= 0) ::dup2(none, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    int const code = guarded(f);
    std::cout.flush();
    ::_exit(code);
  }
  int const failed = errno;
  ::close(out);
  if (child < 0) {
    if (signals.asked()) return {};
    throw Error(cat("a process for the run cannot be made: ", std::strerror(failed)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  signals.ended();
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

}  // namespace tcsolve
