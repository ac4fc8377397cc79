// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/cg.hpp>

#include <cmath>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/kernels/verbs/monitor.hpp>
#include <tcsolve/solvers/curvature.hpp>

namespace tcsolve {

template <class T>
void Cg<T>::allocate(Context& ctx) {
  Index n = this->A_->rows();
  for (Vector<T>* v : {&z_, &p_, &q_}) *v = Vector<T>(ctx.space(), n);
  scalars_ = Array<double>(ctx.space(), 4);
  rho_ = scalars_.data(), rho_prev_ = rho_ + 1, sigma_ = rho_ + 2, rr_ = rho_ + 3;
  this->norm2_ = rr_;
}

template <class T>
void Cg<T>::begin(Context& ctx, int) {
  dot<T>(ctx, this->r_, this->r_, rr_);
}

// Symbols as in Saad, where our M is written M^-1, x is d and a is alpha.
template <class T>
void Cg<T>::step(Context& ctx) {
  auto const &A = *this->A_, &M = *this->M_;
  Out<T> r = this->r_, x = this->d_;
  M.apply_dot(ctx, r, z_, rho_);            // z = M r,  rho = <r, z>
  extend<T>(ctx, rho_, rho_prev_, z_, p_);  // p = z + (rho / rho_prev) p
  A.apply_dot(ctx, p_, q_, sigma_);         // q = A p,  sigma = <p, q>
  descend<T>(ctx, rho_, sigma_, p_, q_, x, r, rr_,
             rho_prev_);  // a = rho / sigma;  x += a p;  r -= a q;  rr = <r, r>
  observe(ctx, rr_);
}

template <class T>
void Cg<T>::finish(Context& ctx, LoopState& state) {
  if (!Curvature::explains(static_cast<Stop>(state.stop))) return;
  Curvature{read(ctx, sigma_), norm<T>(ctx, p_), norm<T>(ctx, q_),
            std::ldexp(this->norm_A_, -this->operator_exponent_), roundoff(real_of<T>)}
      .explain(state);
}

template class Cg<double>;
template class Cg<float>;

}  // namespace tcsolve
