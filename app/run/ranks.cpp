// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/ranks.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/failure.hpp>
#include <tcsolve/app/machine.hpp>
#include <tcsolve/app/run/rank_plans.hpp>
#include <tcsolve/app/run/ranked_matrix.hpp>
#include <tcsolve/app/run/ranked_system.hpp>
#include <tcsolve/app/run/signals.hpp>
#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/device_links.hpp>
#include <tcsolve/core/parallel.hpp>

namespace tcsolve {

namespace {

/// Whether it joins devices alone.
bool joins_devices(DeviceTransport t) {
  return t == DeviceTransport::peer || t == DeviceTransport::nccl;
}

}  // namespace

void require_rankable(Arguments const& arguments, RunConfig const& config) {
  if (!config.problem.batch.empty())
    throw ConfigError("a 'batch' is solved by one rank; leave out 'ranks'");
  if (arguments.profile)
    throw ConfigError("--profile times the solve of one rank; leave 'ranks' out");
  std::size_t const devices = config.ranks.devices.size(),
                    ranks = static_cast<std::size_t>(config.ranks.count);
  // Of more than were chosen the first ones are taken.
  if (devices > 0 && devices != ranks && !(config.ranks.is_auto() && devices > ranks))
    throw ConfigError(
        cat("'ranks.devices' names ", devices, " GPUs for ", config.ranks.count, " ranks"));
  if (devices > 0 && config.backend == Backend::host)
    throw ConfigError("'ranks.devices' names GPUs, and 'backend: host' takes none");
  if (joins_devices(config.ranks.transport) && config.backend == Backend::host)
    throw ConfigError(cat("'ranks.transport: ", name(config.ranks.transport),
                          "' joins GPUs, and 'backend: host' takes none"));
}

void share_processors(RunConfig& config) {
  if (config.threads == 0) config.threads = std::max(1, thread_count(0) / config.ranks.count);
}

namespace {

/// The host of each rank.
std::vector<std::string> hosts_of(Ranks& ranks) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return gather(ranks, std::string(name.data()));
}

/// The device of a rank: as named, else that of its number on its host.
int device_of(RunConfig const& config, std::vector<std::string> const& hosts, int rank) {
  std::vector<int> const& named = config.ranks.devices;
  if (!named.empty()) return named[static_cast<std::size_t>(rank)];
  std::string const& host = hosts[static_cast<std::size_t>(rank)];
  return static_cast<int>(std::count(hosts.begin(), hosts.begin() + rank, host));
}

/// Why this rank has no device to work with others on; "" where it has.
std::string lacks_device(Ranks const& ranks, RunConfig const& config,
                         std::vector<std::string> const& hosts) {
  std::string why;
  int const me = ranks.rank(), mine = device_of(config, hosts, me);
  if (!cuda::available(why, mine)) return why;
  if (config.ranks.transport != DeviceTransport::peer) return "";
  std::string const& host = hosts[static_cast<std::size_t>(me)];
  for (int r = 0; r < ranks.ranks(); ++r) {
    std::string const& there = hosts[static_cast<std::size_t>(r)];
    if (there != host) return cat("a rank is on ", there, ", another one on ", host);
    if (int const other = device_of(config, hosts, r); !cuda::reaches(mine, other))
      return cat("device ", mine, " does not reach the memory of device ", other);
  }
  return "";
}

}  // namespace

void take_devices(Ranks& ranks, RunConfig& config) {
  if (config.backend == Backend::host) return;
  std::vector<std::string> const hosts = hosts_of(ranks);
  std::string const lacks = lacks_device(ranks, config, hosts);
  bool const everywhere = !ranks.agree(!lacks.empty());
  DeviceTransport const transport = config.ranks.transport;
  std::string const by = !config.ranks.devices.empty()     ? "'ranks.devices'"
                         : config.backend == Backend::cuda ? "'backend: cuda'"
                         : joins_devices(transport)
                             ? cat("'ranks.transport: ", name(transport), "'")
                             : "";
  if (!everywhere && !by.empty())
    throw DeviceError(cat(by, " over ", ranks.ranks(),
                          " ranks: ", lacks.empty() ? "another rank has no device" : lacks,
                          transport == DeviceTransport::mpi
                              ? "; each needs a device, of its own or named by 'ranks.devices'"
                              : "; each needs a device of its own on its host"));
  config.backend = everywhere ? Backend::cuda : Backend::host;
  config.device = device_of(config, hosts, ranks.rank());
}

void take_device(RunConfig& config) {
  if (config.backend == Backend::host)
    throw ConfigError("'ranks.devices' names GPUs, and 'backend: host' takes none");
  config.backend = Backend::cuda;
  config.device = config.ranks.devices.front();
}

void tell_others(Ranks& ranks) noexcept {
  if (ranks.was_settled()) return;
  try {
    throw;
  } catch (std::exception const& e) { ranks.fail(e.what(), kind_of(e)); } catch (...) {
    ranks.fail("an unknown exception");
  }
}

int lead(Ranks& ranks, std::function<int()> const& run) {
  ranks.busy(true);  // until the system is read and dealt, as the others are
  return guarded([&] {
    try {
      return run();
    } catch (...) {
      tell_others(ranks);
      throw;
    }
  });
}

int silently(Ranks& ranks, std::function<int()> const& run) {
  ranks.busy(true);
  try {
    return run();
  } catch (...) {
    tell_others(ranks);
    return current_failure().exit_code;
  }
}

int follow(Ranks& ranks, ParsedConfig parsed, bool dry_run) {
  RunConfig& config = parsed.run;
  config.output.directory = with_name(config.output.directory, problem_name(config.problem));
  take_devices(ranks, config);
  Context ctx(config.backend, {.seed = config.seed,
                               .deterministic = config.deterministic,
                               .device = config.device,
                               .threads = config.threads,
                               .communicator = &ranks,
                               .transport = config.ranks.transport});
  CancelOnSignal const signals(ctx);
  SolverOptions options = config;
  options.check_matrices = false;
  ProblemSize size = told_size(ranks, {});
  size.by_ranks = is_read_by_ranks(ranks, parsed);
  options.columns = size.columns;
  LinearSolver solver(ctx, options);
  require_room(ranks, plan_memory_of_ranks(ctx, solver.parts(), config, size));
  if (dry_run) {
    rehearse(ctx, config, size);
    return 0;
  }
  std::optional<DealtRows> read;
  if (size.by_ranks) {
    read = read_rows_of_run(ranks, parsed, ctx.cancel_flag());
    facts_of(ranks, *read, false);
  }
  RankedSystem system(ctx, parsed, nullptr, std::move(read));
  Deadline const until =
      deadline_after(std::chrono::steady_clock::now(), config.time_limit - process_seconds());
  ctx.setting_up(until, [&] {
    ctx.in_turn(until, [&] {
      system.set_matrix(solver);
      system.follow(solver);
    });
  });
  return 0;
}

}  // namespace tcsolve
