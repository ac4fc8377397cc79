// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/register.hpp>

#include <memory>
#include <string>
#include <utility>

#include <tcsolve/solvers/bicgstab/bicgstab.hpp>
#include <tcsolve/solvers/block_cg/block_cg.hpp>
#include <tcsolve/solvers/block_gmres/block_gmres.hpp>
#include <tcsolve/solvers/cg/cg.hpp>
#include <tcsolve/solvers/deflated_cg/deflated_cg.hpp>
#include <tcsolve/solvers/gmres/gmres.hpp>
#include <tcsolve/solvers/lsmr/lsmr.hpp>
#include <tcsolve/solvers/minres/minres.hpp>
#include <tcsolve/solvers/pipelined_cg/pipelined_cg.hpp>
#include <tcsolve/solvers/pseudo_block_bicgstab/pseudo_block_bicgstab.hpp>
#include <tcsolve/solvers/pseudo_block_cg/pseudo_block_cg.hpp>
#include <tcsolve/solvers/pseudo_block_gmres/pseudo_block_gmres.hpp>
#include <tcsolve/solvers/refinement/refinement.hpp>
#include <tcsolve/solvers/solver_operator.hpp>

namespace tcsolve {

namespace {

/// A method for each type of vectors that its parameters may name.
template <template <class> class Method>
void add(SolverRegistry& r, std::string name, std::string doc) {
  using P = typename Method<double>::Params;
  r.add<P>(std::move(name), std::move(doc), [](P const& params) -> std::unique_ptr<Solver> {
    if (params.vectors == VectorType::fp32) return std::make_unique<Method<float>>(params);
    return std::make_unique<Method<double>>(params);
  });
}

/// The GMRES of a step of refinement.
std::unique_ptr<Solver> gmres_of(GmresIrParams const& p) {
  GmresParams const params{.stopping = {.rtol = p.inner_rtol, .max_iters = p.inner_iters},
                           .restart = p.inner_iters,
                           .vectors = p.types.vectors.value_or(VectorType::fp64)};
  if (params.vectors == VectorType::fp32) return std::make_unique<Gmres<float>>(params);
  return std::make_unique<Gmres<double>>(params);
}

}  // namespace

void register_solvers(SolverRegistry& r) {
  add<Cg>(r, "cg", "conjugate gradients; A and M symmetric positive definite");
  add<ChronopoulosGear>(r, "chronopoulos_gear",
                        "cg with one reduction an iteration; A and M as for cg");
  add<PipelinedCg>(r, "pipelined_cg",
                   "cg whose one reduction overlaps the products; A and M as for cg");
  r.add<DeflatedCg>("deflated_cg",
                    "cg that learns a space from each solve of a sequence; A and M as for cg");
  r.add<BlockCg>("block_cg", "cg on many right-hand sides together; A and M as for cg");
  r.add<BlockGmres>("block_gmres", "gmres on many right-hand sides together; any square A");
  add<PseudoBlockCg>(r, "pseudo_block_cg",
                     "cg on each of many right-hand sides, sharing products; A and M as for cg");
  add<PseudoBlockGmres>(r, "pseudo_block_gmres",
                        "gmres on each of many right-hand sides, sharing products");
  add<PseudoBlockBicgstab>(r, "pseudo_block_bicgstab",
                           "bicgstab on each of many right-hand sides, sharing products");
  add<Minres>(r, "minres", "minimal residuals; A symmetric, M symmetric positive definite");
  add<Bicgstab>(r, "bicgstab", "BiCGStab, right preconditioned; any square A");
  add<Gmres>(r, "gmres", "restarted GMRES, right or left preconditioned; any square A");
  add<Fgmres>(r, "fgmres", "flexible GMRES; M may change from one application to the next");
  r.add<RefinementParams>("refinement",
                          "iterative refinement: corrections by an inner solver, or by M alone, in "
                          "lower precision",
                          make_refinement);
  r.add<GmresIrParams>(
      "gmres_ir", "refinement by GMRES on factors: ilu or direct in lower precision",
      [](GmresIrParams const& p) { return make_gmres_ir(p, [p] { return gmres_of(p); }); });
  add<Lsmr>(r, "lsmr", "least squares, min ||b - A x||; any A, rectangular or singular");
}

void register_inner_solver(PreconditionerRegistry& r) {
  r.add<SolverOperatorFactory>(
      "solver", "some iterations of an inner solver; for fgmres, and cg with beta: flexible");
}

}  // namespace tcsolve
