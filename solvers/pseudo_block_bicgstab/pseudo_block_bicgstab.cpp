// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/pseudo_block_bicgstab/pseudo_block_bicgstab.hpp>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

template <class T>
double const* PseudoBlockBicgstabMethod<T>::do_allocate(Context& ctx) {
  BlockSystem<T> const& s = this->system();
  Index const n = s.A->rows(), w = s.columns();
  for (MultiVector<T>* v : {&shadow_, &P_, &V_, &T_}) v->resize(ctx.space(), n, w);
  for (MultiVector<T>* v : {&Y_, &Z_}) v->resize(ctx.space(), s.preconditioned ? n : 0, w);
  k_.resize(ctx.space(), static_cast<std::size_t>(w));
  runs_ = this->allocate_runs(ctx);
  return runs_.measure2;
}

template <class T>
PseudoBicgShadow<T> PseudoBlockBicgstabMethod<T>::shadow(Context& ctx) {
  BlockSystem<T> const& s = this->system();
  In<T> const R = s.R;
  Communicator& ranks = ctx.communicator();
  return {R,
          runs_,
          k_.data(),
          s.attempt,
          ctx.options().seed + 16,
          R.data,
          shadow_.view().data,
          ranks.first_row(R.rows),
          ranks.global_size(R.rows)};
}

template <class T>
void PseudoBlockBicgstabMethod<T>::begin(Context& ctx) {
  submit_columns(ctx, shadow(ctx));
}

template <class T>
void PseudoBlockBicgstabMethod<T>::resume(Context& ctx) {
  submit_columns(ctx, PseudoBicgRenew<T>{shadow(ctx), this->system().starts.data()});
}

// Symbols as in Saad, each column with its own scalars; S takes the place of R.
template <class T>
void PseudoBlockBicgstabMethod<T>::step(Context& ctx) {
  BlockSystem<T>& s = this->system();
  bool const M = s.preconditioned;
  Out<T> R = s.R, X = s.X, shadow = shadow_, P = P_, V = V_, AZ = T_;
  Out<T> Y = M ? Out<T>(Y_) : P, Z = M ? Out<T>(Z_) : R;
  PseudoBicgScalars* const k = k_.data();
  BlockShape const shape(R);

  // p = r + beta (p - omega v)
  submit_columns(ctx, PseudoBicgDirection<T>{shape, runs_, k, R.data, V.data, P.data});
  if (M) s.M->apply(ctx, P, Y);  // Y = M P
  s.A->apply(ctx, Y, V);         // V = A Y
  // sigma = <r~, v>
  submit_columns(ctx, PseudoBicgFirst<T>{shape, runs_, k, shadow.data, V.data});
  // alpha = rho / sigma;  s = r - alpha v
  submit_columns(ctx, PseudoBicgHalf<T>{shape, runs_, k, V.data, R.data});
  if (M) s.M->apply(ctx, R, Z);  // Z = M S
  s.A->apply(ctx, Z, AZ);        // T = A Z
  // <t, s>, <t, t>
  submit_columns(ctx, PseudoBicgSecond<T>{shape, runs_, k, R.data, AZ.data});
  // omega = <t, s> / <t, t>;  x += alpha y + omega z;  r = s - omega t;  ||r|| <= tolerance ?
  submit_columns(ctx, PseudoBicgFull<T>{shape, runs_, k, Y.data, Z.data, AZ.data, shadow.data,
                                        X.data, R.data, s.norm_A});
}

template <class T>
PseudoBlockBicgstab<T>::PseudoBlockBicgstab(PseudoBlockBicgstabParams const& params)
    : BlockSolver<T>(std::make_unique<PseudoBlockBicgstabMethod<T>>(), params.stopping,
                     params.execution, params.columns) {
  checked(params, this->name());
}

template class PseudoBlockBicgstab<double>;
template class PseudoBlockBicgstab<float>;

}  // namespace tcsolve
