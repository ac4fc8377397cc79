// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of bfloat16.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

template void spmm_dasp<bfloat16, double>(Device&, double, DaspView<bfloat16> const&,
                                          DaspWork<double> const&, In<double>, double, Out<double>);
template void spmm_dasp<bfloat16, float>(Device&, float, DaspView<bfloat16> const&,
                                         DaspWork<float> const&, In<float>, float, Out<float>);

}  // namespace tcsolve::cuda
