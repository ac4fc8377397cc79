// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/block_cg/block_cg.hpp>

#include <cmath>
#include <vector>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/solvers/driver/curvature.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {

double const* BlockCgMethod::do_allocate(Context& ctx) {
  BlockSystem<double> const& s = system();
  Index const n = s.A->rows(), w = s.columns();
  for (MultiVector<double>* v : {&P_, &Q_, &W_}) v->resize(ctx.space(), n, w);
  small_.resize(ctx.space(), BlockCgScalars::doubles(w));
  double* next = small_.data();
  auto take = [&](std::size_t count) { return std::exchange(next, next + count); };
  auto square = [&] { return take(std::size_t(w) * w); };
  k_ = {.w = w,
        .PQ = square(),
        .lengths = square(),
        .turns = square(),
        .RR = square(),
        .G = square(),
        .P = {.T = square(), .again = take(2), .rank = take(1)},
        .goal2 = s.goal2.data(),
        .measure2 = take(1),
        .parts = s.parts,
        .narrow = take(1)};
  k_.RZ = s.preconditioned ? square() : k_.RR;
  return k_.measure2;
}

/// Z = M R, which is R itself without a preconditioner, and what is wanted of it: the norms of R's
/// columns, the diagonal of Z^T R and, but for the first Z, Z^T Q.
In<double> BlockCgMethod::precondition(Context& ctx, bool first) {
  BlockSystem<double>& s = system();
  In<double> const R = s.R;
  if (s.preconditioned) {
    gram(ctx, R, R, k_.RR);
    s.M->apply(ctx, R, W_);
  }
  In<double> const Z = s.preconditioned ? In<double>(W_) : R;
  if (first)
    gram(ctx, Z, R, k_.RZ);
  else
    gram(ctx, Z, R, k_.RZ, Q_, k_.turns);
  return Z;
}

void BlockCgMethod::begin(Context& ctx) {
  In<double> const Z = precondition(ctx, true);
  submit(ctx, BlockCgTurn{k_, true});
  orthonormalise(ctx, Z, k_.G, k_.P, P_);
}

// Symbols as in Ji and Li, but for beta, which has the sign of their -beta.
void BlockCgMethod::step(Context& ctx) {
  auto const& A = *system().A;
  Out<double> R = system().R, X = system().X;

  if (P_.cols() <= most_fused_columns) {
    A.apply_gram(ctx, P_, Q_, k_.PQ);  // Q = A P,  P^T Q               one pass where A has it
    gram(ctx, P_, R, k_.lengths);      // P^T R
  } else {
    A.apply(ctx, P_, Q_);
    gram(ctx, P_, Q_, k_.PQ, R, k_.lengths);
  }
  submit(ctx, BlockCgLengths{k_});                                // alpha = (P^T Q)^-1 P^T R
  combine(ctx, -1, Q_, k_.lengths, R.data, R);                    // R -= Q alpha
  In<double> const Z = precondition(ctx, false);                  // Z = M R,  ||r_j||,  Z^T Q
  submit(ctx, BlockCgTurn{k_, false});                            // beta = -(P^T Q)^-1 Q^T Z
  combine(ctx, P_, k_.lengths, X.data, X, k_.turns, Z.data, W_);  // X += P alpha,  W = Z + P beta
  orthonormalise(ctx, W_, k_.G, k_.P, P_);                        // P = orth(W)
  observe(ctx, k_.measure2);                                      // every ||r_j|| <= tolerance_j ?
}

/// A direction P v, ||v|| = 1, of no curvature is one of the nullspace of a semidefinite A, and
/// A P v is small then: ||A p||^2 <= ||A|| <p, A p>. Where it is not, A is not semidefinite: or the
/// A that is stored is not, where the rounding of its entries explains the sign.
void BlockCgMethod::classify_stop(Context& ctx, LoopState& state) {
  bool const singular = static_cast<Stop>(state.stop) == Stop::breakdown &&
                        static_cast<Cause>(state.cause) == Cause::singular_operator;
  double const stored = system().roundoff_of_curvature();
  bool const uncertain =
      static_cast<Stop>(state.stop) == Stop::indefinite_operator && stored > Curvature::fp64();
  if (uncertain) state.cause = static_cast<std::int32_t>(Cause::values);
  Index const w = k_.w;
  auto const r =
      singular || uncertain ? static_cast<Index>(to_host(ctx, k_.P.rank, ctx.space(), 1)[0]) : 0;
  if (r <= 0 || system().norm_A == 0) return;
  // v = (-L^-T l, 1, 0): P^T Q v = 0 up to rounding, where (L l)^T are the rows that are made.
  std::vector<double> G = to_host(ctx, k_.PQ, ctx.space(), std::size_t(w) * w);
  Index const made = factor_cholesky({}, r, G.data(), w).rows;
  if (made == r) return;
  std::vector<double> v(static_cast<std::size_t>(w));
  v[made] = 1;
  for (Index i = made - 1; i >= 0; --i) {
    double sum = -G[made * w + i];
    for (Index j = i + 1; j < made; ++j) sum -= G[j * w + i] * v[j];
    v[i] = sum / G[i * w + i];
  }
  double square = 0;
  for (double const e : v) square += e * e;
  std::vector<double> first(std::size_t(w) * w);  // a matrix with v as its first column
  for (Index i = 0; i < w; ++i) first[i * w] = v[i];
  copy_bytes(ctx, k_.turns, ctx.space(), first.data(), Space::host, first.size() * sizeof(double));
  combine(ctx, 1, Q_, k_.turns, nullptr, W_);
  auto scope = ctx.arena().scope();
  Out<double> const q = scope.template vector<double>(W_.rows());
  copy<double, double>(ctx, column<double const>(W_, 0), q);
  Curvature at{state.value, std::sqrt(square), norm<double>(ctx, q), system().norm_A,
               Curvature::fp64()};
  if (singular && at.singular()) return;
  at.roundoff = stored;
  bool const by_rounding = stored > Curvature::fp64() && at.vanishes();
  state.stop = static_cast<std::int32_t>(Stop::indefinite_operator);
  state.cause = static_cast<std::int32_t>(by_rounding ? Cause::values : Cause::none);
}

BlockCg::BlockCg(BlockCgParams const& params)
    : BlockSolver<double>(std::make_unique<BlockCgMethod>(), params.stopping, params.execution,
                          params.columns, {.count = params.enlarge, .compare = params.compare}) {
  checked(params, name());
}

}  // namespace tcsolve
