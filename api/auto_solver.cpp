// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/auto_solver.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/phase.hpp>
#include <tcsolve/factors/cudss_library.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/solvers/loop/one_kernel.hpp>
#include <tcsolve/solvers/projected_solver.hpp>

namespace tcsolve {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A choice whose trial takes the residual to this part of what it was goes on.
constexpr double trial_gain = 0.1;

/// A block of one of the package's registries, with more keys.
Block read_block(RegistryBase const& registry, ConfigNode const& node) {
  Diagnostics problems;
  Block block = registry.read(node, problems, solver_registries().catalog);
  problems.throw_if_any();
  return block;
}

/// "ilu {drop_tolerance: 0.01}" for "{type: ilu, drop_tolerance: 0.01}".
std::string brief(std::string const& block) {
  ConfigNode node = parse_yaml(block, "auto");
  std::string const type = node.find("type")->scalar;
  std::erase_if(node.entries, [](ConfigNode::Entry const& e) { return e.key == "type"; });
  return node.entries.empty() ? type : cat(type, " ", to_yaml_inline(node));
}

/// Advice where the limit that ended the last method is not the caller's.
std::string no_other_method(SolveReport const&) {
  return "auto has no other method for this matrix; name a solver and a preconditioner, or raise "
         "max_iters of the one that came nearest";
}

/// Whether another method may do better: an answer, a request to stop or unusable input end it all.
bool goes_on(SolveReport const& r) {
  switch (r.reason) {
    case Stop::converged:
    case Stop::least_squares:
    case Stop::cancelled:
    case Stop::time_limit:
    case Stop::precision_limit:
    case Stop::out_of_memory: return false;
    case Stop::nonfinite:
      return r.cause != Cause::rhs && r.cause != Cause::guess && r.cause != Cause::matrix;
    default: return true;
  }
}

}  // namespace

std::string AutoSolverParams::check() const {
  if (stopping.baseline == Baseline::initial)
    return "'baseline: initial' is not offered by auto, whose methods begin where others ended; "
           "take rhs or absolute";
  return stopping.check();
}

void AutoSolver::keep_solver(Block solver) {
  kept_solver_ = std::move(solver);
  auto const made = make<SolverRegistry>(kept_solver_);
  stopping_.max_iters = std::numeric_limits<int>::max();  // its own limit is that of each choice
  stopping_.time_limit = made->limits().seconds;
}

void AutoSolver::keep_preconditioner(Block preconditioner) {
  kept_preconditioner_ = std::move(preconditioner);
}

void AutoSolver::look(Context& ctx, CsrView<double> const& a) {
  bool const here = a.space == Space::host;
  Csr<double> const copy = here ? Csr<double>() : to_host(ctx, a);
  CsrView<double> const host = here ? a : copy.view();
  MatrixFacts const facts = matrix_facts(host);
  facts_ = SystemFacts(host, ctx.cancel_flag());
  bool const on_device = ctx.space() != Space::host;
  if (kept_solver_)
    list_ = choices_for(facts, on_device, make<SolverRegistry>(kept_solver_)->needs());
  else if (kept_preconditioner_)
    list_ = choices_with(facts, *make<PreconditionerRegistry>(kept_preconditioner_));
  else
    list_ = choices(facts, on_device, on_device && direct_comes_first(facts) && cudss().there);
  at_ = 0;
  begun_ = false;
  definite_ = true;
  tried_.clear();
}

/// `limited`: with the iterations after which another choice is tried.
Block AutoSolver::solver_block(Choice const& choice, bool limited) const {
  if (kept_solver_) return kept_solver_;
  ConfigNode node = parse_yaml(choice.solver, "auto");
  StoppingParams stopping = stopping_;
  if (limited)
    stopping.max_iters =
        std::min(stopping.max_iters, choice.trial > 0 ? choice.trial : choice.most_iterations);
  if (choice.window > 0 && stopping.stagnation_window < 0)
    stopping.stagnation_window = choice.window;
  ConfigNode const keys = to_node(stopping);
  node.entries.insert(node.entries.end(), keys.entries.begin(), keys.entries.end());
  return read_block(solver_registries().solvers, node);
}

Block AutoSolver::preconditioner_block(Choice const& choice) const {
  if (kept_preconditioner_) return kept_preconditioner_;
  return read_block(solver_registries().preconditioners, parse_yaml(choice.preconditioner, "auto"));
}

