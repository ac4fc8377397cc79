// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/solve_run.hpp>

#include <tcsolve/app/bandwidth.hpp>
#include <tcsolve/app/failure.hpp>
#include <tcsolve/app/memory_plan.hpp>
#include <tcsolve/app/preflight.hpp>
#include <tcsolve/app/problem.hpp>
#include <tcsolve/app/progress.hpp>
#include <tcsolve/app/result.hpp>
#include <tcsolve/app/run_config.hpp>
#include <tcsolve/app/signals.hpp>
#include <tcsolve/configs/schema/number.hpp>
#include <tcsolve/io/plan_cache.hpp>
#include <tcsolve/operators/csr_operator.hpp>
#include <tcsolve/operators/lazy_operator.hpp>
#include <tcsolve/solvers/one_kernel.hpp>
#include <tcsolve/solvers/reordered_solver.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>

namespace tcsolve {
namespace {

/// Adds the seconds of f() to `sum`, also when it throws.
template <class F>
void timed(double& sum, F&& f) {
  struct Clock {
    double& sum;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    ~Clock() {
      sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
  } const clock{sum};
  f();
}

std::string brief(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

/// The solver's time_limit, wherever its Params keep it; infinite when it has none.
double time_limit_of(Block const& solver) {
  ConfigNode const* const node = solver.node().find("time_limit");
  double seconds = std::numeric_limits<double>::infinity();
  if (node) parse_number(node->scalar, seconds);
  return seconds;
}

/// The same of max_iters.
double max_iterations_of(Block const& solver) {
  ConfigNode const* const node = solver.node().find("max_iters");
  double iterations = StoppingParams{}.max_iters;
  if (node) parse_number(node->scalar, iterations);
  return iterations;
}

/// Whether a preconditioner, or one inside it, is made of blocks of rows that follow each other: an
/// order would tear apart the unknowns of a node.
bool goes_by_blocks(ConfigNode const& preconditioner) {
  if (preconditioner.scalar == "block_jacobi") return true;
  return std::ranges::any_of(preconditioner.entries, [](ConfigNode::Entry const& entry) {
    return goes_by_blocks(entry.value);
  });
}

double relative_error(std::vector<double> const& x, std::vector<double> const& solution) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::hypot(difference, x[i] - solution[i]);
    size = std::hypot(size, solution[i]);
  }
  return size > 0 ? difference / size : difference;
}

/// Operator, preconditioner, solver: what is made of a problem, and the run of it.
class Run {
 public:
  Run(Context& ctx, RunConfig const& config, Problem& problem, RunResult& result)
      : ctx_(ctx), config_(config), problem_(problem), result_(result) {
    if (!config.cache.directory.empty())
      cache_.emplace(config.cache.directory, static_cast<std::int64_t>(1e6 * config.cache.limit));
  }

  /// All but the solve: operator, preconditioner, solver.
  void prepare() {
    RunTimes& times = result_.times;
    timed(times.upload, [&] {
      ready_ = as_given(ctx_, problem_.A);
      ctx_.synchronize();
    });
    timed(times.plan, [&] { plan(); });
    times.plan -= times.reorder;
    as_setup_errors([&] {
      timed(times.convert, [&] { convert(); });
      timed(times.setup, [&] { setup(); });
    });
  }

  void solve() {
    prepare();
    if (config_.output.bandwidth)
      result_.traffic.bandwidth = measure_bandwidth(ctx_, A_->cost(1).bytes);
    Index const rows = problem_.A.rows, cols = problem_.A.cols;
    auto& x = problem_.x0;
    timed(result_.times.solve, [&] {
      result_.report = solver_->solve(vector_view<double const>(problem_.b.data(), rows),
                                      vector_view(x.data(), cols));
    });
    result_.format = A_->name();  // it may have been converted on the way
    count_bytes();
    if (!problem_.solution.empty())
      timed(result_.times.verify,
            [&] { result_.solution_error = relative_error(x, problem_.solution); });
  }

 private:
  /// A takes the order that its operator asks for; b, x0 and x keep the caller's.
  void plan() {
    Range const range(ctx_, "plan");
    auto const factory = make<OperatorRegistry>(config_.matrix_operator);
    OperatorUse use = this->use();
    use.keep_order = goes_by_blocks(config_.preconditioner.node());
    ready_ = factory->order(ctx_, problem_.A, use);
    result_.times.reorder = ready_->order_seconds;
    if (factory->reorder() == Reorder::none) return;
    result_.reordering = Reordering{.measured = false};
    if (factory->reorder() == Reorder::automatic && use.keep_order)
      return ctx_.log(Severity::detail,
                      "reorder: none, since the preconditioner goes by blocks of rows");
    Reordering const& order = ready_->order;
    bool const tried = order.measured;
    if (ready_->plan) ctx_.log(Severity::detail, text(*ready_->plan));
    ctx_.log(tried ? Severity::note : Severity::detail,
             cat("reorder: ", text(order),
                 ready_->cached.empty() ? "" : cat(" (", ready_->cached, ")")));
    result_.reordering = order;
    reordered_ = order.taken != Reorder::none;
    if (!reordered_) return;
    if (factory->needs_host()) {
      problem_.A = to_host(ctx_, ready_->matrix->view());
    } else {  // nobody looks at its entries any more
      problem_.A.offsets = {}, problem_.A.columns = {}, problem_.A.values = {};
    }
  }

