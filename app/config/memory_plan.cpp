// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/config/memory_plan.hpp>

#include <tcsolve/app/bandwidth.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/distributed/distributed_matrix.hpp>
#include <tcsolve/formats/matrix_factory.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

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

/// A in its format, without the CSR matrix. Where the format is open, A is that one unless there is
/// room.
double bytes_beside_csr(OperatorFactory const& factory, ProblemSize const& size) {
  double const all = factory.bytes(size.rows, size.cols, size.entries);
  return factory.exact() ? all - csr_bytes(Real::f64, size.rows, size.entries) : all;
}

/// The parts in the types that `precision: auto` would begin with, where they are others.
std::optional<SolverParts> narrow_parts(Context const& ctx, SolverParts const& parts,
                                        SolverOptions const& options, ProblemSize const& size) {
  if (options.precision != PrecisionChoice::automatic || options.step_up == StepUp::never ||
      parts.chooses())
    return std::nullopt;
  RunsWhere const where = ctx.space() == Space::cuda ? RunsWhere::device_memory : RunsWhere::host;
  WorkingPrecision const types =
      choose_precision(size.rows, size.cols, options, *parts.method, where).types;
  if (types == WorkingPrecision{}) return std::nullopt;
  return SolverParts(with_precision(options, types));
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

double space_bytes(Context const& ctx, SolverParts const& parts, bool bandwidth,
                   ProblemSize const& size, std::int64_t all_cols) {
  double const together = std::min(size.columns, parts.columns_at_once());
  double const stored = bytes_beside_csr(*parts.matrix_operator, size);
  double const late = parts.late_bytes(ctx, size.rows, size.cols, together);
  double const solving = parts.solving_bytes(ctx, size.rows, size.cols, size.entries, together);
  if (!ctx.communicator().extends_sums()) {
    auto const csr = static_cast<double>(size.csr_bytes);
    // Beside the solver, where an iteration goes to memory.
    double const test = bandwidth && beyond_caches(ctx, csr) ? bandwidth_bytes(ctx) : 0;
    return csr + stored + solving + std::max(0.0, test - late);
  }
  DistributedMemory const rows =
      DistributedMemory::of(size.rows, all_cols, size.entries, ctx.space() != Space::host);
  return std::max(rows.dealing, rows.stays + stored + solving);
}

MemoryPlan plan_memory(Context const& ctx, SolverParts const& parts, RunConfig const& run,
                       ProblemSize const& size) {
  double const vector = 8.0 * std::max(size.rows, size.cols);
  // b, x0, x and the known solution, of every column.
  double const blocks = 4 * vector * size.columns;
  double const csr = static_cast<double>(size.csr_bytes);
  MemoryPlan plan = plan_of(ctx, parts);
  double space = space_bytes(ctx, parts, run.output.bandwidth, size, size.cols);
  if (auto const narrow = narrow_parts(ctx, parts, run, size)) {
    // Where a solve steps up, A is there in both types for a moment.
    double const both = space_bytes(ctx, *narrow, run.output.bandwidth, size, size.cols) +
                        bytes_beside_csr(*parts.matrix_operator, size);
    space = std::max(space, both);
  }
  double host = csr + blocks;
  if (plan.on_device)
    plan.device = static_cast<std::int64_t>(space);
  else
    host = std::max(host, space + blocks);
  // Beside A lie its graph with a transposed pattern and METIS' own graphs, or the edges between
  // communities, then P A P^T.
  Reorder const order = parts.matrix_operator->reorder();
  bool const reorders = order != Reorder::none && order != Reorder::automatic;
  bool const partitions = order == Reorder::metis || order == Reorder::affinity;
  double const ordering = !reorders ? 0 : partitions ? 3 * csr + 8 * vector : csr + 6 * vector;
  host = std::max(host, csr + ordering + blocks);
  plan.host = std::max(static_cast<std::int64_t>(host), size.peak_bytes);
  return plan;
}

MemoryPlan plan_of(Context const& ctx, SolverParts const& parts) {
  MemoryPlan plan;
  plan.on_device = ctx.space() == Space::cuda;
  plan.at_least = parts.chooses() || !parts.preconditioner->bytes_are_all();
  plan.host_available = available_memory();
  if (plan.on_device) plan.device_available = static_cast<std::int64_t>(ctx.available_memory());
  return plan;
}

}  // namespace tcsolve
