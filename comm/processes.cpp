// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/processes.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>
#include <vector>

#include <tcsolve/comm/board.hpp>
#include <tcsolve/core/timed.hpp>

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

using Clock = std::chrono::steady_clock;

struct Child {
  pid_t pid;
  int code = -1;                            // -1: it runs
  bool killed = false;                      // ended by a signal
  std::optional<Clock::time_point> halted;  // by SIGSTOP, since then
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

/// Those that have ended since the last look, or have been stopped for too long: a rank that is at
/// work tells the others so, and goes on telling it while it stands still.
void look_after(std::vector<Child>& children, Board& board) {
  for (std::size_t r = 0; r < children.size(); ++r) {
    Child& child = children[r];
    int const rank = static_cast<int>(r);
    int status = 0;
    while (child.code < 0 &&
           waitpid(child.pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == child.pid) {
      if (WIFSTOPPED(status)) {
        child.halted = Clock::now();
      } else if (WIFCONTINUED(status)) {
        child.halted.reset();
      } else {
        child.killed = !WIFEXITED(status);
        child.code = child.killed ? 5 : WEXITSTATUS(status);
        if (!board.has_left(rank)) board.fail(rank, how_it_ended(status));
      }
    }
    // Those that wait for it have the first word.
    constexpr double later = 1;
    if (child.code < 0 && child.halted && seconds_since(*child.halted) > board.timeout() + later)
      board.fail(rank, cat("its process has been stopped for more than ", board.timeout(),
                           " s (ranks.timeout)"));
  }
}

void tell(std::vector<Child> const& children, int signal) {
  for (Child const& child : children)
    if (child.code < 0) kill(child.pid, signal);
}

/// After a failure the others leave by themselves. Rank 0 writes what there is; one that stands
/// still does nothing any more.
void end_those_left(std::vector<Child> const& children, double since, double timeout) {
  for (std::size_t r = 0; r < children.size(); ++r) {
    Child const& child = children[r];
    double const grace = child.halted ? 0 : r == 0 ? timeout : std::min(timeout, 2.0);
    if (child.code < 0 && since > grace) kill(child.pid, SIGKILL);
  }
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
  std::optional<Clock::time_point> failed;
  timespec pause{0, 200'000};
  while (some_run(children)) {
    look_after(children, board);
    if (arrived != 0) {
      tell(children, arrived);
      arrived = 0;
    }
    if (!failed && board.failed()) failed = Clock::now();
    if (failed) end_those_left(children, seconds_since(*failed), timeout);
    nanosleep(&pause, nullptr);
    if (pause.tv_nsec < 5'000'000) pause.tv_nsec += pause.tv_nsec / 8;
  }
  if (children.front().killed) try {  // which speaks for all
      board.check();
    } catch (std::exception const& e) { std::cerr << "tcsolve: " << e.what() << std::endl; }
  return children.front().code;
}

}  // namespace tcsolve