  /// f(); a matrix that the operator of the config cannot hold is a failing set-up, not bad input:
  /// another `format` or `values` holds it. What f says of rows and columns is said to be of the
  /// reordered matrix.
  template <class F>
  void as_setup_errors(F const& f) const {
    std::string const numbered = reordered_ ? "; rows and columns are numbered as reordered" : "";
    try {
      f();
    } catch (SetupError const& e) {
      throw SetupError(e.what() + numbered);
    } catch (MatrixError const& e) {
      Block const& block = config_.matrix_operator;
      std::string const values = block.registry()->effective(block).find("values")->scalar;
      throw SetupError(
          cat("operator {format: ", block.type(), ", values: ", values, "}: ", e.what(), numbered));
    }
  }

  /// What the solver will do with A.
  OperatorUse use() const {
    SolverCost const cost = make<SolverRegistry>(config_.solver)->cost();
    constexpr double enough = 500;  // beyond, any conversion has paid
    return {.applies = std::min(enough, cost.products * max_iterations_of(config_.solver)),
            .transpose = cost.transpose,
            .persistent = one_kernel(),
            .cache = cache_ ? &*cache_ : nullptr,
            .ready = ready_ ? &*ready_ : nullptr};
  }

  /// Whether all but the product may be part of one kernel. On the host nobody asks.
  bool one_kernel() const {
    if (ctx_.device() == nullptr) return false;
    if (one_kernel_) return *one_kernel_;
    auto const solver = make<SolverRegistry>(config_.solver);
    bool const plain = config_.preconditioner.type() == "none";
    auto const M = plain ? nullptr : make<PreconditionerRegistry>(config_.preconditioner);
    one_kernel_ = runs_as_one_kernel(*solver, M.get());
    return *one_kernel_;
  }

  void convert() {
    Range const range(ctx_, "convert");
    auto const factory = make<OperatorRegistry>(config_.matrix_operator);
    A_ = factory->build(ctx_, problem_.A, use());
    result_.format = A_->name();
    auto const lazy = std::dynamic_pointer_cast<LazyOperator<double> const>(A_);
    csr_ = std::dynamic_pointer_cast<CsrOperator<double> const>(lazy ? lazy->first() : A_);
    bool const needs_csr = !factory->exact() || config_.preconditioner.type() != "none";
    if (!csr_ && needs_csr)
      csr_ = std::make_shared<CsrOperator<double>>(ctx_, ready_->matrix->view());
    A_true_ = factory->exact() ? A_ : OperatorPtr<double>(csr_);
    bool const borrowed = csr_ && csr_->view().columns == ready_->matrix->view().columns;
    if (!borrowed) ready_.reset();
    ctx_.synchronize();
  }

  void setup() {
    if (config_.preconditioner.type() != "none") {
      Range const range(ctx_, "preconditioner");
      M_ = make<PreconditionerRegistry>(config_.preconditioner)->build(ctx_, {csr_->view(), A_});
    }
    solver_ = make<SolverRegistry>(config_.solver);
    if (reordered_)
      solver_ =
          std::make_unique<ReorderedSolver>(std::move(solver_), std::move(result_.reordering->P));
    solver_->setup(ctx_, A_, M_, A_true_);
    ctx_.synchronize();
  }

  void count_bytes() {
    SolverCost const cost = solver_->cost();
    RunTraffic& traffic = result_.traffic;
    traffic.bytes_per_iteration = cost.products * A_->cost(1).bytes +
                                  (M_ ? cost.applications * M_->cost(1).bytes : 0) +
                                  cost.passes * 8.0 * problem_.A.cols;
    traffic.bytes = traffic.bytes_per_iteration * result_.report.iterations +
                    (1.0 + result_.report.restarts) * A_true_->cost(1).bytes;
  }

