// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/lsmr/lsmr.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {
namespace {

std::string needed(std::string const& name) {
  return cat("lsmr needs the transpose of ", name,
             "; use operator: {format: csr} and a preconditioner that has one (none, or for a "
             "square matrix jacobi)");
}

}  // namespace

template <class T>
auto LsmrMethod<T>::do_allocate(Context& ctx) -> typename Method<T>::Workspace {
  for (auto const* op : {&this->A(), &this->M()}) {
    if (!op->traits().transpose) throw Unsupported(needed(op->name()));
    op->prepare(ctx, Op::transpose);
  }
  if (!this->system().A_true->traits().transpose)
    throw Unsupported(needed(this->system().A_true->name()));
  this->system().A_true->prepare(ctx, Op::transpose);
  Space s = ctx.space();
  q_.resize(s, this->A().rows());
  for (Vector<T>* v : {&t_, &v_, &h_, &hbar_, &y_, &between_}) v->resize(s, this->A().cols());
  unit_.resize(s, this->A().rows());
  gradient_.resize(s, this->A().cols());
  columns_.resize(s, this->A().cols());
  if (!this->system().A_true->inverse_column_norms(ctx, columns_)) probe_columns(ctx);
  scalars_.resize(s, 1);
  uu_.resize(s, 1);
  return {&scalars_.data()->norm2};
}

/// For an operator without access to its columns: z uniform in [-1, 1) has E (a_j^T z)^2 =
/// ||a_j||^2 / 3. A few such z estimate each length to a factor of about two.
template <class T>
void LsmrMethod<T>::probe_columns(Context& ctx) {
  constexpr int probes = 8;
  std::size_t const n = columns_.rows();
  std::vector<double> length(n, 0.0);
  for (int p = 0; p < probes; ++p) {
    random_vector<double>(ctx, 100 + p, unit_);
    this->system().A_true->apply(ctx, 1.0, unit_, 0.0, gradient_, Op::transpose);
    auto const seen = to_host(ctx, gradient_.view().data, ctx.space(), n);
    for (std::size_t j = 0; j < n; ++j) length[j] = std::hypot(length[j], seen[j]);
  }
  int const e = std::isfinite(this->system().norm_A) && this->system().norm_A > 0
                    ? std::min(std::ilogb(this->system().norm_A), 0)
                    : 0;
  for (double& d : length) {
    double const inverse = std::ldexp(std::sqrt(probes / 3.0) / d, e);
    d = d == 0 ? 0.0 : std::isfinite(inverse) ? inverse : 0x1p+1023;
  }
  copy_bytes(ctx, columns_.view().data, ctx.space(), length.data(), Space::host,
             sizeof(double) * n);
}

template <class T>
void LsmrMethod<T>::transposed(Context& ctx, In<T> u, Out<T> t) {
  this->A().apply(ctx, T(1), u, T(0), between_, Op::transpose);
  this->M().apply(ctx, T(1), between_, T(0), t, Op::transpose);
}

// u takes the place of r, y that of d until finish. Where A^T r is small already, a run is to show
// that ||r|| does not fall while it is made very much smaller: small singular values, hidden so
// far, come to light.
template <class T>
void LsmrMethod<T>::begin(Context& ctx, Attempt const& attempt) {
  if (attempt.first()) condition_ = 1;
  constexpr double closer = 1e-5;
  double const enough = this->system().goal.optimal, here = this->system().goal.normal,
               noise = this->system().goal.noise;
  double const reduction = here <= enough ? std::max(closer, 0.1 * noise / here)
                                          : this->system().goal.tighten * enough / here;
  tells_condition_ = here > std::max(noise, 16 * roundoff(real_of<T>));
  Out<T> u = this->r(), t = t_;
  fill<T>(ctx, y_, 0);
  dot<T>(ctx, u, u, uu_.data());
  transposed(ctx, u, t);
  submit(ctx, LsmrStart<T>{t.rows, scalars_.data(), uu_.data(), reduction, t.data, v_.view().data,
                           h_.view().data, hbar_.view().data});
}

