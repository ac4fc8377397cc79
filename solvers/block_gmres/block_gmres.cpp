// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/block_gmres/block_gmres.hpp>

#include <utility>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {

MethodFacts BlockGmresMethod::facts() const {
  double const m = restart_;
  return {.name = "block_gmres",
          .cost = {.vectors = m + 15, .products = 1, .applications = 1, .passes = 2 * m + 17},
          .advice = [](SolveReport const& r) -> std::string {
            return r.reason == Stop::stagnated ? "raise restart, or use a stronger preconditioner"
                                               : "";
          },
          .cycle = restart_};
}

double const* BlockGmresMethod::do_allocate(Context& ctx) {
  BlockSystem<double> const& s = system();
  Index const n = s.A->rows(), w = s.columns();
  for (MultiVector<double>* v : {&U_, &W_}) v->resize(ctx.space(), n, w);
  Z_.resize(ctx.space(), n, w);
  auto const m = static_cast<std::size_t>(restart_), ww = static_cast<std::size_t>(w) * w;
  V_.resize(ctx.space(), m * n * w);
  small_.resize(ctx.space(), m * m * ww + 9 * m * ww + 4 * ww + m + 2 + w + 7);
  double* next = small_.data();
  auto take = [&](std::size_t count) { return std::exchange(next, next + count); };
  H_ = {.m = restart_,
        .w = w,
        .C = take(m * ww),
        .again = take(m * ww),
        .below = take(ww),
        .column = take((m + 1) * ww),
        .R = take(m * m * ww),
        .Q = take(4 * m * ww),
        .g = take((m + 1) * ww),
        .Y = take(m * ww),
        .offsets = take(m + 2),
        .count = take(1),
        .used = take(1),
        .size = take(1),
        .floor = take(static_cast<std::size_t>(w)),
        .measure2 = take(1),
        .goal2 = s.goal2.data(),
        .orth = {.T = take(ww), .again = take(2), .rank = take(1)}};
  H_.orth.enough = OrthonormalBlock::full;
  H_.orth.floor = H_.floor;
  return H_.measure2;
}

void BlockGmresMethod::begin(Context& ctx) {
  In<double> const R = system().R;
  OrthonormalBlock first = H_.orth;
  first.floor = nullptr;
  orthonormalise(ctx, R, H_.C, first, U_);  // R = V_0 S
  gram(ctx, U_, R, H_.below);               // S
  gram(ctx, R, R, H_.C);                    // ||r_j||
  submit(ctx, BlockGmresStart{H_});
}

// Symbols as in Saad; V_j is U while it is made, and W is its successor.
void BlockGmresMethod::step(Context& ctx) {
  BlockSystem<double> const& s = system();
  Out<double> const U = U_, W = W_, Z = Z_;
  Index const w = U.cols;

  submit(ctx, BlockGmresStore{U.size(), U.data, V_.data()});  // V = [V, U]
  if (s.preconditioned) s.M->apply(ctx, U, Z);                // Z = M V_j
  s.A->apply(ctx, s.preconditioned ? Z : U, W);               // W = A Z
  gram(ctx, basis(), w, W, H_.C);                             // C = V^T W
  submit(ctx, BlockGmresFloor{H_});                           // what of W would be rounding
  combine(ctx, -1, basis(), w, H_.C, W.data, W);              // W -= V C
  gram(ctx, basis(), w, W, H_.again);                         // and once more
  combine(ctx, -1, basis(), w, H_.again, W.data, W);
  orthonormalise(ctx, W, H_.below, H_.orth, U);  // W = V_{j+1} H_{j+1,j}
  gram(ctx, U, W, H_.below);                     // H_{j+1,j}
  submit(ctx, BlockGmresColumn{H_});             // H and g rotated, ||r_j||
  observe(ctx, H_.measure2);                     // every ||r_j|| <= tolerance_j ?
}

void BlockGmresMethod::complete(Context& ctx) {
  BlockSystem<double>& s = system();
  BlockBasis<double> V = basis();
  V.count = H_.used;
  submit(ctx, BlockGmresSolve{H_});  // Y = R^-1 g
  Out<double> const X = s.X, Z = s.preconditioned ? Out<double>(Z_) : X;
  combine(ctx, 1, V, X.cols, H_.Y, nullptr, Z);
  if (s.preconditioned) s.M->apply(ctx, Z, X);  // X = M V Y
}

BlockGmres::BlockGmres(BlockGmresParams const& params)
    : BlockSolver<double>(std::make_unique<BlockGmresMethod>(params.restart), params.stopping,
                          params.execution, params.columns) {
  checked(params, name());
}

}  // namespace tcsolve
