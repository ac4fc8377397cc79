// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/dasp/operator.hpp>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

namespace {

/// LOOP_NUM: row-blocks that one warp multiplies side by side, so that enough loads are in flight
/// where each has few blocks; 1 where there are too few of them to fill a device.
int choose_loop_num(DaspTuning const& tuning, double blocks_per_unit, Index units) {
  if (tuning.loop_num != 0) return tuning.loop_num;
  if (blocks_per_unit <= 3.25 && units >= 16384) return 4;
  return blocks_per_unit <= 4.25 && units >= 16384 ? 2 : 1;
}

}  // namespace

template <class T, class S>
DaspOperator<T, S>::DaspOperator(Context& ctx, CsrView<S> const& a, DaspOptions const& options)
    : DaspOperator(ctx, CsrStorage<S>(ctx, a).view(), options, true) {}

template <class T, class S>
DaspOperator<T, S>::DaspOperator(Context& ctx, NarrowCsr<S> const& a, DaspOptions const& options)
    : DaspOperator(ctx, a.view(), options) {
  undo_scale(ctx, a, a.template undone_rows<T>(ctx), {ctx, a.template undone_columns<T>(ctx)});
}

template <class T, class S>
void DaspOperator<T, S>::undo_scale(Context& ctx, NarrowCsr<S> const& a, Array<T> rows,
                                    ScaledDomain<T> cols) {
  row_scale_ = std::move(rows);
  work_.row_scale = row_scale_.data();
  domain_ = std::move(cols);
  scaling_ = Scaling::powers_of_two;
  if (a.scaled()) norm_ = a.unscaled_norm(ctx);
}

template <class T, class S>
void DaspOperator<T, S>::update_values(Context& ctx, CsrView<S> const& a) {
  CsrStorage<S> here(ctx, a);
  matrix_.update_values(ctx, here.view());
  measure(ctx);
  row_scale_ = {};
  work_.row_scale = nullptr;
  domain_ = {};
  scaling_ = Scaling::refuse;
}

template <class T, class S>
void DaspOperator<T, S>::update_values(Context& ctx, NarrowCsr<S> const& a) {
  auto rows = a.template undone_rows<T>(ctx);  // what may throw comes first
  ScaledDomain<T> cols(ctx, a.template undone_columns<T>(ctx));
  update_values(ctx, a.view());
  undo_scale(ctx, a, std::move(rows), std::move(cols));
}

template <class T, class S>
void DaspOperator<T, S>::do_update_values(Context& ctx, CsrView<T> const& a) {
  if constexpr (std::is_same_v<T, S>) {
    update_values(ctx, a);
  } else {
    auto memory = ctx.arena().scope();
    update_values(ctx, NarrowCsr<S>(ctx, a, beyond(scaling_), memory));
  }
}

template <class T, class S>
DaspOperator<T, S>::DaspOperator(Context& ctx, CsrView<S> const& here, DaspOptions const& options,
                                 bool)
    : LinearOperator<T>(here.rows, here.cols), matrix_(ctx, here, options.tuning) {
  DaspView<S> const& a = matrix_.view();
  if (options.unit == DaspUnitOf::half_products && !std::is_same_v<S, half>)
    throw Unsupported(cat("dasp: products in fp16 need values in fp16, not ",
                          tcsolve::name(real_of<S>), "; take another unit"));
  if (options.tuning.loop_num != 0 && options.tuning.loop_num != 1 &&
      options.tuning.loop_num != 2 && options.tuning.loop_num != 4)
    throw ShapeError(cat("dasp: loop_num = ", options.tuning.loop_num, " is not 0, 1, 2 or 4"));
  parts_ = Array<T>(ctx.space(), a.long_units);
  std::vector<unsigned int> zeros(a.long_rows);
  tickets_ = to_space(ctx, zeros.data(), zeros.size());
  work_ = {parts_.data(),
           tickets_.data(),
           nullptr,
           options.unit,
           choose_loop_num(options.tuning, matrix_.blocks_per_unit(), a.medium_units()),
           matrix_.blocks_per_unit()};
  measure(ctx);
}

/// ||A||_inf = max_i (|A| 1)_i, by a product, which has long rows shared evenly already.
template <class T, class S>
void DaspOperator<T, S>::measure(Context& ctx) {
  auto scope = ctx.arena().scope();
  In<double> const ones{nullptr, this->cols()};
  Out<double> sums = scope.template vector<double>(this->rows());
  DaspWork<double> work{scope.template take<double>(parts_.size()), tickets_.data(), nullptr,
                        DaspUnitOf::absolute, 1};
  ctx.visit([&](auto& on) { spmm_dasp<S, double>(on, 1, matrix_.view(), work, ones, 0, sums); });
  norm_ = largest<double>(ctx, sums);
}

template <class T, class S>
Traits DaspOperator<T, S>::traits() const {
  bool rounded = work_.unit == DaspUnitOf::half_products;
  return {.precision = {real_of<S>, rounded ? Real::f16 : real_of<T>,
                        rounded ? Real::f32 : real_of<T>}};
}

template <class T, class S>
Cost DaspOperator<T, S>::cost(Index k) const {
  double entries = static_cast<double>(matrix_.view().entries);
  double vectors = static_cast<double>(k) * (double(this->rows()) + this->cols()) * sizeof(T);
  return {2 * entries * k, double(matrix_.bytes()) + vectors,
          entries > 0 ? double(matrix_.stored()) / entries : 1};
}

template <class T, class S>
void DaspOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  auto product = [&](In<T> from, Out<T> to) {
    ctx.visit([&](auto& on) { spmm_dasp(on, alpha, matrix_.view(), work_, from, beta, to); });
  };
  domain_.multiply(ctx, x, y, product);
}

template <class T, class S>
bool DaspOperator<T, S>::sums_exactly() const {
  return std::is_same_v<T, double> && std::is_same_v<S, double> && scaling_ == Scaling::refuse;
}

template <class T, class S>
void DaspOperator<T, S>::do_exact_residual(Context& ctx, ResidualVectors const& v) const {
  if constexpr (std::is_same_v<T, double> && std::is_same_v<S, double>)
    tcsolve::exact_residual(ctx, matrix_.view(), v);
}

template class DaspOperator<double, double>;
template class DaspOperator<double, float>;
template class DaspOperator<double, half>;
template class DaspOperator<double, bfloat16>;
template class DaspOperator<float, float>;
template class DaspOperator<float, half>;
template class DaspOperator<float, bfloat16>;

}  // namespace tcsolve
