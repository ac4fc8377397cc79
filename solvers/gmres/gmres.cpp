// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/gmres/gmres.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <tcsolve/kernels/reductions.hpp>

namespace tcsolve {

namespace {

/// f(Basis<S>) for the S of `type`, which is no wider than T.
template <class T, class F>
void with_basis(BasisType type, std::byte* room, std::int64_t n, Index m, F const& f) {
  with_basis_type(type, [&]<class S>(S) {
    if constexpr (sizeof(S) <= sizeof(T)) f(Basis<S>::of(room, n, m));
  });
}

/// Array::resize() of one that several methods may share: of another size it stays with the others.
template <class S>
void room(std::shared_ptr<Array<S>>& shared, Space space, std::size_t n) {
  if (shared->size() != n || !same_home(shared->space(), space))
    shared = std::make_shared<Array<S>>(space, n);
}

/// Bytes of an entry.
double width_of(BasisType type) {
  return with_basis_type(type, []<class S>(S) {
    constexpr Index many = 1 << 20;
    return static_cast<double>(Basis<S>::bytes(many, 1)) / many;
  });
}

/// What to do about a solve that makes no headway.
std::string own_advice(SolveReport const& r) {
  return r.reason == Stop::stagnated ? "raise restart, or use a stronger preconditioner" : "";
}
std::string narrow_advice(SolveReport const& r) {
  return r.reason == Stop::stagnated
             ? "leave 'basis' out, raise restart, or use a stronger preconditioner"
             : "";
}

}  // namespace

std::string check_basis(std::optional<BasisType> basis, VectorType vectors, Execution execution) {
  if (!basis) return "";
  if (vectors == VectorType::fp32 && *basis == BasisType::fp64)
    return "'basis: fp64' is wider than 'vectors: fp32', whose entries it would hold; leave one "
           "out";
  bool const own = *basis == (vectors == VectorType::fp32 ? BasisType::fp32 : BasisType::fp64);
  if (!own && execution == Execution::persistent)
    return "'execution: persistent' reads a basis of the vectors' own type; leave 'basis' or "
           "'execution' out";
  return "";
}

template <class T>
Arnoldi<T>::Arnoldi(int restart, std::optional<BasisType> basis)
    : restart_(restart), basis_(basis.value_or(own_basis)) {}

template <class T>
auto Arnoldi<T>::do_allocate(Context& ctx) -> typename Method<T>::Workspace {
  std::size_t n = this->A().rows(), m = restart_;
  Space s = ctx.space();
  with_basis_type(basis_, [&]<class S>(S) { room(V_, s, Basis<S>::bytes(n, restart_)); });
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
  with_basis<T>(basis_, V_->data(), w.rows, restart_, [&]<class S>(Basis<S> V) {
    // s = V^T u, t = V^T w, rho, kappa, h.
    gram(ctx, Gram<T, S>{w.rows, V, u.data, w.data, H_, eps, size, partials_.data()});
    // v_j = (u - V s) / rho;  u = (w - V t - kappa v_j) / (2^e rho);  h into R, g, ||r||.
    submit(ctx, ArnoldiUpdate<T, S>{w.rows, V, u.data, w.data, H_, eps, size,
                                    Observe{.norm2 = H_.norm2}});
  });
}

template <class T>
void Arnoldi<T>::solve_for_y(Context& ctx) {
  submit(ctx, BackSubstitute{0, H_, roundoff(real_of<T>)});
}

template <class T>
void Arnoldi<T>::combine_basis(Context& ctx, Out<T> u) {
  with_basis<T>(basis_, V_->data(), u.rows, restart_, [&]<class S>(Basis<S> V) {
    submit(ctx, CombineBasis<T, S>{u.rows, H_.columns, V, H_.y, u.data});
  });
}

template <class T>
MethodFacts Arnoldi<T>::arnoldi_facts(std::string name, double vectors, double passes) const {
  // All inner products and all updates read half of it.
  double const basis = restart_ * width_of(basis_) / sizeof(T);
  return {.name = std::move(name),
          .cost = {.vectors = vectors + basis,
                   .products = 1,
                   .applications = 1,
                   .passes = passes + basis},
          .advice = narrow() ? narrow_advice : own_advice,
          .cycle = restart_,
          .basis_passes = basis};
}

template <class T>
bool Arnoldi<T>::saw_singular(Context& ctx) {
  return read(ctx, H_.left) > 0;
}

template <class T>
double Arnoldi<T>::seen_condition(Context& ctx) {
  std::vector<double> const small = to_host(ctx, small_);
  auto const at = [&](double const* place) { return small.data() + (place - small_.data()); };
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (Index j = 0; j < static_cast<Index>(*at(H_.columns)); ++j) {
    double const r = std::abs(*at(H_.R + std::int64_t{j} * H_.m + j));
    least = std::min(least, r), most = std::max(most, r);
  }
  return most > 0 ? most / least : 0;
}

template <class T>
void Arnoldi<T>::classify_stop(Context&, LoopState& state) {
  if (!narrow()) return;
  auto const stop = static_cast<Stop>(state.stop);
  auto const cause = static_cast<Cause>(state.cause);
  bool const spent = stop == Stop::stagnated && cause == Cause::values;
  if (!spent && !(stop == Stop::claimed && cause == Cause::none)) return;
  state.stop = static_cast<std::int32_t>(Stop::cycle_end);
  state.cause = static_cast<std::int32_t>(Cause::none);
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
  this->solve_for_y(ctx);
  if (side_ == Side::left) return this->combine_basis(ctx, this->x());
  this->combine_basis(ctx, this->z_);
  this->M().apply(ctx, this->z_, this->x());  // d = M V y
}

template <class T>
auto FgmresMethod<T>::do_allocate(Context& ctx) -> typename Method<T>::Workspace {
  auto const workspace = Arnoldi<T>::do_allocate(ctx);
  S_.resize(ctx.space(), static_cast<std::size_t>(this->restart_) * this->restart_);
  this->H_.S = S_.data();
  room(Z_, ctx.space(), static_cast<std::size_t>(this->A().rows()) * this->restart_);
  return workspace;
}

template <class T>
void FgmresMethod<T>::begin(Context& ctx, Attempt const&) {
  this->start_basis(ctx, this->r());
}

template <class T>
void FgmresMethod<T>::step(Context& ctx) {
  this->M().apply(ctx, this->u_, this->z_);  // z = M_j u
  submit(ctx, StoreColumn<T>{this->z_.rows(), this->z_.view().data, Z_->data()});
  this->A().apply(ctx, this->z_, this->w_);  // w = A z
  this->extend_basis(ctx);
}

template <class T>
void FgmresMethod<T>::complete(Context& ctx) {
  this->solve_for_y(ctx);
  Out<T> x = this->x();
  Basis<T> const Z{Z_->data(), x.rows};
  submit(ctx, CombineBasis<T>{x.rows, this->H_.columns, Z, this->H_.y, x.data});  // d = Z y
}

template class Arnoldi<double>;
template class Arnoldi<float>;
template class GmresMethod<double>;
template class GmresMethod<float>;
template class FgmresMethod<double>;
template class FgmresMethod<float>;

}  // namespace tcsolve
