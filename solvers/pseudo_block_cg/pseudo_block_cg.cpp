// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/pseudo_block_cg/pseudo_block_cg.hpp>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

double const* PseudoBlockCgMethod::do_allocate(Context& ctx) {
  BlockSystem const& s = system();
  Index const n = s.A->rows(), w = s.columns();
  for (MultiVector<double>* v : {&P_, &Q_}) v->resize(ctx.space(), n, w);
  Z_.resize(ctx.space(), s.preconditioned ? n : 0, w);
  k_.resize(ctx.space(), static_cast<std::size_t>(w));
  runs_ = allocate_runs(ctx);
  return runs_.measure2;
}

void PseudoBlockCgMethod::begin(Context& ctx) {
  In<double> const R = system().R;
  submit_columns(ctx, PseudoCgStart{R, shared(), system().norm_A, R.data});
}

// Symbols as in Saad, where our M is written M^-1, and a is alpha; each column has its own scalars.
void PseudoBlockCgMethod::step(Context& ctx) {
  BlockSystem& s = system();
  Out<double> R = s.R, X = s.X, P = P_, Q = Q_, Z = s.preconditioned ? Out<double>(Z_) : R;
  BlockShape const shape(R);
  PseudoCg const cg = shared();

  if (s.preconditioned) {
    s.M->apply(ctx, R, Z);                                          // Z = M R
    submit_columns(ctx, PseudoCgInner{shape, cg, R.data, Z.data});  // rho = <r, z>
  }
  submit_columns(ctx, PseudoCgDirection{shape, cg, Z.data, P.data});  // p = z + (rho / rho_prev) p
  s.A->apply(ctx, P, Q);                                              // Q = A P
  submit_columns(ctx, PseudoCgCurvature{shape, cg, P.data, Q.data});  // sigma = <p, q>
  // a = rho / sigma;  x += a p;  r -= a q;  ||r|| <= tolerance ?
  submit_columns(ctx, PseudoCgUpdate{shape, cg, P.data, Q.data, X.data, R.data});
}

PseudoBlockCg::PseudoBlockCg(PseudoBlockCgParams const& params)
    : BlockSolver(std::make_unique<PseudoBlockCgMethod>(), params.stopping, params.execution,
                  params.columns) {
  checked(params, name());
}

}  // namespace tcsolve
