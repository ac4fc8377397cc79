// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/pseudo_block_bicgstab/pseudo_block_bicgstab.hpp>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

double const* PseudoBlockBicgstabMethod::do_allocate(Context& ctx) {
  BlockSystem const& s = system();
  Index const n = s.A->rows(), w = s.columns();
  for (MultiVector<double>* v : {&shadow_, &P_, &V_, &T_}) v->resize(ctx.space(), n, w);
  for (MultiVector<double>* v : {&Y_, &Z_}) v->resize(ctx.space(), s.preconditioned ? n : 0, w);
  k_.resize(ctx.space(), static_cast<std::size_t>(w));
  runs_ = allocate_runs(ctx);
  return runs_.measure2;
}

void PseudoBlockBicgstabMethod::begin(Context& ctx) {
  In<double> const R = system().R;
  Communicator& ranks = ctx.communicator();
  submit_columns(ctx, PseudoBicgShadow{R, runs_, k_.data(), system().attempt,
                                       ctx.options().seed + 16, R.data, shadow_.view().data,
                                       ranks.first_row(R.rows), ranks.global_size(R.rows)});
}

// Symbols as in Saad, each column with its own scalars; S takes the place of R.
void PseudoBlockBicgstabMethod::step(Context& ctx) {
  BlockSystem& s = system();
  bool const M = s.preconditioned;
  Out<double> R = s.R, X = s.X, shadow = shadow_, P = P_, V = V_, T = T_;
  Out<double> Y = M ? Out<double>(Y_) : P, Z = M ? Out<double>(Z_) : R;
  PseudoBicgScalars* const k = k_.data();
  BlockShape const shape(R);

  // p = r + beta (p - omega v)
  submit_columns(ctx, PseudoBicgDirection{shape, runs_, k, R.data, V.data, P.data});
  if (M) s.M->apply(ctx, P, Y);  // Y = M P
  s.A->apply(ctx, Y, V);         // V = A Y
  // sigma = <r~, v>
  submit_columns(ctx, PseudoBicgFirst{shape, runs_, k, shadow.data, V.data});
  // alpha = rho / sigma;  s = r - alpha v
  submit_columns(ctx, PseudoBicgHalf{shape, runs_, k, V.data, R.data});
  if (M) s.M->apply(ctx, R, Z);  // Z = M S
  s.A->apply(ctx, Z, T);         // T = A Z
  // <t, s>, <t, t>
  submit_columns(ctx, PseudoBicgSecond{shape, runs_, k, R.data, T.data});
  // omega = <t, s> / <t, t>;  x += alpha y + omega z;  r = s - omega t;  ||r|| <= tolerance ?
  submit_columns(
      ctx, PseudoBicgFull{shape, runs_, k, Y.data, Z.data, T.data, shadow.data, X.data, R.data});
}

PseudoBlockBicgstab::PseudoBlockBicgstab(PseudoBlockBicgstabParams const& params)
    : BlockSolver(std::make_unique<PseudoBlockBicgstabMethod>(), params.stopping, params.execution,
                  params.columns) {
  checked(params, name());
}

}  // namespace tcsolve