/// What a report says of a choice before it has run.
ChoiceReport AutoSolver::told_of(Choice const& choice) const {
  ChoiceReport told;
  told.solver_block = solver_block(choice, false);
  told.solver = told.solver_block.type();
  if (given_M_) {
    told.preconditioner = given_M_->name();
  } else {
    told.preconditioner_block = preconditioner_block(choice);
    told.preconditioner = told.preconditioner_block.type();
  }
  std::string const solver = kept_solver_ ? told.solver : brief(choice.solver);
  bool const known = given_M_ || kept_preconditioner_;
  told.label = cat(solver, " with ", known ? told.preconditioner : brief(choice.preconditioner));
  return told;
}

void AutoSolver::setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                       OperatorPtr<double> A_true) {
  if (list_.empty())
    throw Unsupported(
        "auto looks at the entries of the matrix, and here there are none to be seen; name a "
        "solver "
        "and a preconditioner");
  ctx_ = &ctx;
  A_ = std::move(A);
  A_true_ = std::move(A_true);
  given_M_ = std::move(M);
  if (begun_) {  // new values
    if (given_M_) M_ = given_M_;
    if (M_ && !given_M_ && !keep_) M_ = factory_->update(ctx, system_, M_);
    solver_->setup(ctx, A_, M_, A_true_);
    return;
  }
  unsupported_ = true;
  if (next()) return;
  if (late_) throw OutOfTime();
  std::string text = "auto: no choice could be set up";
  for (ChoiceReport const& t : tried_) text += "; " + t.text();
  if (unsupported_ && !tried_.empty()) throw Unsupported(text);
  throw SetupError(text);
}

/// Sets up the first choice from at_ on that admits it; false where there is none in time.
bool AutoSolver::next(Deadline until) {
  late_ = false;
  for (; at_ < list_.size() && !late_; ++at_) {
    Choice const& choice = list_[at_];
    if (choice.definite && !definite_) continue;
    auto const start = std::chrono::steady_clock::now();
    try {
      ctx_->setting_up(until, [&] { begin(choice); });
      setup_seconds_ = seconds_since(start);
      begun_ = true;
      return true;
    } catch (Cancelled const&) {
      throw;
    } catch (Error const& e) {  // SetupError, MemoryError, OutOfTime, a build without a library
      late_ = dynamic_cast<OutOfTime const*>(&e) != nullptr &&
              dynamic_cast<TakesTooLong const*>(&e) == nullptr;  // others may take less time
      if (dynamic_cast<Unsupported const*>(&e) == nullptr) unsupported_ = false;
      ChoiceReport failed = told_of(choice);
      failed.outcome = e.what();
      failed.setup_seconds = seconds_since(start);
      ctx_->log(Severity::note, cat("auto: ", failed.text()));
      tried_.push_back(std::move(failed));
    }
  }
  return false;
}

void AutoSolver::begin(Choice const& choice) {
  Context& ctx = *ctx_;
  Block const solver = solver_block(choice), preconditioner = preconditioner_block(choice);
  M_ = nullptr;
  solver_.reset();
  factory_ = make<PreconditionerRegistry>(preconditioner);
  ctx.log(Severity::note, cat("auto: ", told_of(choice).label, ", since ", choice.reason));
  if (given_M_)
    M_ = given_M_;
  else if (!factory_->is_identity())
    M_ = build_within_memory(ctx, *factory_, system_, preconditioner.type());
  if (M_ && !M_->details().empty()) ctx.log(Severity::detail, cat(M_->name(), ": ", M_->details()));
  solver_ = make<SolverRegistry>(solver);
  if (!nullspace_.empty()) solver_ = std::make_shared<ProjectedSolver>(solver_, nullspace_);
  solver_->setup(ctx, A_, M_, A_true_);
}

std::optional<SolveReport> AutoSolver::unsolvable(Context& ctx, In<double> b) const {
  if (kept_solver_ || !nullspace_.empty() || !facts_.has_empty_rows()) return std::nullopt;
  std::vector<double> const here = to_host(ctx, b.data, b.space, static_cast<std::size_t>(b.rows));
  return facts_.unsolvable(here.data(), stopping_, name());
}

