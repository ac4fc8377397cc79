// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/launched.hpp>

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include <tcsolve/app/config/run_config.hpp>
#include <tcsolve/app/config/run_input.hpp>
#include <tcsolve/app/failure.hpp>
#include <tcsolve/app/run/ranks.hpp>
#include <tcsolve/app/run/solve_run.hpp>
#include <tcsolve/comm/message_ranks.hpp>
#include <tcsolve/comm/together.hpp>
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/core/parallel.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/version.hpp>

namespace tcsolve {
namespace {

/// MPI, for as long as it lives: the library that has it, and its ranks.
class MpiJob {
 public:
  /// Throws ConfigError with the remedy where there is no such library, or its MPI was not started
  /// by this launcher.
  explicit MpiJob(Launch const& launch) {
    // Open to what MPI itself loads, which some ask for.
    void* const library = dlopen("libtcsolve_mpi.so", RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) refuse(launch, dlerror());
    auto const begin =
        function<Transport*(char const*, char const**)>(library, "tcsolve_mpi_begin");
    end_ = function<void()>(library, "tcsolve_mpi_end");
    if (begin == nullptr || end_ == nullptr) refuse(launch, "it has not the functions it should");
    char const* problem = nullptr;
    std::unique_ptr<Transport> transport(begin(version::revision, &problem));
    if (!transport) refuse(launch, problem);
    int const found = transport->ranks();
    ranks_.emplace(std::move(transport));
    if (found == launch.processes) return;
    ranks_.reset();
    end_();
    refuse(launch, cat("its MPI sees ", found, found == 1 ? " process" : " processes",
                       ": the launcher is that of another MPI"));
  }
  /// Where these ranks have failed, one of them may never come: then this one does not wait for
  /// more than `patience` seconds. Where one has not come MPI cannot be ended with it: by the end
  /// of the one that has spoken the launcher learns that all end.
  ~MpiJob() {
    auto const seconds = static_cast<unsigned>(std::ceil(std::clamp(patience, 1.0, 1e6)));
    if (ranks_->missing()) {
      std::cout.flush();
      std::fflush(nullptr);
      if (!speaks_of_missing()) sleep(seconds);
      _exit(5);
    }
    if (ranks_->failed()) {
      signal(SIGALRM, [](int) { _exit(5); });
      alarm(seconds);
    }
    ranks_.reset();
    end_();
    alarm(0);
  }
  MpiJob(MpiJob const&) = delete;
  MpiJob& operator=(MpiJob const&) = delete;

  MessageRanks& ranks() { return *ranks_; }
  /// A rank did not come, and this is who says so: the first one that has.
  bool speaks_of_missing() const {
    std::optional<int> const missing = ranks_->missing();
    return missing && ranks_->rank() == (*missing == 0 ? 1 : 0);
  }
  double patience = 30;

 private:
  template <class F>
  static F* function(void* library, char const* name) {
    return reinterpret_cast<F*>(dlsym(library, name));
  }
  [[noreturn]] static void refuse(Launch const& launch, std::string const& why) {
    throw ConfigError(cat(
        "a launcher has started this as one of ", launch.processes, " processes (", launch.variable,
        "), each of which would solve the whole system, since no MPI joins them: ", why,
        "; start one, with --ranks ", launch.processes,
        ", or build and install tcsolve with that MPI (TCSOLVE_MPI=ON)"));
  }

