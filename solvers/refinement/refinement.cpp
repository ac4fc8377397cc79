// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/refinement/refinement.hpp>

#include <string>
#include <utility>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/inner_solver.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>
#include <tcsolve/solvers/driver/solver_as_operator.hpp>

namespace tcsolve {
namespace {

std::string advice_of(SolveReport const& r) {
  if (r.reason != Stop::stagnated) return "";
  return "a step has not halved the residual: let the inner solver go further (rtol, max_iters), "
         "or "
         "take wider factors";
}

}  // namespace

std::string RefinementParams::check() const {
  std::string const wrong = stopping.check();
  if (!wrong.empty()) return wrong;
  if (solver) {
    if (solver.type() == "refinement" || solver.type() == "gmres_ir")
      return "refinement within refinement: name the innermost solver alone";
    return check_inner(solver, types.vectors, types.values);
  }
  if (types.values || types.vectors)
    return "'values' and 'vectors' are those of the inner 'solver'; without one a correction is M "
           "r, whose types are keys of the preconditioner";
  return "";
}

std::string GmresIrParams::check() const {
  std::string const wrong = stopping.check();
  if (!wrong.empty()) return wrong;
  if (types.values == Real::f64 && types.vectors == VectorType::fp32)
    return "'values: fp64' with 'vectors: fp32': a matrix that multiplies FP32 vectors is stored "
           "in fp32 at the widest; leave 'values' out: the residual is made with the FP64 matrix "
           "in any case";
  return "";
}

RefinementMethod::RefinementMethod(char const* name, RefinementTypes const& types, MakeInner inner,
                                   bool factors)
    : name_(name), types_(types), make_inner_(std::move(inner)), factors_(factors) {}

MethodFacts RefinementMethod::facts() const {
  MethodFacts facts{.name = name_, .advice = advice_of, .cycle = 1, .unobserved = true};
  facts.cost = {.vectors = 6, .products = 0, .applications = 1, .passes = 2};
  facts.values = types_.values;
  if (!make_inner_) return facts;
  auto const inner = make_inner_();
  facts.vectors = inner->vectors();
  SolverCost const cost = inner->cost();
  facts.needs = inner->needs();
  facts.cost = {6 + cost.vectors, cost.products, cost.applications, cost.passes, cost.transpose};
  return facts;
}

/// Factors wider than the vectors that they are applied to would lose their last digits with each
/// application: whoever has them solves in their own type.
void RefinementMethod::check_factors() const {
  if (!this->system().preconditioned)
    throw ConfigError(cat(name_, make_inner_ ? " is GMRES on factors: name a preconditioner, e.g. "
                                               "{type: ilu, values: fp32} or {type: direct, "
                                               "values: fp32}"
                                             : " without an inner 'solver' needs a preconditioner: "
                                               "the correction is M r"));
  Real const stored = this->M().traits().precision.storage,
             vectors = facts().vectors.value_or(Real::f64);
  if (make_inner_ && roundoff(stored) < roundoff(vectors))
    throw ConfigError(cat(name_, ": factors in ", tcsolve::name(stored), " and vectors in ",
                          tcsolve::name(vectors),
                          ": factors are no wider than the vectors; take "
                          "preconditioner.values: ",
                          tcsolve::name(vectors), " or vectors: fp64"));
}

auto RefinementMethod::do_allocate(Context& ctx) -> Workspace {
  if (factors_ || !make_inner_) check_factors();
  norm2_.resize(ctx.space(), 1);
  MethodSystem<double> const& system = this->system();
  inner_ = system.M;
  if (make_inner_) {
    std::shared_ptr<Solver> solver = make_inner_();
    solver->setup(ctx, system.A, system.preconditioned ? system.M : nullptr);
    inner_ = std::make_shared<SolverOperator>(std::move(solver), system.A->rows(), system.norm_A);
  }
  return {norm2_.data()};
}

void RefinementMethod::begin(Context& ctx, Attempt const&) {
  dot<double>(ctx, In<double>(this->r()), In<double>(this->r()), norm2_.data());
}

void RefinementMethod::step(Context& ctx) {
  inner_->apply(ctx, this->r(), this->x());  // d = inner(r)
  observe(ctx, norm2_.data());               // one step a run: the driver makes r anew
}

// A run that stagnates has its residual made in twice FP64 (KrylovSolver::iterate). A loop of one
// step has no next one to see a request to end in.
void RefinementMethod::conclude(Context& ctx, LoopState& state) {
  if (static_cast<Stop>(state.stop) != Stop::cycle_end) return;
  if (Stop const asked = ctx.asked(); asked != Stop::running)
    state.stop = static_cast<std::int32_t>(asked);
  else if (types_.residual == RefinedResidual::twofold)
    state.stop = static_cast<std::int32_t>(Stop::stagnated);
}

// Whether it goes on is the driver's to say, by what the step has gained (Judgement::after): with
// an A that is rounded it has to be half of ||r||, with A itself any of it.
void RefinementMethod::classify_stop(Context&, LoopState& state) {
  auto const stop = static_cast<Stop>(state.stop);
  if (stop == Stop::cycle_end || stop == Stop::stagnated)
    state.stop = static_cast<std::int32_t>(system().rounded ? Stop::stagnated : Stop::cycle_end);
}

std::unique_ptr<Solver> make_refinement(RefinementParams const& params) {
  RefinementMethod::MakeInner inner;
  if (params.solver)
    inner = [block = params.solver, vectors = params.types.vectors] {
      return make_inner(block, vectors);
    };
  return std::make_unique<KrylovSolver<double>>(
      std::make_unique<RefinementMethod>("refinement", params.types, std::move(inner), false),
      params.stopping, Execution::eager);
}

std::unique_ptr<Solver> make_gmres_ir(GmresIrParams const& params,
                                      RefinementMethod::MakeInner gmres) {
  return std::make_unique<KrylovSolver<double>>(
      std::make_unique<RefinementMethod>("gmres_ir", params.types, std::move(gmres), true),
      params.stopping, Execution::eager);
}

}  // namespace tcsolve
