// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/solver_operator.hpp>

#include <utility>

#include <tcsolve/formats/auto_factory.hpp>
#include <tcsolve/precond/smoother.hpp>
#include <tcsolve/solvers/driver/inner_solver.hpp>
#include <tcsolve/solvers/register.hpp>

namespace tcsolve {

std::string SolverOperatorParams::check() const { return check_inner(solver, vectors, values); }

std::unique_ptr<PreconditionerFactory> SolverOperatorFactory::inner() const {
  return make_smoother(params_.preconditioner);
}

bool SolverOperatorFactory::needs_definite() const {
  SolverNeeds const needs = make_inner(params_.solver, params_.vectors)->needs();
  return needs.definite || inner()->needs_definite();
}

std::optional<Real> SolverOperatorFactory::copy_values() const {
  if (params_.values) return params_.values;
  bool const floats = make_inner(params_.solver, params_.vectors)->vectors() == Real::f32;
  return floats ? std::optional(Real::f32) : std::nullopt;
}

double SolverOperatorFactory::own_bytes(Index rows, double entries) const {
  double const vectors = make_inner(params_.solver, params_.vectors)->cost().vectors;
  auto const values = copy_values();
  double const copy = values ? csr_bytes(*values, rows, static_cast<Offset>(entries)) : 0;
  return 8.0 * rows * vectors + copy;
}

double SolverOperatorFactory::bytes(Index rows, Offset entries) const {
  return own_bytes(rows, double(entries)) + inner()->bytes(rows, entries);
}

double SolverOperatorFactory::most_bytes(Index rows, Offset entries) const {
  return own_bytes(rows, double(entries)) + inner()->most_bytes(rows, entries);
}

MemoryNeed SolverOperatorFactory::memory(Context& ctx, System const& system) const {
  MemoryNeed need = inner()->memory(ctx, system);
  need.space += own_bytes(system.A->rows(), double(system.matrix.entries));
  return need;
}

namespace {

/// The inner preconditioner takes new values, and the inner solver is set up anew.
class OwnedSolver final : public Preconditioner {
 public:
  OwnedSolver(Context& ctx, System const& system, std::unique_ptr<Preconditioner> inner,
              SolverOperatorParams const& params, std::optional<Real> copy)
      : params_(params), copy_(copy), inner_(std::move(inner)) {
    set_up(ctx, system);
  }
  OperatorPtr<double> view() const override { return M_; }
  void update(Context& ctx, System const& system) override {
    inner_->update(ctx, system);
    set_up(ctx, system);
  }

 private:
  void set_up(Context& ctx, System const& system) {
    M_.reset();
    std::shared_ptr<Solver> solver = make_inner(params_.solver, params_.vectors);
    OperatorPtr<double> const A = copy_ ? copy_of(ctx, system, *solver) : system.A;
    solver->setup(ctx, A, inner_->view());
    M_ = std::make_shared<SolverOperator>(std::move(solver), system.A->rows(),
                                          system.A->norm_estimate());
  }
  /// A as the inner solver is to multiply by it, in the format that costs least.
  OperatorPtr<double> copy_of(Context& ctx, System const& system, Solver const& solver) const {
    OrderedMatrix given;
    given.order.measured = false;
    given.matrix = std::make_shared<CsrStorage<double>>(ctx, system.matrix);
    Csr<double> extents;
    extents.rows = system.matrix.rows, extents.cols = system.matrix.cols;
    AutoFactory const formats_of({.matrix = {.values = *copy_}}, formats());
    return formats_of.build(ctx, extents, {.vectors = solver.vectors(), .ready = &given});
  }
  SolverOperatorParams params_;
  std::optional<Real> copy_;
  std::unique_ptr<Preconditioner> inner_;
  OperatorPtr<double> M_;
};

}  // namespace

std::unique_ptr<Preconditioner> SolverOperatorFactory::build(Context& ctx,
                                                             System const& system) const {
  return std::make_unique<OwnedSolver>(ctx, system, inner()->build(ctx, system), params_,
                                       copy_values());
}

}  // namespace tcsolve
