// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/spaden/operator.hpp>

#include <tcsolve/kernels/norm_inf.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

namespace {

/// Groups of eight lanes on a block row: few where it has few blocks, so that a warp has several
/// block rows on their way, as long as their values fit its shared memory; all four for the others,
/// and where block rows are too few to fill a device.
template <class S>
int choose_groups(SpadenTuning const& tuning, SpadenView<S> const& a) {
  if (tuning.groups != 0) return tuning.groups;
  if (a.block_rows < 8192) return 4;
  double blocks = double(a.block_count) / a.block_rows,
         bytes = double(a.entries - a.side_entries) * sizeof(S) / a.block_rows;
  if (blocks <= 12 && 4 * bytes <= 4096 && a.block_rows >= 16384) return 1;
  return blocks <= 40 && 2 * bytes <= 4096 ? 2 : 4;
}

}  // namespace

template <class T, class S>
SpadenOperator<T, S>::SpadenOperator(Context& ctx, CsrView<S> const& a, SpadenTuning const& tuning)
    : SpadenOperator(ctx, CsrStorage<S>(ctx, a).view(), tuning, true) {}

template <class T, class S>
SpadenOperator<T, S>::SpadenOperator(Context& ctx, NarrowCsr<S> const& a,
                                     SpadenTuning const& tuning)
    : SpadenOperator(ctx, a.view(), tuning) {
  undo_scale(ctx, a, a.template undone_rows<T>(ctx), {ctx, a.template undone_columns<T>(ctx)});
}

template <class T, class S>
void SpadenOperator<T, S>::undo_scale(Context& ctx, NarrowCsr<S> const& a, Array<T> rows,
                                      ScaledDomain<T> cols) {
  row_scale_ = std::move(rows);
  work_.row_scale = row_scale_.data();
  domain_ = std::move(cols);
  scaling_ = Scaling::powers_of_two;
  if (a.scaled()) norm_ = a.unscaled_norm(ctx);
}

template <class T, class S>
void SpadenOperator<T, S>::update_values(Context& ctx, CsrView<S> const& a) {
  CsrStorage<S> here(ctx, a);
  matrix_.update_values(ctx, here.view());
  norm_ = norm_inf(ctx, here.view());
  row_scale_ = {};
  work_.row_scale = nullptr;
  domain_ = {};
  scaling_ = Scaling::refuse;
}

template <class T, class S>
void SpadenOperator<T, S>::update_values(Context& ctx, NarrowCsr<S> const& a) {
  auto rows = a.template undone_rows<T>(ctx);  // what may throw comes first
  ScaledDomain<T> cols(ctx, a.template undone_columns<T>(ctx));
  update_values(ctx, a.view());
  undo_scale(ctx, a, std::move(rows), std::move(cols));
}

template <class T, class S>
void SpadenOperator<T, S>::do_update_values(Context& ctx, CsrView<T> const& a) {
  if constexpr (std::is_same_v<T, S>) {
    update_values(ctx, a);
  } else {
    auto memory = ctx.arena().scope();
    update_values(ctx, NarrowCsr<S>(ctx, a, beyond(scaling_), memory));
  }
}

template <class T, class S>
SpadenOperator<T, S>::SpadenOperator(Context& ctx, CsrView<S> const& here,
                                     SpadenTuning const& tuning, bool)
    : LinearOperator<T>(here.rows, here.cols), matrix_(ctx, here, tuning) {
  if (tuning.groups != 0 && tuning.groups != 1 && tuning.groups != 2 && tuning.groups != 4)
    throw ShapeError(cat("spaden: groups = ", tuning.groups, " is not 0, 1, 2 or 4"));
  SpadenView<S> const& a = matrix_.view();
  parts_ = Array<T>(ctx.space(), 8 * std::size_t(a.pieces) + a.side_pieces);
  work_ = {parts_.data(), nullptr, choose_groups(tuning, a)};
  norm_ = norm_inf(ctx, here);
}

template <class T, class S>
Traits SpadenOperator<T, S>::traits() const {
  return {.precision = {real_of<S>, real_of<T>, real_of<T>}};
}

template <class T, class S>
Cost SpadenOperator<T, S>::cost(Index k) const {
  double entries = static_cast<double>(matrix_.view().entries);
  double vectors = static_cast<double>(k) * (double(this->rows()) + this->cols()) * sizeof(T);
  return {2 * entries * k, double(matrix_.bytes()) + vectors, 1};
}

template <class T, class S>
void SpadenOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  auto product = [&](In<T> from, Out<T> to) {
    ctx.visit([&](auto& on) { spmm_spaden(on, alpha, matrix_.view(), work_, from, beta, to); });
  };
  domain_.multiply(ctx, x, y, product);
}

template <class T, class S>
bool SpadenOperator<T, S>::sums_exactly() const {
  return std::is_same_v<T, double> && std::is_same_v<S, double> && scaling_ == Scaling::refuse;
}

template <class T, class S>
void SpadenOperator<T, S>::do_exact_residual(Context& ctx, ResidualVectors const& v) const {
  if constexpr (std::is_same_v<T, double> && std::is_same_v<S, double>)
    tcsolve::exact_residual(ctx, matrix_.view(), v);
}

template class SpadenOperator<double, double>;
template class SpadenOperator<double, float>;
template class SpadenOperator<double, half>;
template class SpadenOperator<double, bfloat16>;
template class SpadenOperator<float, float>;
template class SpadenOperator<float, half>;
template class SpadenOperator<float, bfloat16>;

}  // namespace tcsolve
