// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/solve_run.hpp>

#include <tcsolve/core/phase.hpp>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/bandwidth.hpp>
#include <tcsolve/app/columns.hpp>
#include <tcsolve/app/failure.hpp>
#include <tcsolve/app/gnuplot.hpp>
#include <tcsolve/app/memory_plan.hpp>
#include <tcsolve/app/preflight.hpp>
#include <tcsolve/app/problem.hpp>
#include <tcsolve/app/progress.hpp>
#include <tcsolve/app/result.hpp>
#include <tcsolve/app/run_config.hpp>
#include <tcsolve/app/run_input.hpp>
#include <tcsolve/app/signals.hpp>
#include <tcsolve/io/plan_cache.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>

namespace tcsolve {
namespace {

double relative_error(std::vector<double> const& x, std::vector<double> const& solution) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::hypot(difference, x[i] - solution[i]);
    size = std::hypot(size, solution[i]);
  }
  return size > 0 ? difference / size : difference;
}

/// What the result tells of the set-up, as far as it came.
void note_setup(LinearSolver const& solver, RunResult& result) {
  SetupReport const& setup = solver.setup_report();
  RunTimes& times = result.times;
  times.upload = setup.upload;
  times.plan = setup.plan;
  times.reorder = setup.reorder;
  times.convert = setup.convert;
  times.setup = setup.setup;
  result.format = setup.format;
  result.reordering = setup.reordering;
  result.preconditioner = setup.preconditioner;
}

/// The solver has the matrix; `result` tells of it, also where it throws.
void prepare(LinearSolver& solver, Csr<double> a, RunResult& result) {
  try {
    solver.set_matrix(std::move(a));
  } catch (...) {
    note_setup(solver, result);
    throw;
  }
  note_setup(solver, result);
}

/// Bytes per second that the solve is compared with; 0 where a comparison says nothing.
double bandwidth_of(LinearSolver& solver) {
  Context& ctx = solver.context();
  if (!beyond_caches(ctx, solver.A()->cost(1).bytes)) return 0;
  try {
    return measure_bandwidth(ctx);
  } catch (MemoryError const&) { return 0; }
}

/// What the record says of A and of the device once the solve is over.
void note_solve(LinearSolver const& solver, Context& ctx, RunResult& result) {
  result.format = solver.format();  // it may have been converted on the way
  Cost const cost = solver.A()->cost(1);
  result.stored = {cost.bytes - 8.0 * (solver.A()->rows() + double(solver.A()->cols())),
                   cost.stored_per_entry};
  if (ctx.device() == nullptr) return;
  result.clocks = cuda::clocks(*ctx.device());
  result.memory.device_peak = static_cast<double>(cuda::peak_memory(*ctx.device()));
}

/// x0 becomes the answer.
SolveReport solve_once(LinearSolver& solver, Problem& problem, RunResult& result) {
  if (problem.columns == 1) return solver.solve(problem.b, problem.x0);
  Index const rows = solver.A()->rows(), cols = solver.A()->cols(), k = problem.columns;
  result.columns = solver.solve_columns({problem.b.data(), rows, k, rows, Layout::col_major},
                                        {problem.x0.data(), cols, k, cols, Layout::col_major});
  return report_of_columns(result.columns);
}

/// x0 becomes the answer.
void solve(LinearSolver& solver, Problem& problem, bool bandwidth, int repeat, RunResult& result) {
  if (bandwidth) timed(result.times.probe, [&] { result.bandwidth = bandwidth_of(solver); });
  auto& x = problem.x0;
  if (repeat > 0) {
    timed(result.times.repeat, [&] {
      result.report = repeat_solve(
          solver.context(), x, [&] { return solve_once(solver, problem, result); }, repeat,
          result.repeat.emplace());
    });
    // The last of them is the solve of this run.
    auto const& each = result.repeat->seconds;
    result.times.solve = each.empty() ? 0 : each.back();
    result.times.repeat -= result.times.solve;
  } else {
    timed(result.times.solve, [&] { result.report = solve_once(solver, problem, result); });
  }
  note_solve(solver, solver.context(), result);
  if (problem.solution.empty()) return;
  timed(result.times.verify, [&] { result.solution_error = relative_error(x, problem.solution); });
}

/// The solver of a config. What the program reads or generates needs no second look.
SolverOptions options_of(RunConfig const& config) {
  SolverOptions options = config;
  options.check_matrices = false;
  return options;
}

