// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of half.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

template void spmm_dasp<half, double>(Device&, double, DaspView<half> const&,
                                      DaspWork<double> const&, In<double>, double, Out<double>);
template void spmm_dasp<half, float>(Device&, float, DaspView<half> const&, DaspWork<float> const&,
                                     In<float>, float, Out<float>);

}  // namespace tcsolve::cuda
