// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/block_cg/block_cg.hpp>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {

double const* BlockCgMethod::do_allocate(Context& ctx) {
  BlockSystem const& s = system();
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
        .RZ = s.preconditioned ? square() : nullptr,
        .G = square(),
        .P = {.T = square(), .again = take(2), .rank = take(1)},
        .goal2 = s.goal2.data(),
        .measure2 = take(1),
        .parts = s.parts,
        .narrow = take(1)};
  return k_.measure2;
}

/// Z = M R, which is R itself without a preconditioner, and the norms of R's columns.
In<double> BlockCgMethod::precondition(Context& ctx) {
  BlockSystem& s = system();
  In<double> const R = s.R;
  gram(ctx, R, R, k_.RR);
  if (!s.preconditioned) return R;
  s.M->apply(ctx, R, W_);
  gram(ctx, R, W_, k_.RZ);
  return W_;
}

/// P = orth(Z + P beta), beta = null: orth(Z). W and Q are overwritten.
void BlockCgMethod::direct(Context& ctx, In<double> Z, double const* beta) {
  if (beta != nullptr) combine(ctx, 1, P_, beta, Z.data, W_);
  orthonormalise(ctx, beta != nullptr ? In<double>(W_) : Z, k_.G, k_.P, P_);
}

void BlockCgMethod::begin(Context& ctx) {
  In<double> const Z = precondition(ctx);
  submit(ctx, BlockCgTurn{k_, true});
  direct(ctx, Z, nullptr);
}

// Symbols as in Ji and Li, but for beta, which has the sign of their -beta.
void BlockCgMethod::step(Context& ctx) {
  auto const& A = *system().A;
  Out<double> R = system().R, X = system().X;

  A.apply_gram(ctx, P_, Q_, k_.PQ);  // Q = A P,  P^T Q                 one pass where A has it
  gram(ctx, P_, R, k_.lengths);      // P^T R
  submit(ctx, BlockCgLengths{k_});   // alpha = (P^T Q)^-1 P^T R
  combine(ctx, 1, P_, k_.lengths, X.data, X);   // X += P alpha
  combine(ctx, -1, Q_, k_.lengths, R.data, R);  // R -= Q alpha
  In<double> const Z = precondition(ctx);       // Z = M R,  ||r_j||
  gram(ctx, Q_, Z, k_.turns);                   // Q^T Z
  submit(ctx, BlockCgTurn{k_, false});          // beta = -(P^T Q)^-1 Q^T Z
  direct(ctx, Z, k_.turns);                     // P = orth(Z + P beta)
  observe(ctx, k_.measure2);                    // every ||r_j|| <= tolerance_j ?
}

BlockCg::BlockCg(BlockCgParams const& params)
    : BlockSolver(std::make_unique<BlockCgMethod>(), params.stopping, params.execution,
                  params.columns, {.count = params.enlarge, .compare = params.compare}) {
  checked(params, name());
}

}  // namespace tcsolve
