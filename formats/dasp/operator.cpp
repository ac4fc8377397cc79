// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/dasp/operator.hpp>

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
void DaspOperator<T, S>::prepare_work(Context& ctx, DaspOptions const& options) {
  DaspView<S> const& a = this->matrix().view();
  if (options.unit == DaspUnitOf::half_products && !std::is_same_v<S, half>)
    throw Unsupported(cat("dasp: products in fp16 need values in fp16, not ",
                          tcsolve::name(real_of<S>), "; take another unit"));
  if (options.tuning.loop_num != 0 && options.tuning.loop_num != 1 &&
      options.tuning.loop_num != 2 && options.tuning.loop_num != 4)
    throw ShapeError(cat("dasp: loop_num = ", options.tuning.loop_num, " is not 0, 1, 2 or 4"));
  parts_ = Array<T>(ctx.space(), a.long_units);
  std::vector<unsigned int> zeros(a.long_rows);
  tickets_ = to_space(ctx, zeros.data(), zeros.size());
  double const blocks = this->matrix().blocks_per_unit();
  work_ = {.parts = parts_.data(),
           .tickets = tickets_.data(),
           .unit = options.unit,
           .loop_num = choose_loop_num(options.tuning, blocks, a.medium_units()),
           .blocks_per_unit = blocks};
}

template <class T, class S>
Traits DaspOperator<T, S>::traits() const {
  bool rounded = work_.unit == DaspUnitOf::half_products;
  return {.precision = {real_of<S>, rounded ? Real::f16 : real_of<T>,
                        rounded ? Real::f32 : real_of<T>}};
}

template <class T, class S>
void DaspOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  DaspWork<T> work = work_;
  work.loop = ctx.loop();
  ctx.visit([&](auto& on) { spmm_dasp(on, alpha, this->matrix().view(), work, x, beta, y); });
}

template class DaspOperator<double, double>;
template class DaspOperator<double, float>;
template class DaspOperator<double, half>;
template class DaspOperator<double, bfloat16>;
template class DaspOperator<float, float>;
template class DaspOperator<float, half>;
template class DaspOperator<float, bfloat16>;

}  // namespace tcsolve
