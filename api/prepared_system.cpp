// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/prepared_system.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <tcsolve/api/auto_solver.hpp>
#include <tcsolve/core/phase.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/formats/choose/lazy_operator.hpp>
#include <tcsolve/formats/converted_operator.hpp>
#include <tcsolve/solvers/loop/one_kernel.hpp>

namespace tcsolve {
namespace {

/// New values for an operator that this solver has made; for its other holders it is constant.
void give_values(Context& ctx, OperatorPtr<double> const& A, CsrView<double> const& a) {
  std::const_pointer_cast<LinearOperator<double>>(A)->update_values(ctx, a);
}

}  // namespace

PreparedSystem::PreparedSystem(Context& ctx, SolverOptions const& options)
    : ctx_(ctx), options_(options), parts_(options_) {
  if (!options.cache.directory.empty())
    cache_.emplace(options.cache.directory, static_cast<std::int64_t>(1e6 * options.cache.limit));
}

/// Frees everything, the method's workspace included, before the next matrix is loaded.
void PreparedSystem::clear() {
  bool const used = solver_ || A_;
  solver_.reset();
  order_.reset();
  if (used) parts_.method.reset();
  owned_.reset();
  M_ = A_true_ = A_ = nullptr;
  csr_.reset();
  ready_.reset();
  matrix_ = {};
  given_ = {};
  lazy_ = false;
  if (used) parts_.renew_method(options_);  // may throw
}

/// Calls f(). If f throws, clears everything but the report and rethrows. Throws Cancelled where
/// that came after f's last look at the flag: nobody takes it for a request to the next call.
template <class F>
void PreparedSystem::or_clear(F const& f) {
  Context::Entry const entry(ctx_);
  try {
    f();
    if (ctx_.cancelled()) throw Cancelled();
  } catch (...) {
    clear();
    throw;
  }
}

void PreparedSystem::load(CsrView<double> const& a, Arrays arrays) {
  HostMatrix::Loan const loan = host_->lend(a);
  load_by(a, [&] { matrix_.take(ctx_, a, arrays, needs_host()); });
}

void PreparedSystem::load(Csr<double> a) {
  if (ctx_.space() != Space::host && !needs_host())  // it stays until the preconditioner is made
    return load(a.view(), Arrays::copied);
  HostMatrix::Loan const loan = host_->lend_nothing();
  load_by(a.view(), [&] { matrix_.take(ctx_, std::move(a), needs_host()); });
}

/// take() may move what `a` is a view of.
template <class Take>
void PreparedSystem::load_by(CsrView<double> const& a, Take const& take) {
  clear();
  report_ = {};
  or_clear([&] {
    if (parts_.chooser != nullptr)
      phase(ctx_, "looking at the matrix", report_.plan,
            [&] { parts_.chooser->look(ctx_, host_->of(ctx_, a)); });
    phase(ctx_, ctx_.space() == Space::cuda ? "uploading the matrix" : "taking the matrix",
          report_.upload, [&] {
            take();
            ctx_.synchronize();
          });
    phase(ctx_, "choosing an order and a format", report_.plan, [&] { plan(); });
    report_.plan -= report_.reorder;
    as_setup_errors([&] {
      phase(ctx_, "converting the matrix", report_.convert, [&] { convert(); });
      phase(ctx_, "setting up", report_.setup, [&] { setup(); });
    });
  });
}

void PreparedSystem::load(GivenOperators given) {
  HostMatrix::Loan const loan = host_->lend_nothing();
  clear();
  report_ = {};
  given_ = std::move(given);
  or_clear([&] {
    A_ = given_.A;
    if (!A_) throw ShapeError("LinearSolver: the operator is null");
    A_true_ = given_.A_true ? given_.A_true : A_;
    csr_ = std::dynamic_pointer_cast<CsrOperator<double> const>(A_);
    report_.format = A_->name();
    if (parts_.chooser != nullptr && csr_)
      parts_.chooser->look(ctx_, host_->of(ctx_, csr_->view()));
    phase(ctx_, "setting up", report_.setup, [&] { setup(); });
  });
}

/// Reorders A as the operator factory chooses; b, x0 and x stay in the caller's order.
void PreparedSystem::plan() {
  Range const range(ctx_, "plan");
  OperatorFactory const& factory = *parts_.matrix_operator;
  ready_.emplace();
  ready_->order.measured = false;
  ready_->matrix = matrix_.storage();
  OperatorUse use = this->use();
  use.keep_order = parts_.preconditioner->goes_by_blocks();
  ready_ = factory.order(ctx_, matrix_.host(), use);
  report_.reorder = ready_->order_seconds;
  if (factory.reorder() == Reorder::none) return;
  report_.reordering = Reordering{.measured = false};
  if (factory.reorder() == Reorder::automatic && use.keep_order)
    return ctx_.log(Severity::detail,
                    "reorder: none, since the preconditioner goes by blocks of rows");
  Reordering const& order = ready_->order;
  if (ready_->plan) ctx_.log(Severity::detail, text(*ready_->plan));
  ctx_.log(
      order.measured ? Severity::note : Severity::detail,
      cat("reorder: ", text(order), ready_->cached.empty() ? "" : cat(" (", ready_->cached, ")")));
  report_.reordering = Reordering{order.taken, {}, order.before, order.after, order.measured};
  if (order.taken == Reorder::none) return;
  order_ = std::make_shared<Permutation const>(std::move(ready_->order.P));
  host_->clear();  // the entries are in another order
  // The const_cast is safe: the reordered matrix was made for this call and has no other owner.
  matrix_.reorder(ctx_, std::const_pointer_cast<CsrStorage<double>>(ready_->matrix),
                  factory.needs_host());
}

/// Calls f() and turns a MatrixError into a SetupError: the matrix is valid, and another `format`
/// or `values` may hold it. After a reordering the message adds that rows and columns are numbered
/// as reordered.
template <class F>
void PreparedSystem::as_setup_errors(F const& f) const {
  std::string const numbered = order_ ? "; rows and columns are numbered as reordered" : "";
  try {
    f();
  } catch (SetupError const& e) {
    throw SetupError(e.what() + numbered);
  } catch (MatrixError const& e) {
    Block const& block = options_.matrix_operator;
    ConfigNode const effective = block.registry()->effective(block);
    ConfigNode const* const values =
        effective.find("values");  // a format registered by the caller may lack this key
    throw SetupError(cat("operator {format: ", block.type(),
                         values != nullptr ? cat(", values: ", values->scalar) : "",
                         "}: ", e.what(), numbered));
  }
}

/// The method's use of A: number of products, A^T, one-kernel execution.
OperatorUse PreparedSystem::use() const {
  SolverCost const cost = parts_.method->cost();
  constexpr double enough = 500;  // products after which any conversion has paid for itself
  constexpr Index unknown = 8;    // columns, where a block method may get any number
  Index const together = parts_.method->columns_at_once();
  Index const given = options_.columns > 0 ? options_.columns : unknown;
  return {.applies = std::min(enough, cost.products * parts_.method->limits().iterations),
          .columns = std::min(together, given),
          .transpose = cost.transpose,
          .persistent = one_kernel(),
          .vectors = parts_.method->vectors(),
          .cache = cache_ ? &*cache_ : nullptr,
          .ready = ready_ ? &*ready_ : nullptr};
}

/// Whether all but the product may be part of one kernel. On the host: false.
bool PreparedSystem::one_kernel() const {
  if (ctx_.device() == nullptr) return false;
  if (one_kernel_) return *one_kernel_;
  // runs_as_one_kernel() sets the method up, so it gets an instance of its own.
  if (parts_.chooser != nullptr) {
    one_kernel_ = options_.nullspace.empty() && parts_.chooser->begins_as_one_kernel();
    return *one_kernel_;
  }
  auto const method = make<SolverRegistry>(options_.solver);
  bool const plain = parts_.preconditioner->is_identity();
  one_kernel_ = (plain || options_.nullspace.empty()) &&
                runs_as_one_kernel(*method, plain ? nullptr : parts_.preconditioner.get());
  return *one_kernel_;
}

void PreparedSystem::convert() {
  Range const range(ctx_, "convert");
  OperatorFactory const& factory = *parts_.matrix_operator;
  A_ = factory.build(ctx_, matrix_.host(), use());
  report_.format = A_->name();
  auto const lazy = std::dynamic_pointer_cast<LazyOperator<double> const>(A_);
  lazy_ = lazy != nullptr;
  csr_ = std::dynamic_pointer_cast<CsrOperator<double> const>(lazy ? lazy->first() : A_);
  if (!csr_ && parts_.needs_csr())
    csr_ = std::make_shared<CsrOperator<double>>(ctx_,
                                                 CsrStorage<double>(ctx_, ready_->matrix->view()));
  A_true_ = parts_.exact() ? A_ : OperatorPtr<double>(csr_);
  bool const borrowed = csr_ && csr_->view().columns == ready_->matrix->view().columns;
  ready_.reset();
  Csr<double> left = matrix_.settle(ctx_, borrowed);
  if (ctx_.space() != Space::host && left.entries() > 0) host_->keep(std::move(left));
  ctx_.synchronize();
}

void PreparedSystem::setup() {
  auto const start = std::chrono::steady_clock::now();
  make_preconditioner();
  frame_method();
  solver_ = parts_.method;
  try {
    setup_method();
  } catch (...) {
    solver_.reset();
    throw;
  }
  old_ = false;
  renewal_.renewed(seconds_since(start));
}

/// The method's frame: the order that was taken and the nullspace that the options give.
void PreparedSystem::frame_method() {
  Framing framing{.order = order_};
  if (!options_.nullspace.empty())
    framing.nullspace = nullspace_vectors(options_.nullspace, A_->cols());
  if (framing.order || !framing.nullspace.empty()) parts_.method->frame(std::move(framing));
}

void PreparedSystem::setup_method() {
  AutoSolver* const chooser = parts_.chooser;
  if (chooser != nullptr) chooser->take(system(), old_);
  solver_->setup(ctx_, A_, chooser != nullptr ? given_.M : M_, A_true_);
  if (chooser != nullptr) old_ = chooser->is_old();
  report_.preconditioner = M() ? M()->details() : "";
  ctx_.synchronize();
}

OperatorPtr<double> PreparedSystem::M() const {
  return parts_.chooser != nullptr ? parts_.chooser->M() : M_;
}

System PreparedSystem::system() const {
  return {.matrix = csr_ ? csr_->view() : CsrView<double>{}, .A = A_, .host = host_};
}

void PreparedSystem::own(std::unique_ptr<Preconditioner> made) {
  owned_ = std::move(made);
  M_ = owned_->view();
}

void PreparedSystem::make_preconditioner() {
  Range const range(ctx_, "preconditioner");
  PreconditionerFactory const& factory = *parts_.preconditioner;
  if (parts_.chooser != nullptr) return;
  owned_.reset();
  M_ = given_.M;
  if (M_ || factory.is_identity()) return;
  if (!csr_ && factory.needs_matrix())
    throw Unsupported(cat("the preconditioner '", options_.preconditioner.type(),
                          "' is made of a matrix, and ", A_->name(),
                          " is none in csr; give one of your own, or take 'none'"));
  own(build_within_memory(ctx_, factory, system(), options_.preconditioner.type()));
  if (!M_->details().empty()) ctx_.log(Severity::detail, cat(M_->name(), ": ", M_->details()));
}

void PreparedSystem::update_values(CsrView<double> const& a) {
  if (given_.A)
    throw Unsupported(cat("LinearSolver: update_values: ", A_->name(),
                          " is the caller's; give it its values, then call refresh()"));
  if (a.rows != A_->rows() || a.cols != A_->cols() || a.entries != matrix_.entries())
    throw ShapeError(cat("LinearSolver: update_values: the matrix is ", A_->rows(), " x ",
                         A_->cols(), " with ", matrix_.entries(), " entries, the new one ", a.rows,
                         " x ", a.cols, " with ", a.entries, "; use set_matrix"));
  HostMatrix::Loan const loan = order_ ? host_->lend_nothing() : host_->lend(a);
  or_clear([&] {
    as_setup_errors([&] {
      follow(a);
      if (old_)
        setup_method();
      else
        renew();
    });
  });
}

bool PreparedSystem::keeps_preconditioner() const {
  bool const none = parts_.chooser == nullptr && !M_;
  if (none || given_.M || options_.renew == Renew::always) return false;
  return options_.renew == Renew::never || !renewal_.due();
}

/// The preconditioner of the values that there are now, on the pattern of the old one.
void PreparedSystem::renew() {
  auto const start = std::chrono::steady_clock::now();
  old_ = false;
  if (owned_) {
    owned_->update(ctx_, system());
    M_ = owned_->view();
  }
  setup_method();
  count_renewal(seconds_since(start));
}

void PreparedSystem::count_renewal(double seconds) {
  renewal_.renewed(seconds);
  ++report_.renewals;
  report_.renewal += seconds;
}

/// A preconditioner of the values that there are now, while the old one stands by: it is in force
/// again where that fails. Returns why it failed, empty where it did not.
std::string PreparedSystem::renew_beside() {
  Context::Entry const entry(ctx_);
  auto const start = std::chrono::steady_clock::now();
  HostMatrix::Loan const loan = host_->lend_nothing();
  std::unique_ptr<Preconditioner> before;
  try {
    as_setup_errors([&] {
      ctx_.setting_up(ctx_.deadline(), [&] {
        auto made = build_within_memory(ctx_, *parts_.preconditioner, system(),
                                        options_.preconditioner.type());
        before = std::move(owned_);
        own(std::move(made));
      });
    });
    setup_method();
  } catch (Error const& e) {
    std::string const why = e.what();
    if (before) {
      own(std::move(before));
      setup_method();
    }
    ctx_.log(Severity::note, cat("the old preconditioner stays: ", why));
    return why;
  }
  old_ = false;
  count_renewal(seconds_since(start));
  return "";
}

SolveReport PreparedSystem::solve(In<double> b, Out<double> x) {
  if (parts_.chooser != nullptr)
    if (auto unsolvable = parts_.chooser->unsolvable(ctx_, b)) return *std::move(unsolvable);
  HostMatrix::Loan const loan = host_->lend_nothing();  // for what a chooser sets up meanwhile
  SolveReport report;
  Deadline const deadline =
      deadline_after(std::chrono::steady_clock::now(), parts_.method->limits().seconds);
  ctx_.in_turn(deadline, [&] { report = solve_or_renew(b, x); });
  return report;
}

/// `seconds` and `setup_seconds`, those of a renewal, are together those of the call.
SolveReport PreparedSystem::solve_or_renew(In<double> b, Out<double> x) {
  auto const start = std::chrono::steady_clock::now();
  SolveReport report = solver_->solve(b, x);
  if (parts_.chooser != nullptr) {
    follow_choice(report);
    return report;
  }
  renewal_.solved(report.seconds);
  if (!old_ || !may_be_the_preconditioner(report) || ctx_.asked() != Stop::running) return report;
  ctx_.log(Severity::note,
           cat(report.outcome(), " with a preconditioner of older values: made anew"));
  std::string const why = renew_beside();
  Stop const asked = ctx_.asked();
  if (!why.empty() || asked != Stop::running) {
    if (asked != Stop::running) {
      report.reason = asked;
      report.cause = Cause::none;
      report.message = message_of(report, solver_->name());
    }
    if (!why.empty())
      report.message += cat("; a preconditioner of the new values could not be made: ", why);
    report.setup_seconds = seconds_since(start) - report.seconds;
    return report;
  }
  double const setup = seconds_since(start) - report.seconds;
  SolveReport again = solver_->solve(b, x);
  renewal_.solved(again.seconds);
  SolveReport total = following(std::move(report), std::move(again));
  total.setup_seconds = setup;
  return total;
}

/// The chooser renews what it keeps, and goes to another choice, by itself.
void PreparedSystem::follow_choice(SolveReport const& report) {
  auto const& tried = report.choices;
  auto const last =
      std::find_if(tried.rbegin(), tried.rend(), [](ChoiceReport const& c) { return c.ran; });
  if (last != tried.rend()) {
    if (old_ && !parts_.chooser->is_old())
      count_renewal(last->setup_seconds);
    else if (tried.size() > 1 && last->setup_seconds > 0)  // another choice, made in this solve
      renewal_.renewed(last->setup_seconds);
    renewal_.solved(last->seconds);
  }
  old_ = parts_.chooser->is_old();
  report_.preconditioner = M() ? M()->details() : "";
}

std::vector<SolveReport> PreparedSystem::solve_columns(In<double> b, Out<double> x) {
  double const seconds = parts_.method->limits().seconds;
  if (solver_->columns_at_once() == 1)
    return solve_in_turn(ctx_, seconds, solver_->name(), b, x,
                         [this](In<double> bj, Out<double> xj) { return solve(bj, xj); });
  std::vector<SolveReport> reports;
  auto const start = std::chrono::steady_clock::now();
  ctx_.in_turn(deadline_after(start, seconds), [&] {
    reports = solver_->solve_columns(b, x);
    renewal_.solved(seconds_since(start));
    bool const renews = old_ && std::ranges::any_of(reports, may_be_the_preconditioner);
    if (!renews || ctx_.asked() != Stop::running) return;
    ctx_.log(Severity::note, "columns failed with a preconditioner of older values: made anew");
    std::string const why = renew_beside();
    std::vector<SolveReport> again;
    auto const once_more = std::chrono::steady_clock::now();
    if (why.empty()) again = solver_->solve_columns(b, x);
    if (why.empty()) renewal_.solved(seconds_since(once_more));
    for (std::size_t j = 0; j < reports.size(); ++j) {
      if (reports[j].solved()) continue;
      if (why.empty())
        reports[j] = following(std::move(reports[j]), std::move(again[j]));
      else
        reports[j].message += cat("; a preconditioner of the new values could not be made: ", why);
    }
  });
  return reports;
}

/// Gives the values of `a` to the operators and the preconditioner.
void PreparedSystem::follow(CsrView<double> const& a) {
  Permutation const* const P = order_.get();
  // A conversion that runs in the background reads the old arrays until the operator has waited for
  // it.
  auto const before = matrix_.storage();
  CsrView<double> const now = lazy_ ? matrix_.renew(ctx_, a, P) : matrix_.update_values(ctx_, a, P);
  give_values(ctx_, A_, now);
  if (csr_ && csr_ != A_) give_values(ctx_, csr_, now);
  ++report_.updates;
  old_ = keeps_preconditioner();
}

CsrStorage<double> PreparedSystem::entries() const {
  if (given_.A) throw Unsupported(cat(A_->name(), ": the entries of an operator that was given"));
  auto const in_given_order = [&](CsrStorage<double> a) {
    return order_ ? permuted(ctx_, a.view(), order_->inverse()) : std::move(a);
  };
  if (csr_) return in_given_order(CsrStorage<double>(ctx_, csr_->view()));
  auto const* const holder = dynamic_cast<HoldsEntries const*>(A_.get());
  std::optional<Csr<double>> a;
  if (holder != nullptr) a = holder->entries(ctx_);
  if (!a || a->entries() != matrix_.entries())
    throw Unsupported(cat("the entries of A cannot be had back from the format ", A_->name(),
                          "; take operator: {format: csr}"));
  return in_given_order(CsrStorage<double>(ctx_, *std::move(a)));
}

void PreparedSystem::refresh() {
  HostMatrix::Loan const loan = host_->lend_nothing();
  or_clear([&] {
    old_ = false;
    make_preconditioner();
    setup_method();
  });
}

}  // namespace tcsolve
