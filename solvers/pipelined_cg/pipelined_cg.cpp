// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/pipelined_cg/pipelined_cg.hpp>

#include <cmath>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/curvature.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {

namespace {

OneReductionScalars read(Context& ctx, Array<OneReductionScalars> const& scalars) {
  return to_host(ctx, scalars).front();
}
void write(Context& ctx, Array<OneReductionScalars>& scalars, OneReductionScalars const& value) {
  copy_bytes(ctx, scalars.data(), ctx.space(), &value, Space::host, sizeof value);
}

}  // namespace

template <class T>
auto OneReductionCg<T>::do_allocate(Context& ctx) -> typename Method<T>::Workspace {
  for (Vector<T>* v : {&u_, &w_, &p_, &s_}) v->resize(ctx.space(), this->A().rows());
  this->keep_best(ctx);
  scalars_.resize(ctx.space(), 1);
  return {&scalars_.data()->rr,
          this->close(scalars_, {&this->system().r, &this->system().x, &u_, &w_, &p_, &s_})};
}

template <class T>
void OneReductionCg<T>::begin(Context& ctx, Attempt const&) {
  Out<T> r = this->r(), u = u_, w = w_;
  write(ctx, scalars_, {});
  this->M().apply(ctx, r, u);
  this->A().apply(ctx, u, w);
  // <s, u> has no part in the first step, and s is not set yet.
  submit(ctx, OneReduction<T>{r.rows, r.data, u.data, w.data, w.data, scalars_.data()});
}

template <class T>
void OneReductionCg<T>::complete(Context& ctx) {
  OneReductionScalars* s = scalars_.data();
  submit(ctx, Advance<T>{p_.rows(), &s->a, &s->keep, p_.view().data, iterate()});
}

// Symbols as in Ghysels and Vanroose, where our M is written M^-1 and x is d. The sums of a step
// are made at the end of the one before, so that the norm that is observed is the newest.
template <class T>
void ChronopoulosGearMethod<T>::step(Context& ctx) {
  Out<T> r = this->r(), u = this->u_, w = this->w_, p = this->p_, s = this->s_;
  OneReductionScalars* sums = this->scalars_.data();
  submit(ctx, GearUpdate<T>{r.rows, sums, u.data, w.data, p.data, s.data, this->iterate(), r.data});
  // x += a p;  p = u + beta p;  s = w + beta s;  r -= alpha s;  a = alpha
  this->M().apply(ctx, r, u);  // u = M r
  this->A().apply(ctx, u, w);  // w = A u
  submit(ctx, OneReduction<T>{r.rows, r.data, u.data, w.data, s.data, sums});
  // <r, u>, <w, u>, <s, u>, <r, r>
  observe(ctx, &sums->rr);
}

template <class T>
auto PipelinedCgMethod<T>::do_allocate(Context& ctx) -> typename Method<T>::Workspace {
  auto workspace = OneReductionCg<T>::do_allocate(ctx);
  for (Vector<T>* v : {&m_, &n_, &q_, &z_}) v->resize(ctx.space(), this->A().rows());
  auto diagonal = this->M().diagonal();
  folded_ = diagonal.has_value();
  D_ = diagonal.value_or(Diagonal<T>{});
  workspace.close =
      this->close(this->scalars_, {&this->system().r, &this->system().x, &this->u_, &this->w_,
                                   &this->p_, &this->s_, &m_, &n_, &q_, &z_});
  return workspace;
}

template <class T>
void PipelinedCgMethod<T>::begin(Context& ctx, Attempt const& attempt) {
  OneReductionCg<T>::begin(ctx, attempt);
  if (folded_) this->M().apply(ctx, this->w_, m_);
}

template <class T>
void PipelinedCgMethod<T>::step(Context& ctx) {
  Out<T> r = this->r(), u = this->u_, w = this->w_, p = this->p_, s = this->s_, m = m_, n = n_,
         q = q_, z = z_;
  OneReductionScalars* sums = this->scalars_.data();
  if (!folded_) this->M().apply(ctx, w, m);  // m = M w
  this->A().apply(ctx, m, n);                // n = A m
  submit(ctx, PipelinedUpdate<T>{r.rows, sums, roundoff(real_of<T>), this->system().size_A(),
                                 m.data, n.data, z.data, q.data, s.data, p.data, this->iterate(),
                                 r.data, u.data, w.data, D_, folded_ ? m.data : nullptr});
  // x += a p;  z = n + beta z;  q = m + beta q;  s = w + beta s;  p = u + beta p;
  // r -= alpha s;  u -= alpha q;  w -= alpha z;  a = alpha;  and the sums
  observe(ctx, &sums->rr);
}

