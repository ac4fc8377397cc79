// SPDX-License-Identifier: Apache-2.0
/// tcsolve.h by LinearSolver. Every function ends in guarded(): no exception crosses the border.
#include "bindings/c/arrays.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/api/report_json.hpp>
#include <tcsolve/operators/function_operator.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/version.hpp>

namespace {

using namespace tcsolve;
using namespace tcsolve::c;

/// What a function of the caller's has returned in the place of 0.
struct CallbackError : Error {
  using Error::Error;
};
struct NotSolved : Error {
  using Error::Error;
};

thread_local std::string last_error;

tcs_status code_of(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (ConfigError const&) { return TCS_CONFIG; } catch (MatrixError const&) {
    return TCS_MATRIX;
  } catch (SetupError const&) { return TCS_MATRIX; } catch (ShapeError const&) {
    return TCS_SHAPE;
  } catch (Unsupported const&) { return TCS_UNSUPPORTED; } catch (NotBuilt const&) {
    return TCS_NOT_BUILT;
  } catch (DeviceError const&) { return TCS_DEVICE; } catch (MemoryError const&) {
    return TCS_MEMORY;
  } catch (std::bad_alloc const&) { return TCS_MEMORY; } catch (Cancelled const&) {
    return TCS_CANCELLED;
  } catch (OutOfTime const&) { return TCS_CANCELLED; } catch (BusyError const&) {
    return TCS_BUSY;
  } catch (CallbackError const&) { return TCS_CALLBACK; } catch (NotSolved const&) {
    return TCS_NOT_SOLVED;
  } catch (...) { return TCS_INTERNAL; }
}

/// f(), and what it threw as a status and a text.
template <class F>
tcs_status guarded(F const& f) noexcept {
  try {
    last_error.clear();
    f();
    return TCS_OK;
  } catch (...) {
    std::exception_ptr const thrown = std::current_exception();
    try {
      try {
        std::rethrow_exception(thrown);
      } catch (std::exception const& e) { last_error = e.what(); } catch (...) {
        last_error = "something that is no std::exception was thrown";
      }
      return code_of(thrown);
    } catch (...) {  // the text did not fit into memory
      return TCS_MEMORY;
    }
  }
}

class LogTo final : public Observer {
 public:
  LogTo(tcs_log log, void* user) : log_(log), user_(user) {}
  using Observer::on;
  void on(LogEvent const& event) override {
    log_(user_, static_cast<std::int32_t>(event.severity), event.text.c_str());
  }

 private:
  tcs_log log_;
  void* user_;
};

struct ContextKeys {
  Backend backend = Backend::automatic;
  int device = 0;
  int threads = 0;
  std::uint64_t seed = 1;
  bool deterministic = true;

