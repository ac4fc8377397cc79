// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/notes.hpp>

#include <tcsolve/core/device.hpp>

#include <tcsolve/app/record/story.hpp>
#include <tcsolve/app/run/columns.hpp>
#include <tcsolve/precond/hierarchy_facts.hpp>

#include <algorithm>

namespace tcsolve {

void note_setup(LinearSolver const& solver, RunResult& result) {
  SetupReport const& setup = solver.setup_report();
  RunTimes& times = result.times;
  times.upload = setup.upload;
  times.plan = setup.plan;
  times.reorder = setup.reorder;
  times.convert = setup.convert;
  times.setup = setup.setup;
  result.format = setup.format;
  result.rounding = setup.rounding;
  result.precision = setup.precision;
  result.reordering = setup.reordering;
  result.preconditioner = setup.preconditioner;
  result.hierarchy = hierarchy_facts(solver.M().get());
}

void note_solve(LinearSolver& solver, RunResult& result) {
  result.format = solver.format();  // it may have been converted on the way
  Cost const cost = solver.A()->cost(1);
  result.stored = {cost.bytes - 8.0 * (solver.A()->rows() + double(solver.A()->cols())),
                   cost.stored_per_entry};
  Context& ctx = solver.context();
  if (ctx.device() == nullptr) return;
  result.clocks = cuda::clocks(*ctx.device());
  result.memory.device_peak = static_cast<double>(cuda::peak_memory(*ctx.device()));
}

void note_work(LinearSolver const& solver, RunResult& result) {
  SolveReport const& r = result.report;
  RunTimes& times = result.times;
  if (result.repeat) {
    times.setup += result.repeat->setup;
    times.repeat -= result.repeat->setup;
  } else {
    times.setup += r.setup_seconds;
    times.solve -= r.setup_seconds;
  }
  result.iterations = result.columns.empty()
                          ? r.iterations
                          : iterations_of(result.columns, solver.parts().columns_at_once());
  ChoiceReport const* const taken = in_force(r.choices);
  double const seconds = taken != nullptr ? taken->seconds : times.solve;
  auto const iterations = taken != nullptr ? taken->iterations : result.iterations;
  if (iterations > 0) result.seconds_per_iteration = seconds / static_cast<double>(iterations);
  if (taken != nullptr) result.preconditioner = taken->details;
  result.hierarchy = hierarchy_facts(solver.M().get());
}

void note_profile(LinearSolver const& solver, Profile& profile, Index columns, RunResult& result) {
  SolveReport const& r = result.report;
  bool const one_method =
      std::ranges::count_if(r.choices, [](ChoiceReport const& c) { return c.ran; }) <= 1;
  Index const together = std::min(columns, solver.parts().columns_at_once());
  double const per_product = solver.A()->cost(together).bytes;
  double const per_application =
      one_method && solver.M() ? solver.M()->cost(together).bytes : RunMemory::unknown;
  double rest = result.times.solve;
  for (Part const part :
       {Part::products, Part::preconditioner, Part::updates, Part::verification}) {
    ProfiledPart told{part, profile.of(part)};
    auto const calls = static_cast<double>(told.took.calls);
    if (part == Part::products || part == Part::verification) told.bytes = calls * per_product;
    if (part == Part::preconditioner && calls > 0) told.bytes = calls * per_application;
    rest -= told.took.seconds;
    result.profile.push_back(told);
  }
  // What an iteration moves beside the products and M is its vectors.
  auto& parts = result.profile;
  double const applied = parts[1].took.calls > 0 ? parts[1].bytes : 0;
  if (one_method && columns == 1)
    parts[2].bytes = r.bytes_per_iteration * r.iterations - parts[0].bytes - applied;
  if (!(parts[2].bytes > 0)) parts[2].bytes = RunMemory::unknown;
  parts.push_back({Part::other, {0, std::max(0.0, rest)}});
}

}  // namespace tcsolve