  void (*end_)() = nullptr;
  std::optional<MessageRanks> ranks_;
};

/// Processors for this rank: those that it may use, where ranks of its host may use the same ones
/// its part of each. OMP_NUM_THREADS is the launcher's word, for each process.
int share_of_processors(Ranks& ranks) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return thread_count(0);
  struct Mine {
    std::array<char, 64> host{};
    cpu_set_t processors;
  } mine;
  CPU_ZERO(&mine.processors);
  gethostname(mine.host.data(), mine.host.size() - 1);
  if (sched_getaffinity(0, sizeof mine.processors, &mine.processors) != 0) return 1;
  std::vector<std::string> const all =
      gather(ranks, std::string(reinterpret_cast<char const*>(&mine), sizeof mine));
  double share = 0;
  for (int p = 0; p < CPU_SETSIZE; ++p) {
    if (!CPU_ISSET(p, &mine.processors)) continue;
    int users = 0;
    for (std::string const& text : all) {
      Mine other;
      std::memcpy(&other, text.data(), sizeof other);
      users += other.host == mine.host && CPU_ISSET(p, &other.processors);
    }
    share += 1.0 / users;
  }
  return std::clamp(static_cast<int>(share + 1e-6), 1, 1024);
}

/// The config, read by each rank of one build, and the same on all; it throws on all.
ParsedConfig read_together(Ranks& ranks, Launch const& launch, Arguments const& arguments,
                           Catalog const& catalog) {
  require_one_build(ranks, version::revision);
  ParsedConfig parsed;
  together(ranks, [&] {
    if (is_standard_input(arguments.subject))
      throw ConfigError("a launcher gives standard input to one rank alone; name a file");
    parsed = read_run(arguments, catalog);
    int& count = parsed.run.ranks.count;
    if (count != 0 && count != launch.processes)
      throw ConfigError(cat("'ranks.count' = ", count, ", and a launcher has started ",
                            launch.processes, " processes (", launch.variable,
                            "): leave it out, or start as many"));
    count = launch.processes;
    require_rankable(arguments, parsed.run);
  });
  std::vector<std::string> const configs = gather(ranks, dump_yaml(parsed.run));
  together(ranks, [&] {
    if (configs[static_cast<std::size_t>(ranks.rank())] != configs.front())
      throw ConfigError("its config is not that of rank 0");
  });
  int const share = share_of_processors(ranks);
  if (parsed.run.threads == 0) parsed.run.threads = share;
  return parsed;
}

/// The exit code of all ranks, of which this one has `code`: the largest; of ranks that have failed
/// that of the failure.
int agreed(Ranks& ranks, int code) {
  try {
    return ranks.agree(code);
  } catch (...) { return code != 0 ? code : current_failure().exit_code; }
}

}  // namespace

Launch launch_of_environment() {
  struct Names {
    char const *size, *rank;
  };
  constexpr std::array launchers{Names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                 Names{"PMI_SIZE", "PMI_RANK"},
                                 Names{"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                                 Names{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
  for (auto const& [size, rank] : launchers) {
    char const* const text = std::getenv(size);
    if (text == nullptr || std::atoi(text) < 2) continue;
    char const* const place = std::getenv(rank);
    return {std::atoi(text), place == nullptr || std::atoi(place) == 0, cat(size, "=", text)};
  }
  return {};
}

void require_no_launcher(char const* what) {
  if (Launch const launch = launch_of_environment(); launch.processes > 1)
    throw ConfigError(cat("a launcher has started this as one of ", launch.processes,
                          " processes (", launch.variable, "), and each would do the whole of ",
                          what, "; start one"));
}

int solve_launched(Launch const& launch, Arguments const& arguments, Catalog const& catalog) {
  std::optional<MpiJob> job;
  try {
    job.emplace(launch);
  } catch (ConfigError const&) {
    if (launch.speaks) throw;
    return 1;
  }
  Ranks& ranks = job->ranks();
  auto const read = [&] {
    ParsedConfig parsed = read_together(ranks, launch, arguments, catalog);
    job->patience = parsed.run.ranks.timeout;
    job->ranks().set_timeout(parsed.run.ranks.timeout);
    return parsed;
  };
  int const code = ranks.rank() == 0
                       ? lead(ranks, [&] { return solve_as(arguments, read(), &ranks); })
                       : silently(ranks, [&] {
                           ParsedConfig const parsed = read();
                           return follow(ranks, parsed, arguments.dry_run);
                         });
  if (ranks.rank() != 0 && job->speaks_of_missing())
    std::cerr << "tcsolve: rank 0: it did not come within " << job->patience
              << " s (ranks.timeout)\n";
  ranks.busy(true);  // files of rank 0 may take their time
  return agreed(ranks, code);
}

}  // namespace tcsolve