template <class T>
void LsmrMethod<T>::step(Context& ctx) {
  LsmrScalars* s = scalars_.data();
  Out<T> u = this->r(), q = q_, t = t_, v = v_, h = h_, hbar = hbar_, y = y_;
  this->M().apply(ctx, v, between_);
  this->A().apply(ctx, between_, q);                       // q = A M v
  submit(ctx, BidiagonalU<T>{u.rows, s, q.data, u.data});  // beta u = A M v - alpha u
  transposed(ctx, u, t);                                   // t = M^T A^T u
  submit(ctx, BidiagonalV<T>{v.rows, s, roundoff(real_of<T>), t.data,
                             v.data});  // alpha v = t - beta v; rotations
  submit(ctx, LsmrUpdate<T>{v.rows, s, v.data, h.data, hbar.data, y.data});  // hbar, y, h
  // ||r|| of a least-squares problem is flat long before A^T r is small.
  observe(ctx, &s->norm2, &s->done, &s->progress2);
}

template <class T>
void LsmrMethod<T>::complete(Context& ctx) {
  this->M().apply(ctx, y_, this->x());
}

// alpha = 0: M^T A^T r vanishes. Unless r is optimal, M is singular.
template <class T>
void LsmrMethod<T>::conclude(Context& ctx, LoopState& state) {
  LsmrScalars* s = scalars_.data();
  if (tells_condition_) condition_ = std::max(condition_, read(ctx, &s->condition));
  normal_claimed_ =
      state.stop == static_cast<std::int32_t>(Stop::claimed) && read(ctx, &s->done) != 0;
  if (normal_claimed_ && read(ctx, &s->alpha) == 0)
    state.cause = static_cast<std::int32_t>(Cause::singular_operator);
}

// With r scaled to norm 1, so that A^T r does not underflow.
template <class T>
double LsmrMethod<T>::normal_residual(Context& ctx, In<double> r, double r_norm) {
  norm_of_gradient_ = 0;
  if (r_norm == 0) return 0;
  int e = std::ilogb(r_norm);
  rescale<double, double>(ctx, -e, r, unit_);
  Out<double> g = gradient_;
  this->system().A_true->apply(ctx, 1.0, unit_, 0.0, g, Op::transpose);
  double const r_size = std::ldexp(r_norm, -e);
  double const plain = norm<double>(ctx, g);
  norm_of_gradient_ = std::ldexp(plain, e);
  if (plain == 0) return 0;
  if (!std::isfinite(this->system().norm_A) || this->system().norm_A == 0)
    return std::numeric_limits<double>::infinity();
  submit(ctx, Multiply<double>{g.rows, 1.0, columns_.view().data, In<double>(g), 0.0, g});
  return std::ldexp(norm<double>(ctx, g) / r_size, -std::min(std::ilogb(this->system().norm_A), 0));
}

template <class T>
MethodFacts LsmrMethod<T>::facts() const {
  return {
      .name = "lsmr",
      .cost = {.vectors = 15, .products = 2, .applications = 2, .passes = 18, .transpose = true},
      .advice = [](SolveReport const& r) -> std::string {
        if (r.reason == Stop::stagnated)
          return cat("A^T r falls no further; ",
                     std::isfinite(r.condition)
                         ? cat("with a condition number of ", figure_text(r.condition), " or more ")
                         : "",
                     "that does not make x a least-squares solution; scale the columns of A, "
                     "or use a preconditioner");
        if (r.reason == Stop::breakdown)
          return "A times the preconditioner is singular, or so badly scaled that it looks it; "
                 "scale "
                 "the columns of A, or use another preconditioner";
        return "";
      },
      .square = false,
      .accepts_least_squares = accepts_};
}

template class LsmrMethod<double>;
template class LsmrMethod<float>;

}  // namespace tcsolve
