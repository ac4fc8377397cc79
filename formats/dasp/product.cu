// SPDX-License-Identifier: Apache-2.0
/// DASP products: which kernel multiplies (formats/dasp/products.cuh), column after column.
#include <tcsolve/formats/dasp/products.cuh>

#include <type_traits>

namespace tcsolve::cuda {

namespace {

/// What `automatic` is in FP64: the matrix unit where a warp has one row-block of many blocks, FMA
/// where it has several or where a row-block is shared, and where the device has few FP64 units: a
/// tile of 8 x 4 takes 256 multiplications on the matrix unit, and 32 without.
template <class S, class T>
bool by_mma(Device const& on, DaspView<S> const& a, DaspWork<T> const& work) {
  constexpr int few = 4;  // A100, H100, B200: 2; others 32 and 64
  if (on.single_to_double > few) return false;
  return work.loop_num == 1 && a.medium_units() >= few_units * on.properties.multiProcessorCount;
}

}  // namespace

template <class S, class T>
void spmm_dasp(Device& on, T alpha, DaspView<S> const& a, DaspWork<T> const& work, In<T> x, T beta,
               Out<T> y) {
  if (a.rows == 0) return;
  auto step = [](auto v) { return v.layout == Layout::row_major ? v.ld : std::int64_t{1}; };
  for (Index j = 0; j < y.cols; ++j) {
    T const* from = x.data + x.offset(0, j);
    Range<T> to{alpha, beta, y.data + y.offset(0, j), step(y)};
    if constexpr (std::is_same_v<S, half>)
      if (work.unit == DaspUnitOf::half_products) {
        dasp_column<MmaF16>(on, a, work, from, step(x), to);
        continue;
      }
    if constexpr (std::is_same_v<T, double>) {
      if (work.unit == DaspUnitOf::absolute)
        dasp_absolute(on, a, work, to);
      else if (work.unit == DaspUnitOf::mma ||
               (work.unit == DaspUnitOf::automatic && by_mma(on, a, work)))
        dasp_column<MmaF64>(on, a, work, from, step(x), to);
      else
        dasp_column<Fma<T>>(on, a, work, from, step(x), to);
    } else if constexpr (std::is_same_v<S, half>) {
      if (work.unit == DaspUnitOf::mma)
        dasp_column<MmaTf32>(on, a, work, from, step(x), to);
      else
        dasp_column<Fma<T>>(on, a, work, from, step(x), to);
    } else {
      dasp_column<Fma<T>>(on, a, work, from, step(x), to);
    }
  }
}

#define TCSOLVE_INSTANTIATE(S, T)                                                             \
  template void spmm_dasp<S, T>(Device&, T, DaspView<S> const&, DaspWork<T> const&, In<T>, T, \
                                Out<T>);
TCSOLVE_INSTANTIATE(double, double)
TCSOLVE_INSTANTIATE(float, double)
TCSOLVE_INSTANTIATE(float, float)
TCSOLVE_INSTANTIATE(half, double)
TCSOLVE_INSTANTIATE(half, float)
TCSOLVE_INSTANTIATE(bfloat16, double)
TCSOLVE_INSTANTIATE(bfloat16, float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
