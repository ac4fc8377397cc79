// SPDX-License-Identifier: Apache-2.0
/// A and M as a method sees them: of size 1 (MethodSystem), and what becomes of a vector that they
/// are tried on.
#include <algorithm>
#include <cmath>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/solvers/driver/krylov_solver.hpp>

namespace tcsolve {

namespace {

constexpr int probes = 4;  // power iterations in the estimate of an unknown norm

}  // namespace

/// What a least-squares solution is recognised by: rtol, at most 1e-8, above rounding; 1e-8 where
/// atol alone is given.
template <class T>
void KrylovSolver<T>::aim() {
  double const columns = judged_.columns();
  double const asked = stopping_.rtol > 0 ? std::min(stopping_.rtol, 1e-8) : 1e-8;
  system_.goal = {};
  system_.goal.noise = std::max(1e-13, 4 * roundoff(Real::f64) * std::sqrt(columns));
  system_.goal.optimal = std::max(asked, system_.goal.noise);
}

/// Products near the end of the exponent range would overflow in squares: a method sees 2^-e A
/// instead, and M scaled so that A M is of size 1. Powers of two change no bit of the iterates;
/// a method that takes square roots of <r, M r> has both scaled always, lest an odd power does.
template <class T>
void KrylovSolver<T>::scale_operators(Context& ctx) {
  int const far = system_.preconditioned && !facts_.scales_exactly ? 0
                  : std::is_same_v<T, double>                      ? 200
                                                                   : 20;
  constexpr int furthest = std::is_same_v<T, double> ? 1000 : 120;  // 2^e is a T
  auto exponent = [=](double size) {
    bool scalable = std::isfinite(size) && size != 0 && std::abs(std::ilogb(size)) > far;
    return scalable ? std::clamp(std::ilogb(size), -furthest, furthest) : 0;
  };
  system_.exponent = system_.headroom = 0;
  Communicator& ranks = ctx.communicator();
  norm_A_true_ = ranks.agree(system_.A_true->norm_estimate());
  int const shift = equilibration_.shift();
  auto const seen = [&](double norm_A_true) {
    return equilibration_.uneven() ? std::ldexp(ranks.agree(system_.A->norm_estimate()), -shift)
                                   : norm_A_true;
  };
  system_.norm_A = seen(norm_A_true_);
  system_.exponent = -shift;
  if (ranks.global_size(system_.A->cols()) == 0 || ranks.global_size(system_.A->rows()) == 0)
    return;
  if (std::isnan(norm_A_true_)) {
    norm_A_true_ = probe_norm(ctx);
    system_.norm_A = seen(norm_A_true_);
  }
  int const e = exponent(std::ldexp(system_.norm_A, shift));
  system_.exponent = e - shift;
  // A r itself, before it is scaled, has to stay in the range of normal numbers.
  constexpr int edge = std::is_same_v<T, double> ? 950 : 110;
  system_.headroom = e > edge ? 24 : e < -edge ? -60 : 0;
  if (e != 0) system_.A = std::make_shared<Scaled<T>>(std::ldexp(1.0, -e), system_.A);
  if (!system_.preconditioned) return;
  double const size = preconditioned_size(ctx);
  // M r as well, of an M that is as large as A is small.
  if (system_.headroom < 0 && std::isfinite(size) && size > 0) {
    constexpr int most = std::is_same_v<T, double> ? 1023 : 127, margin = 16;
    int const of_M = std::ilogb(size) - e;
    system_.headroom = -std::clamp(most - margin - of_M, 0, -system_.headroom);
  }
  int const of_AM = exponent(size);
  if (of_AM != 0) system_.M = std::make_shared<Scaled<T>>(std::ldexp(1.0, -of_AM), system_.M);
}

/// ||A M v|| / ||v|| of one v. For an M that varies, an inner solver as a rule, its own estimate of
/// ||M|| saves a solve.
template <class T>
double KrylovSolver<T>::preconditioned_size(Context& ctx) {
  if (double size = ctx.communicator().agree(system_.M->norm_estimate());
      !system_.M->traits().fixed && std::isfinite(size))
    return size * system_.size_A();
  auto scope = ctx.arena().scope();
  Out<T> z = scope.template vector<T>(system_.M->rows());
  random_vector<T>(ctx, 2, system_.x);
  system_.M->apply(ctx, system_.x, z);
  system_.A->apply(ctx, z, system_.r);
  return norm<T>(ctx, system_.r) / norm<T>(ctx, system_.x);
}

/// The largest ||A v|| / ||v|| of a few power iterations: a lower bound of ||A||, near it for
/// symmetric A.
template <class T>
double KrylovSolver<T>::probe_norm(Context& ctx) {
  random_vector<double>(ctx, 1, trial_);
  double size = norm<double>(ctx, trial_), largest = 0;
  for (int i = 0; i < probes && size > 0; ++i) {
    system_.A_true->apply(ctx, trial_, trial_residual_);
    double image = norm<double>(ctx, trial_residual_);
    if (!std::isfinite(image)) return i == 0 ? image : largest;
    largest = std::max(largest, image / size);
    if (system_.A->rows() != system_.A->cols() || image == 0) break;
    int e = std::ilogb(image);
    size = rescale<double, double>(ctx, -e, trial_residual_, trial_);
  }
  return largest;
}

#define TCSOLVE_INSTANTIATE(T)                                    \
  template void KrylovSolver<T>::aim();                           \
  template void KrylovSolver<T>::scale_operators(Context&);       \
  template double KrylovSolver<T>::preconditioned_size(Context&); \
  template double KrylovSolver<T>::probe_norm(Context&);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