SolveReport AutoSolver::solve(In<double> b, Out<double> x) {
  if (ctx_ == nullptr || !(begun_ || late_)) throw ShapeError("auto: solve before setup");
  Context& ctx = *ctx_;
  SolveReport total;
  std::vector<ChoiceReport> story = std::exchange(tried_, {});
  Deadline const deadline = deadline_after(std::chrono::steady_clock::now(), stopping_.time_limit);
  InnerSolves inner;
  bool first = true;
  double early = 0;  // seconds of a set-up before the first method of this solve
  ctx.solving(deadline, inner, [&] {
    if (!begun_) {  // the time of the last solve was up
      at_ = 0;
      auto const start = std::chrono::steady_clock::now();
      if (!next(deadline)) throw OutOfTime();
      early = seconds_since(start);
      for (ChoiceReport& t : std::exchange(tried_, {})) story.push_back(std::move(t));
    }
    for (bool again = false;;) {
      SolveReport report = solver_->solve(b, x);
      bool const another = !first && !again;
      if (!again) {
        ChoiceReport& told = story.emplace_back(told_of(list_[at_]));
        told.ran = true;
        told.details = M_ ? M_->details() : "";
        told.setup_seconds =
            std::exchange(setup_seconds_, std::numeric_limits<double>::quiet_NaN());
      }
      ChoiceReport& told = story.back();
      told.outcome = report.outcome();
      told.iterations += report.iterations;
      told.true_residual = report.true_residual;
      told.seconds += report.seconds;
      Stop const asked = ctx.asked();
      bool const open = goes_on(report);
      bool const more = open && asked == Stop::running &&
                        total.iterations + report.iterations < stopping_.max_iters;
      again = !kept_solver_ && report.reason == Stop::max_iterations && list_[at_].trial > 0 &&
              report.true_residual <= trial_gain * report.initial_residual &&
              told.iterations < list_[at_].most_iterations;
      std::size_t const before = total.history.size();
      total = first ? std::move(report) : following(std::move(total), std::move(report));
      if (another && total.history.size() > before) total.history[before].mark = Mark::method;
      first = false;
      if (open && asked != Stop::running) {  // the end of a trial is not what ends the solve
        total.reason = asked;
        total.cause = Cause::none;
        total.message = message_of(total, solver_->name(), solver_->advice());
      }
      if (!more) break;
      if (again) continue;
      if (total.reason == Stop::indefinite_operator) definite_ = false;
      std::size_t const failed = at_++;
      auto const start = std::chrono::steady_clock::now();
      bool const goes = next(deadline);
      total.setup_seconds += seconds_since(start);
      if (!goes) {
        at_ = failed;  // its solver is gone
        begun_ = false;
        if (late_) {
          total.reason = Stop::time_limit;
          total.message = message_of(total, name());
        } else if (total.reason == Stop::max_iterations && !kept_solver_) {
          total.message = message_of(total, story.back().solver, no_other_method);
        }
        for (ChoiceReport& t : std::exchange(tried_, {})) story.push_back(std::move(t));
        break;
      }
      for (ChoiceReport& t : std::exchange(tried_, {})) story.push_back(std::move(t));
    }
  });
  total.message = facts_.closing(total, story);
  total.setup_seconds += early;
  total.choices = std::move(story);
  if (total.choices.size() > 1) {
    total.message += "; before it:";
    for (std::size_t k = 0; k + 1 < total.choices.size(); ++k)
      total.message += cat(k == 0 ? " " : ", ", total.choices[k].text());
  }
  if (!begun_ && !late_) {  // the next solve begins with the last choice once more
    at_ = list_.size() - 1;
    if (!next()) at_ = 0, next();
    tried_.clear();
  }
  return total;
}

bool AutoSolver::begins_as_one_kernel() const {
  if (list_.empty()) return false;
  auto const method = make<SolverRegistry>(solver_block(list_.front()));
  auto const M = make<PreconditionerRegistry>(preconditioner_block(list_.front()));
  return runs_as_one_kernel(*method, M->is_identity() ? nullptr : M.get());
}

SolveReport AutoSolver::approximate(In<double> b, Out<double> x) {
  if (ctx_ == nullptr || !begun_) throw ShapeError("auto: approximate before setup");
  return solver_->approximate(b, x);
}

SolverCost AutoSolver::cost() const {
  SolverCost most;
  for (Choice const& choice : list_) {
    SolverCost const cost = make<SolverRegistry>(solver_block(choice))->cost();
    most.vectors = std::max(most.vectors, cost.vectors);
    most.transpose = most.transpose || cost.transpose;
  }
  if (list_.empty()) most.vectors = 60;  // gmres
  return most;
}

}  // namespace tcsolve
