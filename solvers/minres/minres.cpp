// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/minres/minres.hpp>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {

template <class T>
auto MinresMethod<T>::do_allocate(Context& ctx) -> typename Method<T>::Workspace {
  for (Vector<T>* v : {&v_prev_, &q_, &z_, &zn_, &w_, &w_prev_})
    v->resize(ctx.space(), this->A().rows());
  this->keep_best(ctx);
  scalars_.resize(ctx.space(), 1);
  return {&scalars_.data()->norm2};
}

// v_1 = r;  z = M v_1;  gamma^2 = <z, v_1>;  z /= gamma.
template <class T>
void MinresMethod<T>::begin(Context& ctx, Attempt const&) {
  MinresScalars* s = scalars_.data();
  for (Vector<T>* v : {&v_prev_, &w_, &w_prev_}) fill<T>(ctx, *v, 0);
  this->M().apply_dot(ctx, this->r(), zn_, &s->gamma2);
  submit(ctx, MinresStart<T>{this->r().rows, s, this->system().size_A_alone(), zn_.view().data,
                             z_.view().data});
}

// The newest Lanczos vector v takes the place of r.
template <class T>
void MinresMethod<T>::step(Context& ctx) {
  Out<T> v = this->r(), v_prev = v_prev_, q = q_, z = z_, zn = zn_, w = w_, w_prev = w_prev_;
  MinresScalars* s = scalars_.data();
  Index n = v.rows;
  double const e = roundoff(real_of<T>),
               rounding = 100 * e * this->system().size_A() / this->system().size_r();
  this->A().apply_dot(ctx, z, q, &s->delta);  // q = A z,  delta = <z, q>
  submit(ctx, Lanczos<T>{n, s, q.data, v.data,
                         v_prev.data});  // v = q - (delta/gamma) v - (gamma/gamma_prev) v_prev
  this->M().apply_dot(ctx, v, zn, &s->gamma2);  // z_next = M v,  gamma_next^2 = <z_next, v>
  submit(
      ctx,
      MinresUpdate<T>{
          n, s, e, rounding, zn.data, z.data, w.data, w_prev.data, {this->x().data, this->best()}});
  observe(ctx, &s->norm2);
}

template <class T>
void MinresMethod<T>::complete(Context& ctx) {
  MinresScalars* s = scalars_.data();
  submit(ctx,
         Advance<T>{w_.rows(), &s->a, &s->keep, w_.view().data, {this->x().data, this->best()}});
}

// The driver has looked.
template <class T>
void MinresMethod<T>::replace(Context& ctx) {
  fill<double>(ctx, vector_view(&scalars_.data()->look, 1, ctx.space()), 0);
}

// The norm is an inner product, which 0 makes of an indefinite M too.
template <class T>
void MinresMethod<T>::conclude(Context&, LoopState& state) {
  bool const begun = state.limit != 0;
  if (begun || static_cast<Stop>(state.stop) != Stop::breakdown) return;
  state.stop = static_cast<std::int32_t>(Stop::indefinite_preconditioner);
  state.cause = static_cast<std::int32_t>(Cause::none);
}

template <class T>
MethodFacts MinresMethod<T>::facts() const {
  return {
      .name = "minres",
      .cost = {.vectors = 12, .products = 1, .applications = 1, .passes = 16},
      .needs = {.symmetric = true},
      .advice = [](SolveReport const& r) -> std::string {
        if (r.reason != Stop::stagnated) return "";
        return "A may be singular, and b outside its range, or not symmetric; use gmres or lsmr";
      },
      .scales_exactly = false,
      .watched = true};
}

template class MinresMethod<double>;
template class MinresMethod<float>;

}  // namespace tcsolve