  static constexpr auto schema() {
    using P = ContextKeys;
    return std::tuple{field(&P::backend, "backend", "auto, host or cuda"),
                      field(&P::device, "device", between(0, 1023), "CUDA ordinal"),
                      field(&P::threads, "threads", between(0, 1024), "of the host"),
                      field(&P::seed, "seed", "of random vectors and probes"),
                      field(&P::deterministic, "deterministic", "the same bits on every run")};
  }
};

/// A Context and who hears of it, in their order of destruction.
struct Place {
  std::optional<LogTo> log;
  std::optional<Context> ctx;
};

/// The caller's product for every column of a block.
FunctionOperator<double>::Function product_by(tcs_apply apply, void* user, bool transpose) {
  return [=](Context& ctx, In<double> x, Out<double> y) {
    auto const call = [&](double const* from, double* to) {
      std::int32_t const code = apply(user, from, to, transpose ? 1 : 0, ctx.stream());
      if (code == TCS_UNSUPPORTED)
        throw Unsupported(cat("the caller's operator: ", transpose ? "A^T" : "the product"));
      if (code != 0) throw CallbackError(cat("the caller's operator returned ", code));
    };
    if (x.is_vector() && y.is_vector()) return call(x.data, y.data);
    if (ctx.space() != Space::host)
      throw Unsupported("the caller's operator: a block of vectors on a device");
    std::vector<double> from(static_cast<std::size_t>(x.rows)),
        to(static_cast<std::size_t>(y.rows));
    for (Index j = 0; j < x.cols; ++j) {
      for (Index i = 0; i < x.rows; ++i) from[static_cast<std::size_t>(i)] = x.data[x.offset(i, j)];
      call(from.data(), to.data());
      for (Index i = 0; i < y.rows; ++i) y.data[y.offset(i, j)] = to[static_cast<std::size_t>(i)];
    }
  };
}

OperatorPtr<double> operator_by(Index rows, Index cols, tcs_apply apply, void* user) {
  return std::make_shared<FunctionOperator<double>>(
      rows, cols, product_by(apply, user, false),
      FunctionOperator<double>::Options{.transposed = product_by(apply, user, true)});
}

SolveCall call_of(tcs_call const& c) {
  SolveCall call;
  auto const given = [](double v) { return std::isnan(v) ? std::nullopt : std::optional(v); };
  call.rtol = given(c.rtol);
  call.atol = given(c.atol);
  call.time_limit = given(c.time_limit);
  if (c.max_iters < -1) throw ConfigError(cat("tcs_call.max_iters = ", c.max_iters));
  if (c.max_iters >= 0)
    call.max_iters =
        static_cast<Index>(std::min<std::int64_t>(c.max_iters, std::numeric_limits<Index>::max()));
  call.transpose = c.transpose != 0;
  call.zero_guess = c.zero_guess != 0;
  call.stream = c.stream;
  call.every = std::max<std::int32_t>(1, c.every);
  if (c.progress != nullptr)
    call.progress = [c](IterationEvent const& e) {
      return c.progress(c.user, e.iteration, e.norm) != 0;
    };
  return call;
}

}  // namespace

struct tcs_context {
  std::shared_ptr<Place> place;
};

struct tcs_solver {
  std::shared_ptr<Place> place;  // null: the solver's own Context; declared first, it outlives it
  std::optional<LinearSolver> solver;
  std::string text;

  Context& ctx() { return solver->context(); }
};

struct tcs_report {
  std::vector<SolveReport> columns;
  std::size_t at = 0;
  mutable std::string outcome, json;  // handed out; empty until they are asked for
};

namespace {

/// A request to cancel is spent with the call that it has ended.
template <class F>
tcs_status with(tcs_solver* s, F const& f) noexcept {
  return guarded([&] {
    require(s, "the solver");
    try {
      f();
    } catch (Cancelled const&) {
      s->ctx().clear_cancel();
      throw;
    }
  });
}

SolveReport const* selected(tcs_report const* r) {
  return r == nullptr || r->columns.empty() ? nullptr : &r->columns[r->at];
}

}  // namespace