// u = M r, w = A u; s = A p, q = M s, z = A q. r is left as it is: the convergence lives on its
// being orthogonal to the last residuals, which r_0 - A x, rounded, is not. Its gap stops growing
// with that of s, and the driver replaces r should a claim turn out false.
template <class T>
void PipelinedCgMethod<T>::replace(Context& ctx) {
  auto const &A = this->A(), &M = this->M();
  Out<T> r = this->r(), u = this->u_, w = this->w_, s = this->s_;
  M.apply(ctx, r, u);
  A.apply(ctx, u, w);
  A.apply(ctx, this->p_, s);
  M.apply(ctx, s, q_);
  A.apply(ctx, q_, z_);
  if (folded_) M.apply(ctx, w, m_);
  submit(ctx, OneReduction<T>{r.rows, r.data, u.data, w.data, s.data, this->scalars_.data()});
  OneReductionScalars now = read(ctx, this->scalars_);
  double e = roundoff(real_of<T>) * this->system().size_A();  // what these products round off
  now.gap_before += now.gap_r;
  now.worth = Keep::worth2(now.rr, now.gap_before * now.gap_before);
  now.gap_r = e * now.x, now.gap_s = e * now.p, now.gap_w = e * now.u, now.gap_z = e * now.q;
  now.fresh = true;
  write(ctx, this->scalars_, now);
}

// A sign that comes from recurrences may be rounding: the products themselves decide. Where they
// say otherwise, the recurrences have broken down and the driver begins again.
template <class T>
void OneReductionCg<T>::classify_stop(Context& ctx, LoopState& state) {
  auto stop = static_cast<Stop>(state.stop);
  if (stop != Stop::indefinite_preconditioner && !Curvature::decides(stop)) return;
  auto lost = [&](Cause cause) {
    state.stop = static_cast<std::int32_t>(Stop::breakdown);
    state.cause = static_cast<std::int32_t>(cause);
  };
  auto const &A = this->A(), &M = this->M();
  OneReductionScalars s = read(ctx, scalars_);
  double *product = &scalars_.data()->su, exact = 0;
  if (stop == Stop::indefinite_preconditioner) {
    M.apply_dot(ctx, this->r(), u_, product);
    exact = tcsolve::read(ctx, product);
    if (exact > 0) return lost(Cause::rho);
    state.value = exact;
    return;
  }
  if (stop == Stop::indefinite_operator) {  // the direction refused: p = u + beta p
    double beta = state.iteration == 0 ? 0.0 : s.gamma / s.gamma_prev;
    axpby<T, T>(ctx, 1.0, u_, beta, p_);
  }
  A.apply_dot(ctx, p_, s_, product);
  exact = tcsolve::read(ctx, product);
  Curvature curvature{exact, norm<T>(ctx, p_), norm<T>(ctx, s_),
                      std::ldexp(this->system().norm_A, -this->system().exponent),
                      this->system().roundoff_of_curvature()};
  if (stop == Stop::indefinite_operator) {
    state.value = exact;
    if (exact > 0 && !curvature.vanishes()) return lost(Cause::sigma);
  }
  curvature.classify(state);
}

template <class T>
MethodFacts PipelinedCgMethod<T>::facts() const {
  return {.name = "pipelined_cg",
          .cost = {.vectors = 14, .products = 1, .applications = 1, .passes = 18},
          .needs = {.symmetric = true, .definite = true},
          .advice = [](SolveReport const& r) -> std::string {
            bool const another =
                r.cause == Cause::inner_solver || r.cause == Cause::singular_operator;
            if (r.reason != Stop::breakdown || another) return "";
            return "its recurrences lost too much to rounding; use chronopoulos_gear or cg, or a "
                   "stronger "
                   "preconditioner";
          }};
}

template class OneReductionCg<double>;
template class OneReductionCg<float>;
template class ChronopoulosGearMethod<double>;
template class ChronopoulosGearMethod<float>;
template class PipelinedCgMethod<double>;
template class PipelinedCgMethod<float>;

}  // namespace tcsolve
