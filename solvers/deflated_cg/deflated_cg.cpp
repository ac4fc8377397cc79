// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/deflated_cg/deflated_cg.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/deflated_cg/ritz.hpp>
#include <tcsolve/solvers/driver/curvature.hpp>

namespace tcsolve {

MethodFacts DeflatedCgMethod::facts() const {
  double const k = space_, all = space_ + harvest_;
  return {.name = "deflated_cg",
          .cost = {.vectors = 2 * all + 9, .products = 1, .applications = 1, .passes = 2 * k + 13},
          .needs = {.symmetric = true, .definite = true}};
}

Out<double> DeflatedCgMethod::columns(MultiVector<double>& v, Index first, Index count) {
  Out<double> all = v;
  return {all.data + first, all.rows, count, all.ld, all.layout, all.space};
}

// The space is that of the solves before where A has the same size.
auto DeflatedCgMethod::do_allocate(Context& ctx) -> Workspace {
  Index const n = A().rows(), all = space_ + harvest_;
  bool const kept = Z_.rows() == n && Z_.cols() == all && same_home(Z_.view().space, ctx.space());
  for (MultiVector<double>* v : {&Z_, &AZ_}) v->resize(ctx.space(), n, all);
  if (!kept)
    for (MultiVector<double>* v : {&Z_, &AZ_}) fill<double>(ctx, *v, 0);
  for (Vector<double>* v : {&z_, &t_, &p_, &q_}) v->resize(ctx.space(), n);
  auto const k = static_cast<std::size_t>(space_);
  small_.resize(ctx.space(), 3 * k * k + k);
  E_ = small_.data(), N_ = E_ + k * k, T_ = N_ + k * k, mu_ = T_ + k * k;
  k_.resize(ctx.space(), 1);
  stale_ = true;
  return {&k_.data()->rr};
}

void DeflatedCgMethod::begin(Context& ctx, Attempt const&) {
  Out<double> const r = this->r(), x = this->x();
  dot<double>(ctx, r, r, &k_.data()->rr);
  if (stale_) A().apply(ctx, W(), AW());
  stale_ = false;
  gram(ctx, W(), AW(), E_);                                            // E = W^T A W
  gram(ctx, W(), W(), N_);                                             // N = W^T W
  submit(ctx, DeflationBasis{space_, E_, N_, T_, system().size_A()});  // T^T E T = I
  combine(ctx, 1, W(), T_, nullptr, W());                              // W T
  combine(ctx, 1, AW(), T_, nullptr, AW());                            // A W T
  for (int round = 0; round < 2; ++round) {  // the first leaves its own rounding in the space
    gram(ctx, W(), r, mu_);                  // mu = W^T r
    combine(ctx, 1, W(), mu_, x.data, x);    // x += W mu
    combine(ctx, -1, AW(), mu_, r.data, r);  // r -= A W mu
  }
  dot<double>(ctx, r, r, &k_.data()->left);
}

// Symbols as in Saad et al., where our M is written M^-1, and a is alpha.
void DeflatedCgMethod::step(Context& ctx) {
  Out<double> const r = this->r(), x = this->x(), z = z_, t = t_, p = p_, q = q_;
  DeflatedCgScalars* const k = k_.data();
  std::int64_t const n = r.rows;
  auto const kept = [&](MultiVector<double>& v) { return columns(v, space_, harvest_).data; };

  M().apply_dot(ctx, r, z, &k->rho);                       // z = M r,  rho = <r, z>
  gram(ctx, AW(), z, mu_);                                 // mu = (A W)^T z
  combine(ctx, -1, W(), mu_, z.data, t);                   // t = z - W mu
  submit(ctx, DeflatedCgDirection{n, k, t.data, p.data});  // p = t + (rho / rho_prev) p
  A().apply_dot(ctx, p, q, &k->sigma);                     // q = A p,  sigma = <p, q>
  submit(ctx, DeflatedCgKeep{n, k, harvest_, Z_.cols(), p.data, q.data, kept(Z_), kept(AZ_)});
  // a = rho / sigma;  x += a p;  r -= a q;  the stopping test
  submit(ctx, DeflatedCgUpdate{n, k, p.data, q.data, x.data, r.data, space_, mu_});
}

/// The harvest. It reads two small matrices on the host.
void DeflatedCgMethod::conclude(Context& ctx, LoopState& state) {
  Index const used = space_ + std::min<Index>(state.iteration, harvest_);
  if (state.iteration == 0 || static_cast<Stop>(state.stop) == Stop::nonfinite) return;
  if (ctx.asked() != Stop::running) return;  // no time is left
  Out<double> const Z = columns(Z_, 0, used), AZ = columns(AZ_, 0, used);
  auto scope = ctx.arena().scope();
  auto const size = static_cast<std::size_t>(used);
  Array<double> F(ctx.space(), size * size), G(ctx.space(), size * size);
  {
    auto inner = ctx.arena().scope();
    Out<double> const MAZ = inner.vectors<double>(Z.rows, used);
    M().apply(ctx, AZ, MAZ);
    gram(ctx, AZ, MAZ, F.data());  // F = (A Z)^T M (A Z)
    gram(ctx, Z, AZ, G.data());    // G = Z^T A Z
  }
  std::vector<double> const Y = smallest_ritz(to_host(ctx, F), to_host(ctx, G), used, space_);
  if (Y.empty()) return;
  Array<double> const coefficients = to_space(ctx, Y.data(), Y.size());
  Out<double> const kept = scope.vectors<double>(Z.rows, space_);
  for (MultiVector<double>* v : {&Z_, &AZ_}) {
    combine(ctx, 1, columns(*v, 0, used), coefficients.data(), nullptr, kept);
    copy<double, double>(ctx, kept, columns(*v, 0, space_));
  }
}

void DeflatedCgMethod::classify_stop(Context& ctx, LoopState& state) {
  auto const stop = static_cast<Stop>(state.stop);
  if (!Curvature::decides(stop)) return;
  if (stop == Stop::claimed && state.iteration == 0) return;  // there may be no p
  Curvature curvature{to_host(ctx, k_).front().sigma, norm<double>(ctx, p_), 0,
                      std::ldexp(system().norm_A, -system().exponent),
                      system().roundoff_of_curvature()};
  if (!curvature.vanishes()) return;
  curvature.q = norm<double>(ctx, q_);
  curvature.classify(state);
}

}  // namespace tcsolve
