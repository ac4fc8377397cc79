// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/cg.hpp>

#include <cmath>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/kernels/verbs/monitor.hpp>

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

// A curvature within its rounding error has no sign. ||A p||^2 <= ||A|| <p, A p> for a semidefinite
// A, so that A p tells a singular A from one that is not semidefinite.
template <class T>
void Cg<T>::finish(Context& ctx, LoopState& state) {
  auto stop = static_cast<Stop>(state.stop);
  if (stop != Stop::indefinite_operator && stop != Stop::diverged && stop != Stop::claimed) return;
  double const tiny = 10 * roundoff(real_of<T>);
  double sigma = read(ctx, sigma_), p = norm<T>(ctx, p_), q = norm<T>(ctx, q_);
  double A = std::ldexp(this->norm_A_, -this->operator_exponent_);
  if (!(std::abs(sigma) <= tiny * A * p * p)) return;
  bool singular = q <= std::sqrt(tiny) * A * p;
  if (stop == Stop::claimed) {  // the driver looks whether it is true
    if (singular) state.cause = static_cast<std::int32_t>(Cause::singular_operator);
    return;
  }
  state.value = sigma;
  state.stop = static_cast<std::int32_t>(singular ? Stop::breakdown : Stop::indefinite_operator);
  state.cause = static_cast<std::int32_t>(singular ? Cause::singular_operator : Cause::none);
}

template class Cg<double>;
template class Cg<float>;

}  // namespace tcsolve
