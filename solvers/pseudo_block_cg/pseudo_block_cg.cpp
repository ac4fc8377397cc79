// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/pseudo_block_cg/pseudo_block_cg.hpp>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

template <class T>
double const* PseudoBlockCgMethod<T>::do_allocate(Context& ctx) {
  BlockSystem<T> const& s = this->system();
  Index const n = s.A->rows(), w = s.columns();
  for (MultiVector<T>* v : {&P_, &Q_}) v->resize(ctx.space(), n, w);
  Z_.resize(ctx.space(), s.preconditioned ? n : 0, w);
  k_.resize(ctx.space(), static_cast<std::size_t>(w));
  steps_.resize(ctx.space(), s.roundoff_of_curvature() > roundoff(Real::f64) ? 1 : 0);
  runs_ = this->allocate_runs(ctx);
  return runs_.measure2;
}

template <class T>
void PseudoBlockCgMethod<T>::begin(Context& ctx) {
  In<T> const R = this->system().R;
  submit_columns(ctx, PseudoCgStart<T>{R, shared(), this->system().norm_A, R.data});
}

// beta = rho / rho_prev goes on from the rho of the new r.
template <class T>
void PseudoBlockCgMethod<T>::resume(Context& ctx) {
  BlockSystem<T>& s = this->system();
  Out<T> const R = s.R, P = P_, Z = s.preconditioned ? Out<T>(Z_) : R;
  PseudoCg const cg = shared();
  if (s.preconditioned) s.M->apply(ctx, R, Z);
  submit_columns(ctx, PseudoCgRenew<T>{R, cg, s.norm_A, s.starts.data(), R.data, Z.data, P.data});
  submit_columns(ctx, PseudoCgTurn<T>{R, cg, s.starts.data(), Z.data, P.data});
}

// Symbols as in Saad, where our M is written M^-1, and a is alpha; each column has its own scalars.
template <class T>
void PseudoBlockCgMethod<T>::step(Context& ctx) {
  BlockSystem<T>& s = this->system();
  Out<T> R = s.R, X = s.X, P = P_, Q = Q_, Z = s.preconditioned ? Out<T>(Z_) : R;
  BlockShape const shape(R);
  PseudoCg const cg = shared();

  if (s.preconditioned) {
    s.M->apply(ctx, R, Z);                                             // Z = M R
    submit_columns(ctx, PseudoCgInner<T>{shape, cg, R.data, Z.data});  // rho = <r, z>
  }
  // p = z + (rho / rho_prev) p
  submit_columns(ctx, PseudoCgDirection<T>{shape, cg, Z.data, P.data});
  s.A->apply(ctx, P, Q);                                                 // Q = A P
  submit_columns(ctx, PseudoCgCurvature<T>{shape, cg, P.data, Q.data});  // sigma = <p, q>
  // a = rho / sigma;  x += a p;  r -= a q;  ||r|| <= tolerance ?
  submit_columns(ctx, PseudoCgUpdate<T>{shape, cg, P.data, Q.data, X.data, R.data});
}

template <class T>
double PseudoBlockCgMethod<T>::seen_condition(Context& ctx) {
  return steps_.size() == 0 ? 0.0 : to_host(ctx, steps_).front().condition();
}

template <class T>
PseudoBlockCg<T>::PseudoBlockCg(PseudoBlockCgParams const& params)
    : BlockSolver<T>(std::make_unique<PseudoBlockCgMethod<T>>(), params.stopping, params.execution,
                     params.columns) {
  checked(params, this->name());
}

template class PseudoBlockCg<double>;
template class PseudoBlockCg<float>;

}  // namespace tcsolve
