// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/solve_run.hpp>

#include <tcsolve/app/bandwidth.hpp>
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
#include <tcsolve/solvers/reordered_solver.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <new>

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

  void solve() {
    RunTimes& times = result_.times;
    timed(times.reorder, [&] { reorder(); });
    in_these_numbers([&] {
      timed(times.convert, [&] { convert(); });
      timed(times.setup, [&] { setup(); });
    });
    if (config_.output.bandwidth)
      result_.traffic.bandwidth = measure_bandwidth(ctx_, A_->cost(1).bytes);
    Index const rows = problem_.A.rows, cols = problem_.A.cols;
    auto& x = problem_.x0;
    timed(times.solve, [&] {
      result_.report = solver_->solve(vector_view<double const>(problem_.b.data(), rows),
                                      vector_view(x.data(), cols));
    });
    result_.format = A_->name();  // it may have been converted on the way
    count_bytes();
    if (!problem_.solution.empty())
      timed(times.verify, [&] { result_.solution_error = relative_error(x, problem_.solution); });
  }

 private:
  /// A takes the order that its operator asks for; b, x0 and x keep the caller's.
  void reorder() {
    auto const factory = make<OperatorRegistry>(config_.matrix_operator);
    if (factory->reorder() == Reorder::none) return;
    if (factory->reorder() == Reorder::automatic && goes_by_blocks(config_.preconditioner.node())) {
      ctx_.log(Severity::detail, "reorder: none, since the preconditioner goes by blocks of rows");
      result_.reordering = Reordering{.measured = false};
      return;
    }
    ready_ = factory->order(ctx_, problem_.A, use());
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

  /// f(); what it says of rows and columns is said to be of the reordered matrix.
  template <class F>
  void in_these_numbers(F const& f) const {
    auto const text = [](Error const& e) {
      return cat(e.what(), "; rows and columns are numbered as reordered");
    };
    try {
      f();
    } catch (SetupError const& e) {
      if (!reordered_) throw;
      throw SetupError(text(e));
    } catch (MatrixError const& e) {
      if (!reordered_) throw;
      throw MatrixError(text(e));
    }
  }

  /// What the solver will do with A.
  OperatorUse use() const {
    SolverCost const cost = make<SolverRegistry>(config_.solver)->cost();
    constexpr double enough = 500;  // beyond, any conversion has paid
    std::string const& M = config_.preconditioner.type();
    return {.applies = std::min(enough, cost.products * max_iterations_of(config_.solver)),
            .transpose = cost.transpose,
            .persistent = M == "none" || M == "jacobi" || M == "block_jacobi",
            .cache = cache_ ? &*cache_ : nullptr,
            .ready = ready_ ? &*ready_ : nullptr};
  }

  void convert() {
    auto const factory = make<OperatorRegistry>(config_.matrix_operator);
    A_ = factory->build(ctx_, problem_.A, use());
    result_.format = A_->name();
    auto const lazy = std::dynamic_pointer_cast<LazyOperator<double> const>(A_);
    csr_ = std::dynamic_pointer_cast<CsrOperator<double> const>(lazy ? lazy->first() : A_);
    bool const needs_csr = !factory->exact() || config_.preconditioner.type() != "none";
    if (!csr_ && needs_csr)
      csr_ = std::make_shared<CsrOperator<double>>(
          ctx_, ready_ ? ready_->matrix->view() : problem_.A.view());
    A_true_ = factory->exact() ? A_ : OperatorPtr<double>(csr_);
    bool const borrowed = csr_ && ready_ && csr_->view().columns == ready_->matrix->view().columns;
    if (!borrowed) ready_.reset();
    ctx_.synchronize();
  }

  void setup() {
    if (config_.preconditioner.type() != "none")
      M_ = make<PreconditionerRegistry>(config_.preconditioner)->build(ctx_, {csr_->view(), A_});
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
  std::optional<OrderedMatrix> ready_;  // goes after what borrows it
  bool reordered_ = false;
  OperatorPtr<double> A_, A_true_, M_;
  std::shared_ptr<CsrOperator<double> const> csr_;
  std::unique_ptr<Solver> solver_;
};

void fail(RunResult& result, Stop reason, std::string const& message) {
  result.report = {};
  result.report.reason = reason;
  result.report.message = message;
  double const unknown = std::numeric_limits<double>::quiet_NaN();
  result.report.true_residual = result.report.recurrence_residual = unknown;
}

void print_summary(RunResult const& r, RunConfig const& config) {
  RunTimes const& t = r.times;
  std::cout << "seconds: read " << brief(t.read)
            << (r.reordering ? cat(", reorder ", brief(t.reorder)) : "") << ", convert "
            << brief(t.convert) << ", setup " << brief(t.setup) << ", solve " << brief(t.solve);
  if (r.report.iterations > 0)
    std::cout << " (" << brief(1e3 * t.solve / r.report.iterations) << " ms an iteration)";
  std::cout << "\n";
  if (r.traffic.bandwidth > 0 && t.solve > 0)
    std::cout << "bandwidth: " << brief(r.traffic.bytes / t.solve / 1e9) << " of "
              << brief(r.traffic.bandwidth / 1e9) << " GB/s that a plain vector update reaches\n";
  std::cout << "results: "
            << (std::filesystem::path(config.output.directory) / "result.json").string() << "\n";
}

}  // namespace