/// Tries the config on a small definite matrix with as many more rows than columns, and throws what
/// the run would throw whatever its matrix holds: a format without the transpose that the solver
/// asks for, keys that exclude each other. Writes nothing.
void rehearse(Context const& like, RunConfig const& config, ProblemSize const& size) {
  constexpr Index few = 24;
  Index const n = std::min({few, size.rows, size.cols});
  Csr<double> a;
  a.rows = n + (size.rows > size.cols);
  a.cols = n + (size.cols > size.rows);
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = std::max<Index>(0, i - 1); j < std::min(i + 2, n); ++j) {
      a.columns.push_back(j);
      a.values.push_back(i == j ? 4 : -1);
    }
    a.offsets.push_back(a.entries());
  }
  SolverOptions options = options_of(config);
  options.cache.directory.clear();
  Context ctx(like.space() == Space::cuda ? Backend::cuda : Backend::host, like.options());
  try {
    LinearSolver(ctx, options).set_matrix(std::move(a));
  } catch (SetupError const&) {
    // Of this matrix; that of the run may be another case.
  }
}

void print_summary(RunResult const& r, RunConfig const& config) {
  RunTimes const& t = r.times;
  std::cout << "seconds: read " << figure_text(t.read)
            << (r.backend == Backend::cuda ? cat(", upload ", figure_text(t.upload)) : "")
            << ", plan " << figure_text(t.plan)
            << (r.reordering ? cat(", reorder ", figure_text(t.reorder)) : "") << ", convert "
            << figure_text(t.convert) << ", setup " << figure_text(t.setup) << ", solve "
            << figure_text(t.solve);
  if (r.report.iterations > 0)
    std::cout << " (" << figure_text(1e3 * t.solve / r.report.iterations) << " ms an iteration)";
  std::cout << "\n";
  if (r.repeat) std::cout << r.repeat->text() << "\n";
  if (double const rate = r.report.bytes / t.solve; r.bandwidth > 0 && std::isfinite(rate))
    std::cout << "memory traffic: " << figure_text(rate / 1e9) << " GB/s (estimate), "
              << std::lround(100 * rate / r.bandwidth) << " % of the "
              << figure_text(r.bandwidth / 1e9) << " GB/s of a vector update\n";
  std::cout << "results: "
            << (std::filesystem::path(config.output.directory) / "result.json").string() << "\n";
}

/// What a dry run prints stands behind a config, as its comments.
void print_problem(ProblemSize const& size, MemoryPlan const& plan, bool dry) {
  char const* const comment = dry ? "# " : "";
  std::cout << comment << "problem: " << size.source << ", " << size.rows << " x " << size.cols
            << ", at most " << size.entries << " entries\n"
            << comment << plan.text() << "\n"
            << std::flush;
}

/// Whether standard error is a terminal that goes back to the beginning of a line.
bool rewrites_lines() {
  char const* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (terminal == nullptr || std::string(terminal) != "dumb");
}

/// What a run needs before its matrix: where it computes, its solver, how large the system is and
/// that it fits.
class Setting {
 public:
  Setting(Arguments const& arguments, ParsedConfig const& parsed)
      : progress_(std::cerr, {arguments.talk, rewrites_lines(), parsed.run.output.every}),
        ctx_(parsed.run.backend,
             {.seed = parsed.run.seed,
              .deterministic = parsed.run.deterministic,
              .threads = parsed.run.threads},
             &progress_) {
    parsed.require_files();
    size_ = problem_size(parsed);
    SolverOptions options = options_of(parsed.run);
    options.columns = static_cast<int>(size_.columns);
    solver_.emplace(ctx_, options);
    progress_.set_time_limit(solver_->parts().method->limits().seconds);
    memory_ = plan_memory(ctx_, solver_->parts(), parsed.run, size_);
    if (arguments.talk != Talk::quiet) print_problem(size_, memory_, arguments.dry_run);
    memory_.require();
  }
  ~Setting() { progress_.clear(); }
  Setting(Setting const&) = delete;
  Setting& operator=(Setting const&) = delete;

  Context& context() { return ctx_; }
  LinearSolver& solver() { return *solver_; }
  ProblemSize const& size() const { return size_; }
  MemoryPlan const& memory() const { return memory_; }
  void clear_progress() { progress_.clear(); }

