// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/solve_run.hpp>

#include <tcsolve/comm/processes.hpp>
#include <tcsolve/core/phase.hpp>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/bandwidth.hpp>
#include <tcsolve/app/config/blocks.hpp>
#include <tcsolve/app/config/memory_plan.hpp>
#include <tcsolve/app/config/problem.hpp>
#include <tcsolve/app/config/run_config.hpp>
#include <tcsolve/app/config/run_input.hpp>
#include <tcsolve/app/energy.hpp>
#include <tcsolve/app/failure.hpp>
#include <tcsolve/app/machine.hpp>
#include <tcsolve/app/record/gnuplot.hpp>
#include <tcsolve/app/record/output_directory.hpp>
#include <tcsolve/app/record/profile.hpp>
#include <tcsolve/app/record/progress.hpp>
#include <tcsolve/app/record/result.hpp>
#include <tcsolve/app/record/systems.hpp>
#include <tcsolve/app/run/columns.hpp>
#include <tcsolve/app/run/launched.hpp>
#include <tcsolve/app/run/notes.hpp>
#include <tcsolve/app/run/preflight.hpp>
#include <tcsolve/app/run/rank_choice.hpp>
#include <tcsolve/app/run/rank_plans.hpp>
#include <tcsolve/app/run/ranked_matrix.hpp>
#include <tcsolve/app/run/ranked_system.hpp>
#include <tcsolve/app/run/ranks.hpp>
#include <tcsolve/app/run/signals.hpp>
#include <tcsolve/app/run/summary.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/formats/format.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/plan_cache.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <iterator>
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

