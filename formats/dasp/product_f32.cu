// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of float.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

template void spmm_dasp<float, double>(Device&, double, DaspView<float> const&,
                                       DaspWork<double> const&, In<double>, double, Out<double>);
template void spmm_dasp<float, float>(Device&, float, DaspView<float> const&,
                                      DaspWork<float> const&, In<float>, float, Out<float>);

}  // namespace tcsolve::cuda
