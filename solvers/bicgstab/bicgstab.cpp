// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/bicgstab/bicgstab.hpp>

#include <cmath>

#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {

template <class T>
auto BicgstabMethod<T>::do_allocate(Context& ctx) -> typename Method<T>::Workspace {
  for (Vector<T>* v : {&shadow_, &p_, &y_, &v_, &z_, &t_}) v->resize(ctx.space(), this->A().rows());
  auto diagonal = this->M().diagonal();
  folded_ = diagonal.has_value();
  D_ = diagonal.value_or(Diagonal<T>{});
  this->keep_best(ctx);
  k_.resize(ctx.space(), 1);
  return {&k_.data()->rr, this->close(k_, {&this->system().r, &this->system().x, &shadow_, &p_, &y_,
                                           &v_, &z_, &t_})};
}

// The shadow vector r~ is r itself; after a breakdown r plus something random, so that it is new
// and still not orthogonal to r.
template <class T>
void BicgstabMethod<T>::begin(Context& ctx, Attempt const& attempt) {
  Out<T> r = this->r(), shadow = shadow_;
  BicgstabScalars* s = k_.data();
  Communicator& ranks = ctx.communicator();
  submit(ctx, BicgShadow<T>{r.rows, attempt, ctx.options().seed + 16, r.data, shadow.data,
                            ranks.first_row(r.rows), ranks.global_size(r.rows)});
  dot2<T>(ctx, shadow, r, &s->rho, &s->rr);
  dot<T>(ctx, shadow, shadow, &s->shadow2);
}

template <class T>
void BicgstabMethod<T>::step(Context& ctx) {
  auto const &A = this->A(), &M = this->M();
  Out<T> r = this->r(), x = this->x(), shadow = shadow_, p = p_, y = y_, v = v_, z = z_, t = t_;
  BicgstabScalars* s = k_.data();
  Index n = r.rows;
  submit(ctx, BicgDirection<T>{n, s, D_, r.data, v.data, p.data, folded_ ? y.data : nullptr});
  // p = r + beta (p - omega v)
  if (!folded_) M.apply(ctx, p, y);            // y = M p
  A.apply(ctx, y, v);                          // v = A y
  dot2<T>(ctx, shadow, v, &s->sigma, &s->vv);  // sigma = <r~, v>
  submit(ctx, BicgHalf<T>{n, s, D_, v.data, r.data, folded_ ? z.data : nullptr});
  // alpha = rho / sigma;  s = r - alpha v
  if (!folded_) M.apply(ctx, r, z);    // z = M s, s in the place of r
  A.apply(ctx, z, t);                  // t = A z
  dot2<T>(ctx, r, t, &s->ts, &s->tt);  // <t, s>, <t, t>
  submit(ctx, BicgFull<T>{n, s, y.data, z.data, t.data, shadow.data, x.data, r.data, this->best(),
                          this->system().size_A()});
  // omega = <t, s> / <t, t>;
  // x += alpha y + omega z;  r = s - omega t
  observe(ctx, &s->rr);
}

template <class T>
void BicgstabMethod<T>::replace(Context& ctx) {
  BicgstabScalars* s = k_.data();
  dot2<T>(ctx, shadow_, this->r(), &s->rho, &s->rr);
  fill<double>(ctx, vector_view(&s->xx, 1, ctx.space()), 0);
}

template class BicgstabMethod<double>;
template class BicgstabMethod<float>;

}  // namespace tcsolve