/// The solver has the matrix, once set_matrix() is done; `result` tells of it, also where it
/// throws.
template <class F>
void prepare(LinearSolver& solver, RunResult& result, F const& set_matrix) {
  try {
    set_matrix();
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

/// x0 becomes the answer.
SolveReport solve_once(LinearSolver& solver, Problem& problem, RunResult& result) {
  if (problem.columns == 1) return solver.solve(problem.b, problem.x0);
  Index const rows = solver.A()->rows(), cols = solver.A()->cols(), k = problem.columns;
  result.columns = solver.solve_columns({problem.b.data(), rows, k, rows, Layout::col_major},
                                        {problem.x0.data(), cols, k, cols, Layout::col_major});
  return report_of_columns(result.columns, solver.parts().columns_at_once());
}

/// Names of operators that stand for A, in whatever they are wrapped.
std::vector<std::string> names_of_A(LinearSolver const& solver) {
  std::vector<std::string> names = formats().names();
  if (solver.A()) names.push_back(solver.A()->name());
  return names;
}

/// once(), which makes the answer of x, or as many times as `--repeat` says.
void solve_timed(Context& ctx, std::vector<double>& x, std::function<SolveReport()> const& once,
                 int repeat, RunResult& result) {
  if (repeat == 0) {
    EnergyMeter meter(ctx);
    meter.start();
    timed(result.times.solve, [&] { result.report = once(); });
    result.joules = meter.per_solve(result.times.solve, 1);
    return;
  }
  timed(result.times.repeat,
        [&] { result.report = repeat_solve(ctx, x, once, repeat, result.repeat.emplace()); });
  // The last of them is the solve of this run.
  result.joules = result.repeat->joules;
  auto const& each = result.repeat->seconds;
  result.times.solve = each.empty() ? 0 : each.back();
  result.times.repeat -= result.times.solve;
}

/// x0 becomes the answer. `profile`: null where the parts of the solve are not timed; `ranks`: that
/// solve together, null where there is one.
void solve(LinearSolver& solver, Problem& problem, bool bandwidth, int repeat, Profile* profile,
           RankedSystem* ranks, RunResult& result) {
  auto const once = [&] {
    if (profile != nullptr) profile->restart();
    return ranks != nullptr ? ranks->solve(solver, problem.x0, result.columns)
                            : solve_once(solver, problem, result);
  };
  if (bandwidth) timed(result.times.probe, [&] { result.bandwidth = bandwidth_of(solver); });
  solve_timed(solver.context(), problem.x0, once, repeat, result);
  note_work(solver, result);
  if (profile != nullptr) note_profile(solver, *profile, problem.columns, result);
  note_solve(solver, result);
}

/// Sets up and solves many systems at once; x0 becomes the answer.
void solve_systems(LinearSolver& solver, Problem& problem, int repeat, RunResult& result) {
  prepare(solver, result,
          [&] { solver.set_systems(problem.A.view(), problem.starts, Arrays::borrowed); });
  result.starts = problem.starts;
  auto const once = [&] {
    result.systems = solver.solve_systems(problem.b, problem.x0);
    return report_of_systems(*result.systems);
  };
  solve_timed(solver.context(), problem.x0, once, repeat, result);
  result.iterations = result.systems->iterations();
  result.stored = {static_cast<double>(problem.A.view().entries) * 12.0, 1.0};
}

/// The solver of a config. What the program reads or generates needs no second look.
SolverOptions options_of(RunConfig const& config) {
  SolverOptions options = config;
  options.check_matrices = false;
  return options;
}

/// What a run needs before its matrix: where it computes, its solver, how large the system is and
/// that it fits.
class Setting {
 public:
  Setting(Arguments const& arguments, ParsedConfig const& parsed, Ranks* ranks = nullptr)
      : progress_(std::cerr, {arguments.talk, rewrites_lines(), parsed.run.output.every}),
        ctx_(parsed.run.backend,
             {.seed = parsed.run.seed,
              .deterministic = parsed.run.deterministic,
              .device = parsed.run.device,
              .threads = parsed.run.threads,
              .communicator = ranks,
              .transport = parsed.run.ranks.transport},
             &progress_) {
    parsed.require_files();
    size_ = problem_size(parsed);
    if (ranks != nullptr) require_gatherable(parsed.run.output, size_.cols, size_.columns);
    SolverOptions options = options_of(parsed.run);
    options.columns = static_cast<int>(size_.columns);
    solver_.emplace(ctx_, options);
    progress_.set_time_limit(
        std::min(solver_->parts().method->limits().seconds, parsed.run.time_limit));
    std::vector<MemoryPlan> plans;
    if (ranks != nullptr) {
      told_size(*ranks, size_);
      size_.by_ranks = is_read_by_ranks(*ranks, parsed);
      plans = plan_memory_of_ranks(ctx_, solver_->parts(), parsed.run, size_);
    } else {
      plans = {plan_memory(ctx_, solver_->parts(), parsed.run, size_)};
    }
    memory_ = plans.front();
    std::string const rhs = parsed.files.rhs.empty() ? "" : file_name(parsed.files.rhs);
    if (arguments.talk != Talk::quiet) print_problem(size_, rhs, plans, arguments.dry_run);
    if (ranks != nullptr)
      require_room(*ranks, plans);
    else
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

/// Throws for what a run of many systems cannot tell: none of them has a history, or parts that
/// are timed one by one.
void require_one_system(Arguments const& arguments, RunConfig const& config) {
  if (config.problem.batch.empty()) return;
  if (config.output.plot)
    throw ConfigError("'output.plot' draws the history of one system; a 'batch' keeps none");
  if (!config.output.rows.empty())
    throw ConfigError("'output.rows' names rows of one system; leave it out with a 'batch'");
  if (arguments.profile)
    throw ConfigError(
        "--profile times the solve of one system, and a 'batch' is solved as a whole");
}

/// Throws for what is written by a program that is not there.
void require_programs(OutputConfig const& output) {
  if (output.plot) require_gnuplot("output.plot");
  if (output.report) require_gnuplot("output.report");
}

/// Those of the system, and of the run's method on it; each becomes a line of the log. is_set_up:
/// then the method says by itself that its M varies.
std::vector<std::string> logged_warnings(LinearSolver& solver, std::vector<std::string> of_system,
                                         std::function<MatrixLook()> const& look, bool is_set_up) {
  SolverParts const& parts = solver.parts();
  std::ranges::copy(preflight(*parts.method, *parts.preconditioner, look),
                    std::back_inserter(of_system));
  for (std::string const& warning : of_system)
    if (!is_set_up || warning != warning_of_varying(parts.method->name()))
      solver.context().log(Severity::warning, warning);
  return of_system;
}

/// Reads the system into `problem`, and tells of its matrix in `result`. Ranks that read it
/// together have its rows, which are returned.
std::optional<DealtRows> read_system(Setting& setting, ParsedConfig const& parsed, Problem& problem,
                                     RunResult& result) {
  Context& ctx = setting.context();
  LinearSolver& solver = setting.solver();
  std::optional<DealtRows> rows;
  phase(ctx, cat("reading ", result.source), result.times.read, [&] {
    if (setting.size().by_ranks)
      rows = read_rows_of_run(all_ranks(ctx), parsed, ctx.cancel_flag());
    else
      problem = load_problem(parsed, ctx.cancel_flag());
  });
  if (rows) {
    RankedFacts facts;
    timed(result.times.probe,
          [&] { facts = facts_of(all_ranks(ctx), *rows, is_rhs_of_ones(parsed)); });
    timed(result.times.read, [&] {
      problem = load_vectors(parsed, facts.rows, facts.cols, std::move(facts.row_sums),
                             ctx.cancel_flag());
    });
    result.entries = facts.entries;
    result.hash = facts.hash;
    result.warnings = logged_warnings(
        solver, system_warnings(facts.system, facts.rows, problem.b), [&] { return facts.look; },
        true);
  } else {
    Csr<double> const& A = problem.A;
    result.entries = A.entries();
    timed(result.times.probe, [&] { result.hash = matrix_hash(A); });
    if (parsed.run.output.report)
      timed(result.times.probe, [&] { result.picture = picture_of(ctx, A); });
    SystemFacts const facts(A.view(), ctx.cancel_flag());
    result.warnings = logged_warnings(
        solver, system_warnings(facts, A.rows, problem.b), [&] { return look_at(A); }, A.rows > 0);
  }
  result.rows_of_x = problem.rows;
  return rows;
}

/// ranks: that the run would have; null for one.
int dry_run(Arguments const& arguments, ParsedConfig parsed, Ranks* ranks) {
  require_one_system(arguments, parsed.run);
  require_programs(parsed.run.output);
  if (ranks != nullptr) take_devices(*ranks, parsed.run);
  Setting setting(arguments, parsed, ranks);
  ProblemSize const& size = setting.size();
  if (ranks != nullptr)
    check_partition(in_order_of_vectors(parsed.run), parsed.files.partition, size.rows, size.cols);
  if (!parsed.ranks_chosen.empty()) setting.context().log(Severity::note, parsed.ranks_chosen);
  logged_warnings(
      setting.solver(), {}, [] { return MatrixLook{}; }, false);  // without a matrix
  rehearse(setting.context(), parsed.run, size);
  std::cout << "# dry run: the config is valid; nothing was solved\n";
  return 0;
}

/// x is one of many where complete factors of A have shown that it is singular.
bool is_one_of_many(LinearSolver const& solver, SolveReport const& report) {
  auto const factors = std::dynamic_pointer_cast<Factorisation const>(solver.M());
  return report.converged() && factors && factors->found_singular();
}

/// What all ranks have to do with the answer; then the others may go, once parts of an iteration
/// are timed.
void end_ranks(RankedSystem& ranks, LinearSolver& solver, RunConfig const& config,
               Problem const& problem, RunResult& result) {
  if (!problem.solution.empty())
    tcsolve::timed(result.times.verify,
                   [&] { result.solution_error = ranks.error_against(problem.solution); });
  if (config.output.solution_parts) ranks.write_parts(result.files);
  bool const asked = solver.context().wanted() != Stop::running;
  bool const timed = config.output.bandwidth && result.report.iterations > 0 && !asked;
  tcsolve::timed(result.times.probe, [&] { ranks.end(solver, timed, result.times.solve); });
  result.ranks = ranks.shares();
}

/// Reads the system and solves it; fills `result`, also where it throws.
void read_and_solve(Setting& setting, ParsedConfig const& parsed, Arguments const& arguments,
                    Problem& problem, RunResult& result) {
  Context& ctx = setting.context();
  ProblemSize const& size = setting.size();
  result.source = size.source;
  result.backend = ctx.space() == Space::cuda ? Backend::cuda : Backend::host;
  result.device = ctx.device_name();
  result.rows = size.rows;
  result.cols = size.cols;
  result.memory.host_predicted = static_cast<double>(setting.memory().host);
  result.memory.at_least = setting.memory().at_least;
  if (ctx.device() != nullptr) {
    result.memory.device_predicted = static_cast<double>(setting.memory().device);
    result.driver = cuda::facts(*ctx.device()).driver;
  }
  LinearSolver& solver = setting.solver();
  std::optional<DealtRows> rows = read_system(setting, parsed, problem, result);
  std::optional<Profile> profile;
  if (arguments.profile) profile.emplace(ctx, names_of_A(solver));
  if (!problem.starts.empty()) {
    solve_systems(solver, problem, arguments.repeat, result);
  } else {
    std::optional<RankedSystem> ranks;
    if (ctx.communicator().extends_sums()) {
      ranks.emplace(ctx, parsed, &problem, std::move(rows));
      result.ranks = ranks->shares();
    }
    prepare(solver, result,
            [&] { ranks ? ranks->set_matrix(solver) : solver.set_matrix(std::move(problem.A)); });
    bool const bandwidth = parsed.run.output.bandwidth && !ranks;
    solve(solver, problem, bandwidth, arguments.repeat, profile ? &*profile : nullptr,
          ranks ? &*ranks : nullptr, result);
    if (ranks) end_ranks(*ranks, solver, parsed.run, problem, result);
  }
  if (!problem.solution.empty() && result.ranks.empty())
    timed(result.times.verify,
          [&] { result.solution_error = relative_error(problem.x0, problem.solution); });
  result.exit_code = result.report.exit_code();
  if (result.report.reason == Stop::nonfinite && !problem.nonfinite.empty())
    result.report.message += "; " + problem.nonfinite;
  // What was said before the solve explains its end best.
  std::string& message = result.report.message;
  if (!result.report.converged() && !result.warnings.empty() &&
      message.find(result.warnings.front()) == std::string::npos)
    message += "; before the solve: " + result.warnings.front();
  if (is_one_of_many(solver, result.report))
    message +=
        "; A seems to be singular (its complete factors met pivots that vanish): x is one of many";
  if (!std::isnan(result.solution_error))
    result.report.message +=
        cat("; error against the solution ", figure_text(result.solution_error));
}

/// f(); what it reads, sets up and solves ends `seconds` after the program began.
template <class F>
void within_time(Context& ctx, double seconds, F const& f) {
  Deadline const until =
      deadline_after(std::chrono::steady_clock::now(), seconds - process_seconds());
  ctx.setting_up(until, [&] { ctx.in_turn(until, f); });
}

/// The files, then the verdict: it is said whether or not they could be written.
int conclude(RunResult& result, RunConfig const& config, std::vector<double> const& x, bool quiet) {
  write_results(result, config, x);
  if (!quiet) print_summary(result, config);
  std::cout << result.message() << "\n" << std::flush;
  return result.exit_code;
}

}  // namespace

int solve_as(Arguments const& arguments, ParsedConfig parsed, Ranks* ranks) {
  bool const quiet = arguments.talk == Talk::quiet;
  RunConfig& config = parsed.run;
  config.output.directory = with_name(config.output.directory, problem_name(config.problem));
  if (arguments.dry_run || arguments.talk == Talk::verbose) std::cout << dump_yaml(config);
  if (arguments.dry_run) return dry_run(arguments, std::move(parsed), ranks);

  IgnoreLostReaders const pipes;  // before the first line of the log
  OutputDirectory const directory(config.output, parsed.files);
  RunResult result;
  Problem problem;
  bool begun = false;  // what fails from here on may be a verdict
  try {
    require_inputs_to_stay(config.output, parsed.files);
    require_one_system(arguments, config);
    require_programs(config.output);
    if (ranks != nullptr) take_devices(*ranks, config);
    Setting setting(arguments, parsed, ranks);
    if (std::string const& old = directory.replaced(); !old.empty() && old != setting.size().source)
      setting.context().log(
          Severity::note, cat("the result of ", shown(old), " in ", shown(config.output.directory),
                              " is replaced; --output '{name}' keeps one of each matrix"));
    if (!parsed.ranks_chosen.empty()) setting.context().log(Severity::note, parsed.ranks_chosen);
    CancelOnSignal const signals(setting.context());  // until the files are written
    begun = true;
    within_time(setting.context(), config.time_limit,
                [&] { read_and_solve(setting, parsed, arguments, problem, result); });
    setting.clear_progress();
    return conclude(result, config, problem.x0, quiet);
  } catch (...) {
    if (ranks != nullptr) tell_others(*ranks);
    result.failure = current_failure();
    result.exit_code = result.failure->exit_code;
    if (result.failure->outcome == "setup_failed" && !result.warnings.empty())
      result.failure->message += "; before the set-up: " + result.warnings.front();
    if (begun && result.failure->is_verdict()) return conclude(result, config, {}, quiet);
    write_results(result, config, {});
    throw;
  }
}

int solve_run(Arguments const& arguments, Registries const& registries) {
  if (Launch const launch = launch_of_environment(); launch.processes > 1)
    return solve_launched(launch, arguments, registries.catalog);
  return solve_run(arguments, read_run(arguments, registries.catalog));
}

int solve_run(Arguments const& arguments, ParsedConfig parsed) {
  RanksConfig& asked = parsed.run.ranks;
  if (asked.is_auto() && parsed.run.problem.batch.empty()) {
    parsed.require_files();
    choose_ranks(parsed);
  }
  int& count = asked.count;
  if (count == 0) count = 1;
  if (count == 1 && !asked.devices.empty()) take_device(parsed.run);
  if (count == 1) return solve_as(arguments, std::move(parsed), nullptr);
  require_rankable(arguments, parsed.run);
  share_processors(parsed.run);
  return run_processes(count, asked.timeout, [&](Ranks& ranks) {
    return ranks.rank() == 0
               ? lead(ranks, [&] { return solve_as(arguments, parsed, &ranks); })
               : silently(ranks, [&] { return follow(ranks, parsed, arguments.dry_run); });
  });
}

}  // namespace tcsolve
