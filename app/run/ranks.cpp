// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/ranks.hpp>

#include <algorithm>
#include <chrono>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/failure.hpp>
#include <tcsolve/app/machine.hpp>
#include <tcsolve/app/run/ranked_system.hpp>
#include <tcsolve/app/run/signals.hpp>
#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/parallel.hpp>

namespace tcsolve {

void require_rankable(Arguments const& arguments, RunConfig const& config) {
  if (!config.problem.batch.empty())
    throw ConfigError("a 'batch' is solved by one rank; leave out 'ranks'");
  if (arguments.profile) throw ConfigError("--profile times the solve of one rank");
}

void share_processors(RunConfig& config) {
  if (config.threads == 0) config.threads = std::max(1, thread_count(0) / config.ranks.count);
}

void take_devices(Ranks& ranks, RunConfig& config) {
  if (config.backend == Backend::host) return;
  std::string why;
  bool const here = cuda::available(why, ranks.rank());
  bool const everywhere = !ranks.agree(!here);
  if (!everywhere && config.backend == Backend::cuda)
    throw DeviceError(cat("'backend: cuda' over ", ranks.ranks(),
                          " ranks: ", here ? "another rank has no device" : why,
                          "; each needs a device of its own"));
  config.backend = everywhere ? Backend::cuda : Backend::host;
  config.device = ranks.rank();
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
  ranks.busy(true);  // until the system is read and dealt
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
