// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/gmres/gmres.hpp>

#include <tcsolve/kernels/reductions.hpp>

namespace tcsolve {

template <class T>
auto Arnoldi<T>::do_allocate(Context& ctx) -> typename Method<T>::Workspace {
  std::size_t n = this->A().rows(), m = restart_;
  Space s = ctx.space();
  V_.resize(s, n * m);
  for (Vector<T>* v : {&u_, &w_, &z_}) v->resize(s, this->A().rows());
  std::size_t sums = Gram<T>::sums(restart_ - 1);
  partials_.resize(s, sums * gram_blocks(ctx));
  small_.resize(s, sums + (m + 1) * m + m * m + 4 * m + 1 + 8);
  double* at = small_.data();
  auto take = [&](std::size_t count) { return std::exchange(at, at + count); };
  H_ = {restart_,    take(sums), take((m + 1) * m), take(m * m), take(m), take(m),
        take(m + 1), take(m),    take(1),           take(1),     take(1), take(1),
        take(1),     take(1),    take(1),           take(1)};
  return {H_.norm2, this->close(small_, {&u_, &w_, &z_})};
}

template <class T>
void Arnoldi<T>::start_basis(Context& ctx, In<T> start) {
  dot<T>(ctx, start, start, H_.norm2);
  submit(ctx, ArnoldiStart<T>{start.rows, H_, start.data, u_.view().data});
}

template <class T>
void Arnoldi<T>::extend_basis(Context& ctx) {
  Out<T> u = u_, w = w_;
  double eps = roundoff(real_of<T>), size = this->system().size_A_alone();
  // s = V^T u, t = V^T w, rho, kappa, h.
  gram(ctx, Gram<T>{w.rows, V_.data(), u.data, w.data, H_, eps, size, partials_.data()});
  // v_j = (u - V s) / rho;  u = (w - V t - kappa v_j) / (2^e rho);  h into R, g, ||r||.
  submit(ctx, ArnoldiUpdate<T>{w.rows, V_.data(), u.data, w.data, H_, eps, size,
                               Observe{.norm2 = H_.norm2}});
}

template <class T>
void Arnoldi<T>::combine(Context& ctx, Array<T> const& B, Out<T> u) {
  submit(ctx, BackSubstitute{0, H_, roundoff(real_of<T>)});                  // y = R^-1 g
  submit(ctx, CombineBasis<T>{u.rows, H_.columns, B.data(), H_.y, u.data});  // u = B y
}

template <class T>
MethodFacts Arnoldi<T>::arnoldi_facts(std::string name, double vectors, double passes) const {
  return {.name = std::move(name),
          .cost = {.vectors = vectors, .products = 1, .applications = 1, .passes = passes},
          .advice = [](SolveReport const& r) -> std::string {
            return r.reason == Stop::stagnated ? "raise restart, or use a stronger preconditioner"
                                               : "";
          },
          .cycle = restart_,
          // All inner products and all updates read half of it.
          .basis_passes = static_cast<double>(restart_)};
}

template <class T>
bool Arnoldi<T>::saw_singular(Context& ctx) {
  return read(ctx, H_.left) > 0;
}

template <class T>
void GmresMethod<T>::begin(Context& ctx, Attempt const&) {
  if (side_ == Side::left) this->M().apply(ctx, this->r(), this->z_);
  this->start_basis(ctx, side_ == Side::left ? this->z_ : this->r());
}

template <class T>
void GmresMethod<T>::step(Context& ctx) {
  LinearOperator<T> const &A = this->A(), &M = this->M();
  bool left = side_ == Side::left;
  (left ? A : M).apply(ctx, this->u_, this->z_);
  (left ? M : A).apply(ctx, this->z_, this->w_);  // w = A M u, or M A u
  this->extend_basis(ctx);
}

template <class T>
void GmresMethod<T>::complete(Context& ctx) {
  if (side_ == Side::left) return this->combine(ctx, this->V_, this->x());
  this->combine(ctx, this->V_, this->z_);
  this->M().apply(ctx, this->z_, this->x());  // d = M V y
}

template <class T>
auto FgmresMethod<T>::do_allocate(Context& ctx) -> typename Method<T>::Workspace {
  auto const workspace = Arnoldi<T>::do_allocate(ctx);
  S_.resize(ctx.space(), static_cast<std::size_t>(this->restart_) * this->restart_);
  this->H_.S = S_.data();
  Z_.resize(ctx.space(), static_cast<std::size_t>(this->A().rows()) * this->restart_);
  return workspace;
}

template <class T>
void FgmresMethod<T>::begin(Context& ctx, Attempt const&) {
  this->start_basis(ctx, this->r());
}

template <class T>
void FgmresMethod<T>::step(Context& ctx) {
  this->M().apply(ctx, this->u_, this->z_);  // z = M_j u
  submit(ctx, StoreColumn<T>{this->z_.rows(), this->z_.view().data, Z_.data()});
  this->A().apply(ctx, this->z_, this->w_);  // w = A z
  this->extend_basis(ctx);
}

template <class T>
void FgmresMethod<T>::complete(Context& ctx) {
  this->combine(ctx, Z_, this->x());  // d = Z y
}

template class Arnoldi<double>;
template class Arnoldi<float>;
template class GmresMethod<double>;
template class GmresMethod<float>;
template class FgmresMethod<double>;
template class FgmresMethod<float>;

}  // namespace tcsolve
