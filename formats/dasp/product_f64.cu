// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of double.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

template void spmm_dasp<double, double>(Device&, double, DaspView<double> const&,
                                        DaspWork<double> const&, In<double>, double, Out<double>);

}  // namespace tcsolve::cuda
