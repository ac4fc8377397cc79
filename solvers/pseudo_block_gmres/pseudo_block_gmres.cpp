// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/pseudo_block_gmres/pseudo_block_gmres.hpp>

#include <utility>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

template <class T>
MethodFacts PseudoBlockGmresMethod<T>::facts() const {
  double const m = restart_;
  return {.name = "pseudo_block_gmres",
          .cost = {.vectors = m + 14, .products = 1, .applications = 1, .passes = 2 * m + 13},
          .advice = [](SolveReport const& r) -> std::string {
            return r.reason == Stop::stagnated ? "raise restart, or use a stronger preconditioner"
                                               : "";
          },
          .cycle = restart_};
}

template <class T>
double const* PseudoBlockGmresMethod<T>::do_allocate(Context& ctx) {
  BlockSystem<T> const& s = this->system();
  Index const n = s.A->rows();
  for (MultiVector<T>* v : {&U_, &W_, &Z_}) v->resize(ctx.space(), n, s.columns());
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
        .runs = this->allocate_runs(ctx),
        .roundoff = roundoff(real_of<T>)};
  return H_.runs.measure2;
}

template <class T>
void PseudoBlockGmresMethod<T>::begin(Context& ctx) {
  In<T> const R = this->system().R;
  gram(ctx, R, R, H_.WW);
  submit(ctx, PseudoGmresStart{H_});                                             // g = ||r|| e_0
  submit_columns(ctx, PseudoGmresNext<T>{R, H_.scale, R.data, U_.view().data});  // v_0 = r / ||r||
}

/// C = V^T W within each column;  W -= V C.
template <class T>
void PseudoBlockGmresMethod<T>::orthogonalise(Context& ctx, double* C) {
  Out<T> const W = W_;
  gram(ctx, basis(H_.count), W.cols, W, C);
  submit(ctx, PseudoGmresDiagonal{H_, C});
  combine(ctx, -1, basis(H_.count), W.cols, C, W.data, W);
}

// Symbols as in Saad, each column with its own h; V_j is U while it is made.
template <class T>
void PseudoBlockGmresMethod<T>::step(Context& ctx) {
  BlockSystem<T> const& s = this->system();
  Out<T> const U = U_, W = W_, Z = s.preconditioned ? Out<T>(Z_) : U;

  submit(ctx, PseudoGmresStore<T>{U.size(), U.data, V_.data()});
  if (s.preconditioned) s.M->apply(ctx, U, Z);  // Z = M V_j
  s.A->apply(ctx, Z, W);                        // W = A Z
  orthogonalise(ctx, H_.C);                     // h = V^T w,  w -= V h
  orthogonalise(ctx, H_.again);                 // and once more
  gram(ctx, W, W, H_.WW);                       // ||w||
  submit(ctx, PseudoGmresColumn{H_});           // h rotated;  ||r|| <= tolerance ?
  submit_columns(ctx, PseudoGmresNext<T>{W, H_.scale, W.data, U.data});  // v_{j+1} = w / h_{j+1,j}
  submit(ctx, H_.runs.observe());
}

template <class T>
void PseudoBlockGmresMethod<T>::complete(Context& ctx) {
  BlockSystem<T>& s = this->system();
  submit(ctx, PseudoGmresSolve{H_});  // y = R^-1 g
  Out<T> const X = s.X, Z = s.preconditioned ? Out<T>(Z_) : X;
  combine(ctx, 1, basis(H_.most), X.cols, H_.Y, nullptr, Z);
  if (s.preconditioned) s.M->apply(ctx, Z, X);  // x = M V y
}

template <class T>
PseudoBlockGmres<T>::PseudoBlockGmres(PseudoBlockGmresParams const& params)
    : BlockSolver<T>(std::make_unique<PseudoBlockGmresMethod<T>>(params.restart), params.stopping,
                     params.execution, params.columns) {
  checked(params, this->name());
}

template class PseudoBlockGmres<double>;
template class PseudoBlockGmres<float>;

}  // namespace tcsolve