  Context& ctx_;
  RunConfig const& config_;
  Problem& problem_;
  RunResult& result_;
  std::optional<DiskCache> cache_;
  std::optional<OrderedMatrix> ready_;  // where A lies; goes after what borrows it
  bool reordered_ = false;
  mutable std::optional<bool> one_kernel_;
  OperatorPtr<double> A_, A_true_, M_;
  std::shared_ptr<CsrOperator<double> const> csr_;
  std::unique_ptr<Solver> solver_;
};

/// Tries the config on a small definite matrix with as many more rows than columns, and throws what
/// the run would throw whatever its matrix holds: a format without the transpose that the solver
/// asks for, keys that exclude each other. Writes nothing.
void rehearse(Context const& like, RunConfig config, ProblemSize const& size) {
  constexpr Index few = 24;
  Index const n = std::min({few, size.rows, size.cols});
  Problem problem;
  problem.A.rows = n + (size.rows > size.cols);
  problem.A.cols = n + (size.cols > size.rows);
  for (Index i = 0; i < problem.A.rows; ++i) {
    for (Index j = std::max<Index>(0, i - 1); j < std::min(i + 2, n); ++j) {
      problem.A.columns.push_back(j);
      problem.A.values.push_back(i == j ? 4 : -1);
    }
    problem.A.offsets.push_back(problem.A.entries());
  }
  config.cache.directory.clear();
  Context ctx(like.space() == Space::cuda ? Backend::cuda : Backend::host, like.options());
  RunResult ignored;
  try {
    Run(ctx, config, problem, ignored).prepare();
  } catch (SetupError const&) {
    // Of this matrix; that of the run may be another case.
  }
}

void print_summary(RunResult const& r, RunConfig const& config) {
  RunTimes const& t = r.times;
  std::cout << "seconds: read " << brief(t.read)
            << (r.backend == Backend::cuda ? cat(", upload ", brief(t.upload)) : "") << ", plan "
            << brief(t.plan) << (r.reordering ? cat(", reorder ", brief(t.reorder)) : "")
            << ", convert " << brief(t.convert) << ", setup " << brief(t.setup) << ", solve "
            << brief(t.solve);
  if (r.report.iterations > 0)
    std::cout << " (" << brief(1e3 * t.solve / r.report.iterations) << " ms an iteration)";
  std::cout << "\n";
  if (r.traffic.bandwidth > 0 && t.solve > 0)
    std::cout << "bandwidth: " << brief(r.traffic.bytes / t.solve / 1e9) << " of "
              << brief(r.traffic.bandwidth / 1e9) << " GB/s that a plain vector update reaches\n";
  std::cout << "results: "
            << (std::filesystem::path(config.output.directory) / "result.json").string() << "\n";
}

void print_problem(ProblemSize const& size, MemoryPlan const& plan) {
  std::cout << "problem: " << size.source << ", " << size.rows << " x " << size.cols << ", "
            << size.entries << " entries\n"
            << plan.text() << "\n"
            << std::flush;
}

/// What a run needs before its matrix: where it computes, how large the system is and that it fits.
class Setting {
 public:
  Setting(Arguments const& arguments, ParsedConfig const& parsed)
      : progress_(std::cerr, {arguments.talk, isatty(STDERR_FILENO) == 1, parsed.run.output.every,
                              time_limit_of(parsed.run.solver)}),
        ctx_(parsed.run.backend,
             {.seed = parsed.run.seed, .deterministic = parsed.run.deterministic}, &progress_) {
    parsed.require_files();
    size_ = problem_size(parsed);
    MemoryPlan const plan = plan_memory(ctx_, parsed.run, size_);
    if (arguments.talk != Talk::quiet) print_problem(size_, plan);
    plan.require();
  }
  ~Setting() { progress_.clear(); }
  Setting(Setting const&) = delete;
  Setting& operator=(Setting const&) = delete;

  Context& context() { return ctx_; }
  ProblemSize const& size() const { return size_; }
  void clear_progress() { progress_.clear(); }

 private:
  ProgressDisplay progress_;
  Context ctx_;
  ProblemSize size_;
};

int dry_run(Arguments const& arguments, ParsedConfig const& parsed) {
  Setting setting(arguments, parsed);
  rehearse(setting.context(), parsed.run, setting.size());
  std::cout << "dry run: the config is valid; nothing was solved\n";
  return 0;
}

/// Reads the system and solves it; fills `result`, also where it throws.
void read_and_solve(Setting& setting, ParsedConfig const& parsed, Problem& problem,
                    RunResult& result) {
  Context& ctx = setting.context();
  ProblemSize const& size = setting.size();
  result.source = size.source;
  result.backend = ctx.space() == Space::cuda ? Backend::cuda : Backend::host;
  result.device = ctx.device_name();
  result.rows = size.rows;
  result.cols = size.cols;
  timed(result.times.read, [&] { problem = load_problem(parsed); });
  result.entries = problem.A.entries();
  result.warnings = preflight(parsed.run.solver.type(), problem.A);
  for (std::string const& warning : result.warnings) ctx.log(Severity::warning, warning);
  Run(ctx, parsed.run, problem, result).solve();
  result.exit_code = result.report.exit_code();
  if (!std::isnan(result.solution_error))
    result.report.message += cat("; error against the solution ", brief(result.solution_error));
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
  ParsedConfig const parsed = read_config(arguments.subject, arguments.sets, registries.catalog);
  RunConfig const& config = parsed.run;
  if (arguments.dry_run || arguments.talk == Talk::verbose) std::cout << dump_yaml(config);
  if (arguments.dry_run) return dry_run(arguments, parsed);

  prepare_directory(config.output, parsed.files);
  RunResult result;
  Problem problem;
  bool begun = false;  // what fails from here on may be a verdict
  try {
    require_inputs_to_stay(config.output, parsed.files);
    Setting setting(arguments, parsed);
    CancelOnSignal const signals(setting.context());  // until the files are written
    begun = true;
    read_and_solve(setting, parsed, problem, result);
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
