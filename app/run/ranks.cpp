// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/ranks.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/failure.hpp>
#include <tcsolve/app/machine.hpp>
#include <tcsolve/app/run/ranked_system.hpp>
#include <tcsolve/app/run/signals.hpp>
#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/device_links.hpp>
#include <tcsolve/core/parallel.hpp>

namespace tcsolve {

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
}

void share_processors(RunConfig& config) {
  if (config.threads == 0) config.threads = std::max(1, thread_count(0) / config.ranks.count);
}

namespace {

/// The device of a rank.
int device_of(RunConfig const& config, int rank) {
  std::vector<int> const& named = config.ranks.devices;
  return named.empty() ? rank : named[static_cast<std::size_t>(rank)];
}

/// Why this rank has no device to work with others on; "" where it has.
std::string lacks_device(Ranks& ranks, RunConfig const& config) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  for (std::string const& host : gather(ranks, std::string(name.data())))
    if (host != name.data()) return cat("a rank is on ", host, ", another one on ", name.data());
  std::string why;
  int const mine = device_of(config, ranks.rank());
  if (!cuda::available(why, mine)) return why;
  for (int r = 0; r < ranks.ranks(); ++r)
    if (int const other = device_of(config, r); !cuda::reaches(mine, other))
      return cat("device ", mine, " does not reach the memory of device ", other);
  return "";
}

}  // namespace

void take_devices(Ranks& ranks, RunConfig& config) {
  if (config.backend == Backend::host) return;
  std::string const lacks = lacks_device(ranks, config);
  bool const everywhere = !ranks.agree(!lacks.empty());
  bool const named = !config.ranks.devices.empty();
  if (!everywhere && (config.backend == Backend::cuda || named))
    throw DeviceError(cat(named ? "'ranks.devices'" : "'backend: cuda'", " over ", ranks.ranks(),
                          " ranks: ", lacks.empty() ? "another rank has no device" : lacks,
                          "; each needs a device of its own on this host"));
  config.backend = everywhere ? Backend::cuda : Backend::host;
  config.device = device_of(config, ranks.rank());
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

int follow(Ranks& ranks, ParsedConfig parsed) {
  RunConfig& config = parsed.run;
  take_devices(ranks, config);
  Context ctx(config.backend, {.seed = config.seed,
                               .deterministic = config.deterministic,
                               .device = config.device,
                               .threads = config.threads,
                               .communicator = &ranks});
  CancelOnSignal const signals(ctx);
  SolverOptions options = config;
  options.check_matrices = false;
  RankedSystem system(ctx, parsed, nullptr);
  options.columns = system.columns();
  LinearSolver solver(ctx, options);
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
