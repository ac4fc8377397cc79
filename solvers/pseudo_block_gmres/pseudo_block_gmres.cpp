// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/pseudo_block_gmres/pseudo_block_gmres.hpp>

#include <utility>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

MethodFacts PseudoBlockGmresMethod::facts() const {
  double const m = restart_;
  return {.name = "pseudo_block_gmres",
          .cost = {.vectors = m + 14, .products = 1, .applications = 1, .passes = 2 * m + 13},
          .advice = [](SolveReport const& r) -> std::string {
            return r.reason == Stop::stagnated ? "raise restart, or use a stronger preconditioner"
                                               : "";
          },
          .cycle = restart_};
}

double const* PseudoBlockGmresMethod::do_allocate(Context& ctx) {
  BlockSystem<double> const& s = system();
  Index const n = s.A->rows();
  for (MultiVector<double>* v : {&U_, &W_, &Z_}) v->resize(ctx.space(), n, s.columns());
  auto const m = static_cast<std::size_t>(restart_), w = static_cast<std::size_t>(s.columns());
  V_.resize(ctx.space(), m * static_cast<std::size_t>(n) * w);
  small_.resize(ctx.space(), (3 * m + 1) * w * w + (m * m + 3 * m + 4) * w + 2);
  double* next = small_.data();
  auto take = [&](std::size_t count) { return std::exchange(next, next + count); };
  H_ = {.m = restart_,
        .w = s.columns(),
        .C = take(m * w * w),
        .again = take(m * w * w),
        .WW = take(w * w),
        .scale = take(w),
        .Y = take(m * w * w),
        .R = take(m * m * w),
        .rotations = take(2 * m * w),
        .g = take((m + 1) * w),
        .size = take(w),
        .used = take(w),
        .count = take(1),
        .most = take(1),
        .runs = allocate_runs(ctx)};
  return H_.runs.measure2;
}

void PseudoBlockGmresMethod::begin(Context& ctx) {
  In<double> const R = system().R;
  gram(ctx, R, R, H_.WW);
  submit(ctx, PseudoGmresStart{H_});                                          // g = ||r|| e_0
  submit_columns(ctx, PseudoGmresNext{R, H_.scale, R.data, U_.view().data});  // v_0 = r / ||r||
}

/// C = V^T W within each column;  W -= V C.
void PseudoBlockGmresMethod::orthogonalise(Context& ctx, double* C) {
  Out<double> const W = W_;
  gram(ctx, basis(H_.count), W.cols, W, C);
  submit(ctx, PseudoGmresDiagonal{H_, C});
  combine(ctx, -1, basis(H_.count), W.cols, C, W.data, W);
}

// Symbols as in Saad, each column with its own h; V_j is U while it is made.
void PseudoBlockGmresMethod::step(Context& ctx) {
  BlockSystem<double> const& s = system();
  Out<double> const U = U_, W = W_, Z = s.preconditioned ? Out<double>(Z_) : U;

  submit(ctx, PseudoGmresStore{U.size(), U.data, V_.data()});
  if (s.preconditioned) s.M->apply(ctx, U, Z);  // Z = M V_j
  s.A->apply(ctx, Z, W);                        // W = A Z
  orthogonalise(ctx, H_.C);                     // h = V^T w,  w -= V h
  orthogonalise(ctx, H_.again);                 // and once more
  gram(ctx, W, W, H_.WW);                       // ||w||
  submit(ctx, PseudoGmresColumn{H_});           // h rotated;  ||r|| <= tolerance ?
  submit_columns(ctx, PseudoGmresNext{W, H_.scale, W.data, U.data});  // v_{j+1} = w / h_{j+1,j}
  submit(ctx, H_.runs.observe());
}

void PseudoBlockGmresMethod::complete(Context& ctx) {
  BlockSystem<double>& s = system();
  submit(ctx, PseudoGmresSolve{H_});  // y = R^-1 g
  Out<double> const X = s.X, Z = s.preconditioned ? Out<double>(Z_) : X;
  combine(ctx, 1, basis(H_.most), X.cols, H_.Y, nullptr, Z);
  if (s.preconditioned) s.M->apply(ctx, Z, X);  // x = M V y
}

PseudoBlockGmres::PseudoBlockGmres(PseudoBlockGmresParams const& params)
    : BlockSolver<double>(std::make_unique<PseudoBlockGmresMethod>(params.restart), params.stopping,
                          params.execution, params.columns) {
  checked(params, name());
}

}  // namespace tcsolve