 private:
  ProgressDisplay progress_;
  Context ctx_;
  ProblemSize size_;
  MemoryPlan memory_;
  std::optional<LinearSolver> solver_;
};

/// Throws for what is written by a program that is not there.
void require_programs(OutputConfig const& output) {
  if (output.plot) require_gnuplot("output.plot");
  if (output.report) require_gnuplot("output.report");
}

/// What `solver` and `A` are warned of; each becomes a line of the log.
std::vector<std::string> warnings_of(LinearSolver& solver, Csr<double> const& A) {
  SolverParts const& parts = solver.parts();
  std::vector<std::string> const warnings = preflight(*parts.method, *parts.preconditioner, A);
  for (std::string const& warning : warnings) solver.context().log(Severity::warning, warning);
  return warnings;
}

int dry_run(Arguments const& arguments, ParsedConfig const& parsed) {
  require_programs(parsed.run.output);
  Setting setting(arguments, parsed);
  warnings_of(setting.solver(), {});  // those that need no matrix
  rehearse(setting.context(), parsed.run, setting.size());
  std::cout << "# dry run: the config is valid; nothing was solved\n";
  return 0;
}

/// Reads the system and solves it; fills `result`, also where it throws.
void read_and_solve(Setting& setting, ParsedConfig const& parsed, int repeat, Problem& problem,
                    RunResult& result) {
  Context& ctx = setting.context();
  ProblemSize const& size = setting.size();
  result.source = size.source;
  result.backend = ctx.space() == Space::cuda ? Backend::cuda : Backend::host;
  result.device = ctx.device_name();
  result.rows = size.rows;
  result.cols = size.cols;
  result.memory.host_predicted = static_cast<double>(setting.memory().host);
  if (ctx.device() != nullptr) {
    result.memory.device_predicted = static_cast<double>(setting.memory().device);
    result.driver = cuda::facts(*ctx.device()).driver;
  }
  phase(ctx, cat("reading ", size.source), result.times.read,
        [&] { problem = load_problem(parsed, ctx.cancel_flag()); });
  result.entries = problem.A.entries();
  timed(result.times.probe, [&] { result.hash = matrix_hash(problem.A); });
  if (parsed.run.output.report)
    timed(result.times.probe, [&] { result.picture = picture_of(ctx, problem.A); });
  LinearSolver& solver = setting.solver();
  result.warnings = warnings_of(solver, problem.A);
  prepare(solver, std::move(problem.A), result);
  solve(solver, problem, parsed.run.output.bandwidth, repeat, result);
  result.exit_code = result.report.exit_code();
  // What was said before the solve explains its end best.
  if (!result.report.converged() && !result.warnings.empty())
    result.report.message += "; before the solve: " + result.warnings.front();
  if (!std::isnan(result.solution_error))
    result.report.message +=
        cat("; error against the solution ", figure_text(result.solution_error));
}

/// The files, then the verdict: it is said whether or not they could be written.
int conclude(RunResult& result, RunConfig const& config, std::vector<double> const& x, bool quiet) {
  write_results(result, config, x);
  if (!quiet) print_summary(result, config);
  std::cout << result.message() << "\n" << std::flush;
  return result.exit_code;
}

}  // namespace

int solve_run(Arguments const& arguments, Registries const& registries) {
  bool const quiet = arguments.talk == Talk::quiet;
  ParsedConfig const parsed = read_run(arguments, registries.catalog);
  RunConfig const& config = parsed.run;
  if (arguments.dry_run || arguments.talk == Talk::verbose) std::cout << dump_yaml(config);
  if (arguments.dry_run) return dry_run(arguments, parsed);

  IgnoreLostReaders const pipes;  // before the first line of the log
  OutputDirectory const directory(config.output, parsed.files);
  RunResult result;
  Problem problem;
  bool begun = false;  // what fails from here on may be a verdict
  try {
    require_inputs_to_stay(config.output, parsed.files);
    require_programs(config.output);
    Setting setting(arguments, parsed);
    CancelOnSignal const signals(setting.context());  // until the files are written
    begun = true;
    read_and_solve(setting, parsed, arguments.repeat, problem, result);
    setting.clear_progress();
    return conclude(result, config, problem.x0, quiet);
  } catch (...) {
    result.failure = current_failure();
    result.exit_code = result.failure->exit_code;
    if (begun && result.failure->is_verdict()) return conclude(result, config, {}, quiet);
    write_results(result, config, {});
    throw;
  }
}

}  // namespace tcsolve
