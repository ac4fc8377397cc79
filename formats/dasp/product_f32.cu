// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of float, by FMA.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

TCSOLVE_DASP_COLUMN(Fma<double>, float, double);
TCSOLVE_DASP_COLUMN(Fma<float>, float, float);

}  // namespace tcsolve::cuda
