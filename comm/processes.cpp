// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/processes.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>
#include <vector>

#include <tcsolve/comm/board.hpp>

namespace tcsolve {
namespace {

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
volatile sig_atomic_t arrived = 0;

void note(int signal, siginfo_t* from, void*) {
  // A terminal, and a limit, ask the children themselves.
  if (from->si_code != SI_KERNEL) arrived = signal;
}

/// Signals are noted while it lives; release() is what a child does.
class SignalsNoted {
 public:
  SignalsNoted() {
    arrived = 0;
    struct sigaction action {};
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (std::size_t k = 0; k < passed_on.size(); ++k) {
      sigaction(passed_on[k], nullptr, &before_[k]);
      if (before_[k].sa_handler != SIG_IGN) sigaction(passed_on[k], &action, nullptr);
    }
  }
  ~SignalsNoted() { release(); }
  void release() {
    for (std::size_t k = 0; k < passed_on.size(); ++k)
      sigaction(passed_on[k], &before_[k], nullptr);
  }

 private:
  std::array<struct sigaction, passed_on.size()> before_{};
};

struct Child {
  pid_t pid;
  int code = -1;  // -1: it runs
};

[[noreturn]] void be_child(Board& board, int rank, std::function<int(Ranks&)> const& f) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  int code = 6;
  {
    BoardRank own(board, rank);
    code = f(own);
    std::cout.flush();
    std::fflush(nullptr);
  }
  _exit(code);  // what the parent has set up is not this process's to take apart
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return cat("its process was ended by signal ", WTERMSIG(status), " (",
               strsignal(WTERMSIG(status)), ")");
  return cat("its process ended with code ", WEXITSTATUS(status));
}

/// Those that have ended since the last look.
void look_after(std::vector<Child>& children, Board& board) {
  for (std::size_t r = 0; r < children.size(); ++r) {
    Child& child = children[r];
    int status = 0;
    if (child.code >= 0 || waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    child.code = WIFEXITED(status) ? WEXITSTATUS(status) : 5;
    int const rank = static_cast<int>(r);
    if (!board.has_left(rank)) board.fail(rank, how_it_ended(status));
  }
}

void tell(std::vector<Child> const& children, int signal) {
  for (Child const& child : children)
    if (child.code < 0) kill(child.pid, signal);
}

bool some_run(std::vector<Child> const& children) {
  for (Child const& child : children)
    if (child.code < 0) return true;
  return false;
}

}  // namespace

int run_processes(int count, double timeout, std::function<int(Ranks&)> const& f) {
  Board board(count, timeout);
  std::cout.flush();
  std::fflush(nullptr);
  SignalsNoted signals;
  std::vector<Child> children;
  for (int rank = 0; rank < count; ++rank) {
    pid_t const pid = fork();
    if (pid == 0) {
      signals.release();
      be_child(board, rank, f);
    }
    if (pid < 0) {
      tell(children, SIGKILL);
      while (some_run(children)) look_after(children, board);
      throw MemoryError(cat("no process for rank ", rank, ": ", std::strerror(errno)));
    }
    children.push_back({pid});
  }
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> failed;
  timespec pause{0, 200'000};
  while (some_run(children)) {
    look_after(children, board);
    if (arrived != 0) {
      tell(children, arrived);
      arrived = 0;
    }
    if (!failed && board.failed()) failed = Clock::now();
    if (failed && std::chrono::duration<double>(Clock::now() - *failed).count() > timeout)
      tell(children, SIGKILL);
    nanosleep(&pause, nullptr);
    if (pause.tv_nsec < 5'000'000) pause.tv_nsec += pause.tv_nsec / 8;
  }
  return children.front().code;
}

}  // namespace tcsolve
