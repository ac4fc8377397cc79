// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/config/memory_plan.hpp>

#include <tcsolve/app/bandwidth.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tcsolve {
namespace {

constexpr double host_share = 0.8, device_share = 0.95;

void require_below(std::int64_t bytes, double share, std::int64_t available, char const* where) {
  if (static_cast<double>(bytes) <= share * static_cast<double>(available)) return;
  throw MemoryError(cat("the run needs about ", byte_text(static_cast<double>(bytes)), " of ",
                        where, " memory; ", byte_text(static_cast<double>(available)),
                        " are available, of which ", std::lround(100 * share),
                        " % may be used; take a smaller problem, a smaller restart or "
                        "operator.values: fp32"));
}

}  // namespace

std::string byte_text(double bytes) {
  constexpr char const* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit) bytes /= 1024;
  char text[48];
  std::snprintf(text, sizeof text, "%.3g %s", bytes, units[unit]);
  return text;
}

std::string MemoryPlan::text(std::string const& of) const {
  auto const part = [this](char const* where, std::int64_t bytes, std::int64_t available) {
    return cat(where, at_least ? " at least " : " ", byte_text(static_cast<double>(bytes)), " of ",
               byte_text(static_cast<double>(available)), " available");
  };
  std::string const line = cat("memory", of, ": ") + part("host", host, host_available);
  return on_device ? cat(line, ", ", part("device", device, device_available)) : line;
}

void MemoryPlan::require() const {
  require_below(host, host_share, host_available, "host");
  if (on_device) require_below(device, device_share, device_available, "device");
}

MemoryPlan plan_memory(Context const& ctx, SolverParts const& parts, RunConfig const& run,
                       ProblemSize const& size) {
  OperatorFactory const& factory = *parts.matrix_operator;
  double const vector = 8.0 * std::max(size.rows, size.cols);
  // b, x0, x and the known solution, of every column; work vectors of those solved together.
  double const blocks = 4 * vector * size.columns;
  double const together = std::min(size.columns, parts.columns_at_once());
  double const csr = static_cast<double>(size.csr_bytes);
  double const stored = factory.bytes(size.rows, size.cols, size.entries);
  bool const is_csr = factory.may_borrow();  // where the format is open: unless there is room
  bool const needs_csr = parts.needs_csr();
  // `auto` makes an order only where there is room.
  bool const reorders =
      factory.reorder() != Reorder::none && factory.reorder() != Reorder::automatic;
  // P b, P x, a staged copy and P itself: solvers/driver/solve_frame.hpp.
  double const solving = vector * together * (parts.method->cost().vectors + 4 * reorders) +
                         parts.preconditioner->bytes(size.rows, size.entries);
  // Beside the solver, where an iteration goes to memory.
  double const bandwidth_test =
      run.output.bandwidth && beyond_caches(ctx, csr) ? bandwidth_bytes(ctx) : 0;

  MemoryPlan plan;
  plan.on_device = ctx.space() == Space::cuda;
  plan.at_least = parts.chooses() || !parts.preconditioner->bytes_are_all();
  plan.host_available = available_memory();
  double host = csr + blocks;
  if (plan.on_device) {
    double const device = stored + (needs_csr && !is_csr ? csr : 0) + solving;
    plan.device = static_cast<std::int64_t>(device + bandwidth_test);
    plan.device_available = static_cast<std::int64_t>(ctx.available_memory());
  } else {
    host += (is_csr ? 0 : stored) + solving + bandwidth_test;
  }
  // Beside A lie its graph with a transposed pattern and METIS' own graphs, or the edges between
  // communities, then P A P^T.
  bool const partitions =
      factory.reorder() == Reorder::metis || factory.reorder() == Reorder::affinity;
  double const ordering = !reorders ? 0 : partitions ? 3 * csr + 8 * vector : csr + 6 * vector;
  host = std::max(host, csr + ordering + blocks);
  plan.host = std::max(static_cast<std::int64_t>(host), size.peak_bytes);
  return plan;
}

}  // namespace tcsolve
