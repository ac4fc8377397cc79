// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/spaden/operator.hpp>

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
void SpadenOperator<T, S>::prepare_work(Context& ctx, SpadenTuning const& tuning) {
  if (tuning.groups != 0 && tuning.groups != 1 && tuning.groups != 2 && tuning.groups != 4)
    throw ShapeError(cat("spaden: groups = ", tuning.groups, " is not 0, 1, 2 or 4"));
  SpadenView<S> const& a = this->matrix().view();
  parts_ = Array<T>(ctx.space(), 8 * std::size_t(a.pieces) + a.side_pieces);
  work_ = {.parts = parts_.data(), .groups = choose_groups(tuning, a)};
}

template <class T, class S>
Traits SpadenOperator<T, S>::traits() const {
  return {.precision = {real_of<S>, real_of<T>, real_of<T>}};
}

template <class T, class S>
void SpadenOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  SpadenWork<T> work = work_;
  work.loop = ctx.loop();
  ctx.visit([&](auto& on) { spmm_spaden(on, alpha, this->matrix().view(), work, x, beta, y); });
}

template class SpadenOperator<double, double>;
template class SpadenOperator<double, float>;
template class SpadenOperator<double, half>;
template class SpadenOperator<double, bfloat16>;
template class SpadenOperator<float, float>;
template class SpadenOperator<float, half>;
template class SpadenOperator<float, bfloat16>;

}  // namespace tcsolve