extern "C" {

uint32_t tcs_version(void) { return TCSOLVE_VERSION; }
char const* tcs_version_text(void) { return version::release; }
int32_t tcs_has_cuda(void) { return has_cuda ? 1 : 0; }
char const* tcs_last_error(void) { return last_error.c_str(); }

tcs_status tcs_context_create(tcs_context** made, char const* options, tcs_log log, void* user) {
  return guarded([&] {
    require(made, "made");
    *made = nullptr;
    ContextKeys keys;
    if (options != nullptr && *options != '\0') {
      Diagnostics problems;
      read_params(parse_yaml(options, "context"), keys, problems, "the options of a context");
      problems.throw_if_any();
    }
    auto place = std::make_shared<Place>();
    if (log != nullptr) place->log.emplace(log, user);
    place->ctx.emplace(keys.backend,
                       ContextOptions{.seed = keys.seed,
                                      .deterministic = keys.deterministic,
                                      .device = keys.device,
                                      .threads = keys.threads},
                       place->log ? &*place->log : nullptr);
    *made = new tcs_context{std::move(place)};
  });
}

void tcs_context_free(tcs_context* context) { delete context; }

tcs_status tcs_solver_create(tcs_solver** made, tcs_context* context, char const* options) {
  return guarded([&] {
    require(made, "made");
    *made = nullptr;
    bool const given = options != nullptr && *options != '\0';
    SolverOptions const read = SolverOptions::from_yaml(given ? options : "{}");
    auto solver = std::make_unique<tcs_solver>();
    if (context != nullptr) {
      solver->place = context->place;
      solver->solver.emplace(*solver->place->ctx, read);
    } else {
      solver->solver.emplace(read);
    }
    *made = solver.release();
  });
}

void tcs_solver_free(tcs_solver* solver) { delete solver; }

tcs_status tcs_solver_set_nodes(tcs_solver* s, tcs_nodes const* nodes) {
  return with(s, [&] { s->solver->set_nodes(node_facts(nodes)); });
}

tcs_status tcs_solver_set_csr(tcs_solver* s, tcs_csr const* a, int32_t borrow) {
  return with(s, [&] {
    s->solver->set_matrix(caller_csr(a), borrow != 0 ? Arrays::borrowed : Arrays::copied);
  });
}

tcs_status tcs_solver_set_operator(tcs_solver* s, int64_t rows, int64_t cols, tcs_apply A,
                                   tcs_apply M, void* user) {
  return with(s, [&] {
    if (A == nullptr) throw ShapeError("the operator is null");
    Index const n = narrow(rows, "rows"), m = narrow(cols, "cols");
    s->solver->set_operator(operator_by(n, m, A, user),
                            M != nullptr ? operator_by(m, m, M, user) : nullptr);
  });
}

tcs_status tcs_solver_update_values(tcs_solver* s, tcs_csr const* a) {
  return with(s, [&] { s->solver->update_values(caller_csr(a)); });
}

tcs_status tcs_solver_set_coo(tcs_solver* s, tcs_coo const* a) {
  return with(s, [&] {
    TakenEntries const taken(a);
    s->solver->set_coo(taken.view);
  });
}

tcs_status tcs_solver_update_coo(tcs_solver* s, double const* values, int64_t entries,
                                 int32_t space) {
  return with(s, [&] {
    if (entries < 0) throw ShapeError(cat("entries = ", entries));
    if (entries > 0) require(values, "values");
    one_of(space, TCS_HOST, TCS_CUDA, "space");
    s->solver->update_coo({values, static_cast<std::size_t>(entries)},
                          space == TCS_HOST ? Space::host : Space::cuda);
  });
}

void tcs_call_init(tcs_call* call) {
  if (call == nullptr) return;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  *call = {sizeof(tcs_call), nan, nan, -1, nan, 0, 0, nullptr, nullptr, nullptr, 1};
}

tcs_status tcs_solver_solve(tcs_solver* s, double const* b, double* x, int64_t columns, int64_t ld,
                            int32_t space, tcs_call const* call, tcs_report** report) {
  return with(s, [&] {
    if (report != nullptr) *report = nullptr;
    tcs_call filled;
    tcs_call_init(&filled);
    if (call != nullptr) filled = of_size(call, filled, "tcs_call");
    SolveCall const asked = call_of(filled);
    OperatorPtr<double> const A = s->solver->ready() ? s->solver->A() : nullptr;
    if (!A) throw ShapeError("solve without a matrix; call tcs_solver_set_csr");
    Index const k = narrow(columns, "columns");
    Index const rows = asked.transpose ? A->cols() : A->rows();
    Index const cols = asked.transpose ? A->rows() : A->cols();
    if (space != TCS_HOST && space != TCS_CUDA)
      throw ShapeError(cat("space = ", space, "; it is TCS_HOST or TCS_CUDA"));
    if (rows > 0 && k > 0) require(b, "b");
    if (cols > 0 && k > 0) require(x, "x");
    if (k > 1 && ld < std::max(rows, cols))
      throw ShapeError(cat("ld = ", ld, " is less than ", std::max(rows, cols), " rows"));
    Space const where = space == TCS_HOST ? Space::host : Space::cuda;
    std::int64_t const apart = k > 1 ? ld : std::max<std::int64_t>(1, std::max(rows, cols));
    In<double> const B{b, rows, k, apart, Layout::col_major, where};
    Out<double> const X{x, cols, k, apart, Layout::col_major, where};
    auto told = std::make_unique<tcs_report>();
    if (k == 1)
      told->columns.push_back(s->solver->solve(B, X, asked));
    else
      told->columns = s->solver->solve_columns(B, X, asked);
    bool const cancelled = std::ranges::any_of(
        told->columns, [](SolveReport const& r) { return r.reason == Stop::cancelled; });
    if (cancelled) s->ctx().clear_cancel();
    if (report != nullptr) {
      *report = told.release();
      return;
    }
    for (SolveReport const& r : told->columns)
      if (!r.solved()) throw NotSolved(r.message);
  });
}

tcs_status tcs_solver_cancel(tcs_solver* s) {
  if (s == nullptr) return TCS_SHAPE;
  s->ctx().cancel();
  return TCS_OK;
}

char const* tcs_solver_text(tcs_solver* s, char const* key) {
  char const* found = nullptr;
  guarded([&] {
    require(s, "the solver");
    require(key, "key");
    std::string const wanted = key;
    if (wanted == "format")
      s->text = s->solver->ready() ? s->solver->format() : "";
    else if (wanted == "setup")
      s->text = to_json(s->solver->setup_report());
    else if (wanted == "options")
      s->text = dump_json(s->solver->options());
    else
      return;
    found = s->text.c_str();
  });
  return found;
}

int32_t tcs_report_solved(tcs_report const* r) {
  return r != nullptr && std::ranges::all_of(r->columns, &SolveReport::solved) ? 1 : 0;
}

int64_t tcs_report_columns(tcs_report const* r) {
  return r == nullptr ? 0 : static_cast<int64_t>(r->columns.size());
}

tcs_status tcs_report_select(tcs_report* r, int64_t column) {
  return guarded([&] {
    require(r, "the report");
    if (column < 0 || column >= tcs_report_columns(r))
      throw ShapeError(cat("column ", column, " of a report of ", r->columns.size()));
    r->at = static_cast<std::size_t>(column);
    r->outcome.clear();
    r->json.clear();
  });
}

double tcs_report_number(tcs_report const* r, char const* key) {
  SolveReport const* const at = selected(r);
  if (at == nullptr || key == nullptr) return SolveReport::unknown;
  std::pair<char const*, double> const numbers[] = {
      {"iterations", at->iterations},
      {"restarts", at->restarts},
      {"true_residual", at->true_residual},
      {"recurrence_residual", at->recurrence_residual},
      {"initial_residual", at->initial_residual},
      {"best_residual", at->best_residual},
      {"tolerance", at->tolerance},
      {"rhs_norm", at->rhs_norm},
      {"backward_error", at->backward_error},
      {"rowwise_error", at->rowwise_error},
      {"attainable", at->attainable},
      {"condition", at->condition},
      {"products", static_cast<double>(at->products)},
      {"applications", static_cast<double>(at->applications)},
      {"inner_iterations", static_cast<double>(at->inner_iterations)},
      {"seconds", at->seconds},
      {"setup_seconds", at->setup_seconds},
      {"loop_seconds", at->loop_seconds},
      {"exit_code", at->exit_code()},
      {"converged", at->converged() ? 1.0 : 0.0},
      {"solved", at->solved() ? 1.0 : 0.0}};
  auto const found = std::ranges::find_if(
      numbers, [&](auto const& number) { return std::strcmp(number.first, key) == 0; });
  return found == std::end(numbers) ? SolveReport::unknown : found->second;
}

char const* tcs_report_text(tcs_report const* r, char const* key) {
  SolveReport const* const at = selected(r);
  if (at == nullptr || key == nullptr) return nullptr;
  std::string_view const wanted = key;
  if (wanted == "message") return at->message.c_str();
  if (wanted == "reason") return name(at->reason);
  if (wanted == "cause") return name(at->cause);
  char const* found = nullptr;
  guarded([&] {
    if (wanted == "outcome" && r->outcome.empty()) r->outcome = at->outcome();
    if (wanted == "json" && r->json.empty()) r->json = to_json(*at);
    if (wanted == "outcome") found = r->outcome.c_str();
    if (wanted == "json") found = r->json.c_str();
  });
  return found;
}

int64_t tcs_report_history(tcs_report const* r, int64_t* iterations, double* norms, int64_t room) {
  SolveReport const* const at = selected(r);
  if (at == nullptr) return 0;
  auto const there = static_cast<int64_t>(at->history.size());
  for (int64_t i = 0; i < std::min(there, room); ++i) {
    Record const& record = at->history[static_cast<std::size_t>(i)];
    if (iterations != nullptr) iterations[i] = record.iteration;
    if (norms != nullptr) norms[i] = record.norm;
  }
  return there;
}

void tcs_report_free(tcs_report* report) { delete report; }

}  // extern "C"
