// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/cg/cg.hpp>

#include <cmath>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/curvature.hpp>

namespace tcsolve {

template <class T>
auto CgMethod<T>::do_allocate(Context& ctx) -> typename Method<T>::Workspace {
  Index n = this->A().rows();
  auto diagonal = this->M().diagonal();
  folded_ = diagonal.has_value();
  D_ = diagonal.value_or(Diagonal<T>{});
  bool const varies = beta_ == Beta::automatic && !this->M().traits().fixed;
  flexible_ = !folded_ && (varies || beta_ == Beta::flexible);
  for (Vector<T>* v : {&p_, &q_}) v->resize(ctx.space(), n);
  z_.resize(ctx.space(), folded_ ? 0 : n);
  this->keep_best(ctx);
  // A beta that is not rho / rho_prev makes no Lanczos matrix.
  bool const renews = this->system().roundoff_of_curvature() > roundoff(Real::f64);
  steps_.resize(ctx.space(), renews && !flexible_ ? 1 : 0);
  CgScalars const k{.steps = steps_.size() > 0 ? steps_.data() : nullptr};
  k_.resize(ctx.space(), 1);
  copy_bytes(ctx, k_.data(), ctx.space(), &k, Space::host, sizeof k);
  return {&k_.data()->rr, this->close(k_, {&this->system().r, &this->system().x, &p_, &q_, &z_})};
}

template <class T>
void CgMethod<T>::begin(Context& ctx, Attempt const& attempt) {
  In<T> r = this->r();
  submit(ctx, CgStart<T>{r.rows, k_.data(), attempt, this->system().size_A_alone(), D_, r.data});
}

// Symbols as in Saad, where our M is written M^-1, and a is alpha. The scalars k live on the
// device.
template <class T>
void CgMethod<T>::step(Context& ctx) {
  auto const &A = this->A(), &M = this->M();
  CgScalars* k = k_.data();
  Out<T> r = this->r(), x = this->x(), z = folded_ ? r : z_;
  Observe const test{0, &k->rr};

  if (!folded_) M.apply_dot(ctx, r, z, &k->rho);  // z = M r,  rho = <r, z>
  if (flexible_)                                  // beta = -<z, q> / sigma
    submit(ctx, CgFlexibleBeta<T>{z.rows, k, z.data, q_.view().data});
  update_direction<T>(ctx, k, D_, z, p_, x, this->best());  // x += a p;  p = z + (rho / rho_prev) p
  A.apply_dot(ctx, p_, q_, &k->sigma);                      // q = A p,  sigma = <p, q>
  update_residual<T>(ctx, k, D_, folded_, q_, r, test);     // a = rho / sigma;  r -= a q;  the test
}

template <class T>
void CgMethod<T>::complete(Context& ctx) {
  submit(ctx, CgComplete<T>{p_.rows(), k_.data(), p_.view().data, this->x().data, this->best()});
}

// beta = rho / rho_prev goes on from the rho of the new r. q is made anew before it is read again,
// unless beta is made of it.
template <class T>
void CgMethod<T>::replace(Context& ctx) {
  Out<T> const r = this->r(), z = folded_ ? r : q_.view();
  if (!folded_) this->M().apply(ctx, r, z);
  submit(ctx, CgRenew<T>{r.rows, k_.data(), D_, r.data, z.data, p_.view().data});
  submit(ctx, CgTurn<T>{r.rows, k_.data(), D_, z.data, p_.view().data});
  if (flexible_) this->A().apply_dot(ctx, p_, q_, &k_.data()->sigma);
}

template <class T>
void CgMethod<T>::classify_stop(Context& ctx, LoopState& state) {
  if (!Curvature::decides(static_cast<Stop>(state.stop))) return;
  CgScalars k = to_host(ctx, k_).front();
  k.classify(state);
  Curvature curvature{k.sigma, norm<T>(ctx, p_), 0,
                      std::ldexp(this->system().norm_A, -this->system().exponent),
                      this->system().roundoff_of_curvature()};
  if (!curvature.vanishes()) return;
  curvature.q = norm<T>(ctx, q_);
  curvature.classify(state);
}

template <class T>
void CgMethod<T>::classify_stop_in_batch(Context& ctx, double const* norm_A) {
  submit(ctx, CgClassifyStop<T>{p_.rows(), k_.data(), norm_A, roundoff(real_of<T>), p_.view().data,
                                q_.view().data});
}

template <class T>
double CgMethod<T>::seen_condition(Context& ctx) {
  return steps_.size() == 0 ? 0.0 : to_host(ctx, steps_).front().condition();
}

template class CgMethod<double>;
template class CgMethod<float>;

}  // namespace tcsolve
