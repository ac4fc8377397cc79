// SPDX-License-Identifier: Apache-2.0
/// Solves in narrow values, and what comes after them in wider ones (api/precision.hpp).
#include <tcsolve/api/prepared_system.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <tcsolve/formats/choose/lazy_operator.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/operators/rescaled.hpp>
#include <tcsolve/solvers/loop/one_kernel.hpp>

namespace tcsolve {

/// What A is stored in, or is to be.
WorkingPrecision PreparedSystem::in_force() const {
  Real const vectors = parts_.method->vectors();
  return {parts_.values == Real::f64 ? vectors : parts_.values, vectors};
}

/// The entries in FP64 are at hand, and there are wider types than those of the options.
bool PreparedSystem::has_wider() const {
  return options_.step_up == StepUp::automatic && csr_ != nullptr && csr_ != A_ &&
         next_wider(in_force()).has_value();
}

/// And the other keys go with them: a solve whose own do not ends with the word that it has.
bool PreparedSystem::may_widen() const {
  if (!has_wider()) return false;
  try {
    SolverParts const parts(with_precision(options_, *next_wider(in_force())));
    return true;
  } catch (Error const& e) {
    ctx_.log(Severity::note, cat("no step up in precision: ", e.what()));
    return false;
  }
}

/// Whether a step in FP64 waits for other things than memory, of several ranks on all of them,
/// since theirs is one kernel for so much longer, and one in FP32 is none. Who wants launches by
/// name has those of either type.
bool PreparedSystem::lies_in_caches() const {
  ConfigNode const* const execution = options_.solver.node().find("execution");
  bool const launches =
      execution != nullptr && (execution->scalar == "graph" || execution->scalar == "eager");
  Communicator& ranks = ctx_.communicator();
  double const share = ranks.extends_sums() ? share_of_ranks : 1;
  bool const fits =
      lies_in_cache(matrix_.storage()->view(), basis_vectors(options_, *parts_.method),
                    share * static_cast<double>(ctx_.cache_bytes()));
  return !ranks.agree(!fits) && !launches;
}

/// `precision: auto`, by the entries as they were given. All ranks choose the same.
void PreparedSystem::choose_types() {
  if (options_.step_up == StepUp::never) {
    report_.precision = "fp64: with 'step_up: never' a solve in fp32 could not be helped";
  } else if (parts_.chooses()) {
    report_.precision = "fp64: auto chooses the method or the preconditioner";
  } else {
    RunsWhere where = RunsWhere::host;
    if (ctx_.device() != nullptr)
      where = lies_in_caches() ? RunsWhere::cache : RunsWhere::device_memory;
    CsrView<double> const& a = matrix_.storage()->view();
    std::int64_t const rows = ranks_ ? ranks_->rows().size() : a.rows,
                       cols = ranks_ ? ranks_->columns().size() : a.cols;
    PrecisionChosen const chosen = choose_precision(rows, cols, options_, *parts_.method, where);
    report_.precision = cat(name(chosen.types.values), ": ", chosen.why);
    if (chosen.types != WorkingPrecision{}) take_types(chosen.types);
    if (chosen.narrow_basis) take(with_narrow_basis(std::move(options_)));
    most_condition_ = chosen.most_condition;
  }
  ctx_.log(Severity::note, cat("precision: ", report_.precision));
}

/// Where `precision` is more than the method has keys for.
void PreparedSystem::tell_types() {
  if (options_.precision != PrecisionChoice::fp32 && options_.precision != PrecisionChoice::fp16)
    return;
  WorkingPrecision const now = in_force();
  if (now.vectors != Real::f64 || parts_.method->values()) return;
  report_.precision = cat(name(parts_.values), ": the matrix alone, since ", parts_.method->name(),
                          " has FP64 vectors");
  ctx_.log(Severity::note, cat("precision: ", report_.precision));
}

void PreparedSystem::take_types(WorkingPrecision types) {
  take(with_precision(std::move(options_), types));
}

/// Until there is another matrix.
void PreparedSystem::take(SolverOptions options) {
  options_ = std::move(options);
  parts_ = SolverParts(options_);
  wider_ = true;
}

/// A in the types of the options. Null, with the reason in `why`, where these do not hold it and
/// wider ones may; throws it where there are none.
OperatorPtr<double> PreparedSystem::store(std::string& why) {
  why.clear();
  try {
    return parts_.matrix_operator->build(ctx_, matrix_.host(), use());
  } catch (MatrixError const& e) {
    bool const steps = options_.step_up == StepUp::automatic && !refuses_to_scale(options_) &&
                       next_wider(in_force());
    if (!steps) throw;
    why = e.what();
  }
  return nullptr;
}

/// On to wider types than those that do not hold A.
void PreparedSystem::refuse_types(std::string const& why) {
  WorkingPrecision const refused = in_force(), wider = *next_wider(refused);
  refused_.push_back({refused.values, refused.vectors, 0, why, true});
  ctx_.log(Severity::note, cat("A is not stored in ", name(refused.values), " but in ",
                               name(wider.values), ": ", why));
  take_types(wider);
}

/// The A that has been set up, in the next wider types. What is at work stays as it is where this
/// throws.
void PreparedSystem::store_wider() {
  take_types(*next_wider(in_force()));
  ready_.emplace();
  ready_->order.measured = false;
  ready_->matrix = std::make_shared<CsrStorage<double>>(ctx_, csr_->view());
  bool const exact = parts_.exact();
  Csr<double> host;  // of which factories look at the extents alone
  if (needs_host()) host = to_host(ctx_, csr_->view());
  host.rows = csr_->rows(), host.cols = csr_->cols();
  A_ = parts_.matrix_operator->build(ctx_, host, use());
  ready_.reset();
  if (exact && std::dynamic_pointer_cast<CsrOperator<double> const>(A_)) A_ = csr_;
  lazy_ = std::dynamic_pointer_cast<LazyOperator<double> const>(A_) != nullptr;
  A_true_ = csr_;
  report_.format = A_->name();
  report_.rounding = rounding_of(ctx_, *A_);
  ctx_.synchronize();
}

/// In types that nobody has asked for.
bool PreparedSystem::is_watched() const { return std::isfinite(most_condition_); }

/// A solve in such types has taken all the iterations there are.
bool PreparedSystem::is_slow(SolveReport const& r) const {
  return is_watched() && r.reason == Stop::max_iterations && r.ended_rounded();
}

/// The keys of a solve in such types: one that finds A too badly conditioned for them ends.
StoppingParams PreparedSystem::watched(StoppingParams asked) const {
  if (has_wider()) asked.most_condition = most_condition_;
  return asked;
}

/// Whether a solve that has ended so goes on in wider types.
bool PreparedSystem::steps_up(SolveReport const& r, StoppingParams const& asked) const {
  bool const spent = !is_watched() && r.iterations >= asked.max_iters;
  if (spent || !(may_be_the_rounding(r) || is_slow(r)) || !may_widen()) return false;
  bool const over = ctx_.cancelled() || r.seconds + r.setup_seconds >= asked.time_limit;
  return !ctx_.communicator().agree(over);
}

/// The keys of the solve that follows. Iterations in types that nobody has asked for are not
/// counted against the limit: FP64 alone would have had all of it.
StoppingParams PreparedSystem::left_of(StoppingParams asked, SolveReport const& r) const {
  if (!is_watched()) asked.max_iters -= r.iterations;
  asked.time_limit -= r.seconds + r.setup_seconds;
  if (asked.baseline == Baseline::initial && r.tolerance > 0) {
    asked.baseline = Baseline::absolute;
    asked.atol = r.tolerance;
  }
  return asked;
}

/// The report of both; recipes that were tried in the first are told as well.
SolveReport PreparedSystem::going_on(SolveReport ended, SolveReport next) const {
  std::vector<ChoiceReport> story = std::move(ended.choices);
  std::move(next.choices.begin(), next.choices.end(), std::back_inserter(story));
  SolveReport both = following(std::move(ended), std::move(next));
  both.choices = std::move(story);
  return both;
}

/// What the message and the list of types say beside what the solves did.
void PreparedSystem::tell(SolveReport& r) const {
  for (PrecisionReport const& p : r.precision)
    if (!p.why.empty())
      r.message += cat("; before it with A in ", name(p.values), ": ", p.why, " after ",
                       p.iterations, p.iterations == 1 ? " iteration" : " iterations");
  r.precision.insert(r.precision.begin(), refused_.begin(), refused_.end());
  bool const held = options_.step_up == StepUp::never && r.reason == Stop::precision_limit &&
                    r.cause == Cause::values;
  if (held) r.message += ", or 'step_up: auto'";
}

SolveReport PreparedSystem::solve(In<double> b, Out<double> x, RecipeRun::Keys const& keys) {
  HostMatrix::Loan const loan = host_->lend_nothing();  // for what is set up meanwhile
  StoppingParams const asked = keys.value_or(recipes_.list().keys());
  SolveReport report = recipes_.solve(b, x, is_watched() ? watched(asked) : keys);
  while (steps_up(report, asked)) {
    widen(report);
    SolveReport next = recipes_.solve(b, x, left_of(asked, report));
    report = going_on(std::move(report), std::move(next));
  }
  tell(report);
  return report;
}

/// Columns that rounding may have failed go on one by one.
std::vector<SolveReport> PreparedSystem::solve_columns(In<double> b, Out<double> x,
                                                       RecipeRun::Keys const& keys) {
  HostMatrix::Loan const loan = host_->lend_nothing();
  StoppingParams const asked = keys.value_or(recipes_.list().keys());
  std::vector<SolveReport> reports =
      recipes_.solve_columns(b, x, is_watched() ? watched(asked) : keys);
  for (;;) {
    auto const failed = [&](SolveReport const& r) { return steps_up(r, asked); };
    std::vector<Index> columns;
    for (std::size_t j = 0; j < reports.size(); ++j)
      if (failed(reports[j])) columns.push_back(static_cast<Index>(j));
    if (columns.empty()) break;
    widen(reports[columns.front()]);
    for (Index const j : columns) {
      SolveReport& ended = reports[j];
      ended.precision.back().why = why_wider(ended);
      std::vector<SolveReport> next =
          recipes_.solve_columns(column(b, j), column(x, j), left_of(asked, ended));
      ended = going_on(std::move(ended), std::move(next.front()));
    }
  }
  for (SolveReport& report : reports) tell(report);
  return reports;
}

}  // namespace tcsolve
