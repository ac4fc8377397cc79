// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of half, by FMA, and |A| 1.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

TCSOLVE_DASP_COLUMN(Fma<double>, half, double);
TCSOLVE_DASP_COLUMN(Fma<float>, half, float);
TCSOLVE_DASP_ABSOLUTE(half);

}  // namespace tcsolve::cuda