int solve_run(Arguments const& arguments, Registries const& registries) {
  bool const quiet = arguments.talk == Talk::quiet;
  ParsedConfig const parsed = read_config(arguments.subject, arguments.sets, registries.catalog);
  RunConfig const& config = parsed.run;
  double const time_limit = time_limit_of(config.solver);
  ProgressDisplay progress(
      std::cerr, {arguments.talk, isatty(STDERR_FILENO) == 1, config.output.every, time_limit});
  Context ctx(config.backend, {.seed = config.seed, .deterministic = config.deterministic},
              &progress);
  if (arguments.dry_run || arguments.talk == Talk::verbose) std::cout << dump_yaml(config);

  ProblemSize const size = problem_size(parsed);
  MemoryPlan const plan = plan_memory(ctx, config, size);
  if (!quiet)
    std::cout << "problem: " << size.source << ", " << size.rows << " x " << size.cols << ", "
              << size.entries << " entries\n"
              << plan.text() << "\n"
              << std::flush;
  plan.require();
  if (arguments.dry_run) {
    std::cout << "dry run: the config is valid; nothing was solved\n";
    return 0;
  }
  prepare_directory(config.output.directory);

  CancelOnSignal const signals(ctx);
  RunResult result;
  result.source = size.source;
  result.backend = ctx.space() == Space::cuda ? Backend::cuda : Backend::host;
  result.device = ctx.device_name();
  result.rows = size.rows;
  result.cols = size.cols;
  Problem problem;
  try {
    timed(result.times.read, [&] { problem = load_problem(parsed); });
    result.entries = problem.A.entries();
    result.warnings = preflight(config.solver.type(), problem.A);
    for (std::string const& warning : result.warnings) ctx.log(Severity::warning, warning);
    Run(ctx, config, problem, result).solve();
  } catch (SetupError const& e) {
    fail(result, Stop::setup_failed, cat("setup_failed: ", e.what()));
  } catch (MemoryError const& e) {
    fail(result, Stop::out_of_memory, cat("out_of_memory: ", e.what()));
  } catch (std::bad_alloc const&) {
    fail(result, Stop::out_of_memory, "out_of_memory: take a smaller problem or a smaller restart");
  }
  progress.clear();
  result.exit_code = result.report.exit_code();
  if (!std::isnan(result.solution_error))
    result.report.message += cat("; error against the solution ", brief(result.solution_error));
  write_results(result, config, problem.x0);
  if (!quiet) print_summary(result, config);
  std::cout << result.report.message << "\n" << std::flush;
  return result.exit_code;
}

}  // namespace tcsolve
