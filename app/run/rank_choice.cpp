// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/rank_choice.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <vector>

#include <tcsolve/core/device.hpp>
#include <tcsolve/core/device_links.hpp>
#include <tcsolve/core/parallel.hpp>

namespace tcsolve {
namespace {

/// Microseconds of an iteration of CG on an H200, in one kernel on each of several ranks
/// (docs/results/two-gpus.md).
double predicted(ProblemSize const& size, int ranks) {
  double const alone = (20.6 * size.rows + 2.13 * static_cast<double>(size.entries)) / 1e6;
  return ranks == 1 ? alone : alone / ranks + 12;
}

/// How many of these GPUs there are, and reach each other, from the first one on.
int usable(std::vector<int> const& devices) {
  int count = 0;
  for (int const device : devices) {
    std::string why;
    if (!cuda::available(why, device)) return count;
    for (int k = 0; k < count; ++k)
      if (!cuda::reaches(devices[k], device) || !cuda::reaches(device, devices[k])) return count;
    ++count;
  }
  return count;
}

/// The same, found out by a process that ends.
int usable_aside(std::vector<int> const& devices) {
  std::cout.flush();
  std::fflush(nullptr);
  pid_t const pid = fork();
  if (pid < 0) return 0;
  if (pid == 0) _exit(usable(devices));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace

RankChoice ranks_on_devices(ProblemSize const& size, int most) {
  int const limit = std::max(1, std::min<int>(most, size.rows));
  RankChoice choice;
  // A gain that the prediction cannot tell from none is none: where a system nearly fills the
  // second cache it takes one GPU's time for longer than it is.
  constexpr double microseconds = 4;
  for (int k = 2; k <= limit; ++k)
    if (predicted(size, k) + microseconds < 0.97 * predicted(size, choice.count)) choice.count = k;
  auto const us = [&](int k) { return cat("about ", std::lround(predicted(size, k)), " us"); };
  choice.why = cat("ranks: ", choice.count, " of ", most, " GPUs: an iteration with ", size.rows,
                   " rows takes ", us(choice.count));
  int const other = choice.count == 1 ? std::min(2, limit) : 1;
  if (other != choice.count)
    choice.why += cat(" by ", choice.count, " and ", us(other), " by ", other);
  return choice;
}

RankChoice ranks_on_host(int threads) {
  return {1, cat("ranks: 1 on the host, with ", threads,
                 threads == 1 ? " thread" : " threads, which do what ranks would")};
}

void choose_ranks(ParsedConfig& parsed) {
  RunConfig const& run = parsed.run;
  std::vector<int> devices = run.ranks.devices;
  if (devices.empty()) {
    devices.resize(RanksConfig::most);
    std::iota(devices.begin(), devices.end(), 0);
  }
  int const gpus = run.backend == Backend::host ? 0 : usable_aside(devices);
  DeviceTransport const transport = run.ranks.transport;
  if (gpus > 0 && (transport == DeviceTransport::nccl || transport == DeviceTransport::mpi))
    throw ConfigError(
        cat("'ranks.count: auto' goes by what GPUs take that store into each other's "
            "memory; name the number of ranks for 'transport: ",
            name(transport), "'"));
  RankChoice const choice = gpus > 0
                                ? ranks_on_devices(problem_size(parsed), gpus)
                                : ranks_on_host(run.threads > 0 ? run.threads : thread_count(0));
  parsed.run.ranks.count = choice.count;
  parsed.ranks_chosen = choice.why;
}

}  // namespace tcsolve
