// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/preconditioner.hpp>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/precond/over_ranks.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>

namespace tcsolve {

FactoryId new_factory_id() {
  static std::atomic<FactoryId> last{0};
  return ++last;
}

namespace {

// To other ranks.
[[maybe_unused]] bool const known =
    know_kind<SetupError>() &&
    detail::know_kind(typeid(TakesTooLong).name(),
                      [](std::string const& text) { throw TakesTooLong(text, 0); });

std::string rounded(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", seconds);
  return text;
}

/// Throws TakesTooLong where the deadline of the set-up is nearer than the end of build().
void require_time(Context& ctx, PreconditionerFactory const& factory, System const& system,
                  std::string const& name) {
  Deadline const until = ctx.cancel_flag().until();
  if (until == Deadline::max()) return;
  double const least = factory.least_seconds(ctx, system);
  std::chrono::duration<double> const left = until - std::chrono::steady_clock::now();
  if (least > left.count())
    throw TakesTooLong(
        cat("the preconditioner '", name, "' takes at least ", rounded(least), " s to set up, and ",
            rounded(std::max(0.0, left.count())), " s are left"),
        least);
}

}  // namespace

std::unique_ptr<Preconditioner> build_within_memory(Context& ctx,
                                                    PreconditionerFactory const& factory,
                                                    System const& given, std::string const& name) {
  require_over_ranks(factory, name, ctx.communicator().ranks());
  System system = given;
  if (!system.notes) system.notes = std::make_shared<SetupNotes>();
  if (!system.host) system.host = std::make_shared<HostMatrix>();
  // Of several ranks none begins where one has no room or no time.
  auto const require = [&] {
    require_time(ctx, factory, system, name);
    double const most = factory.most_bytes(system.matrix.rows, system.matrix.entries);
    if (fits(ctx, {.host = most, .space = most})) return;
    MemoryNeed need = factory.memory(ctx, system);
    if (system.matrix.space != Space::host && !system.host->there())  // a copy for it
      need.passing += 12.0 * static_cast<double>(system.matrix.entries) + 8.0 * system.matrix.rows;
    require_memory(ctx, need, cat("the preconditioner '", name, "'"));
  };
  if (factory.needs_matrix() && !factory.is_identity()) together(ctx, require);
  return factory.build(ctx, system);
}

}  // namespace tcsolve
