// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of bfloat16, by FMA.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

TCSOLVE_DASP_COLUMN(Fma<double>, bfloat16, double);
TCSOLVE_DASP_COLUMN(Fma<float>, bfloat16, float);

}  // namespace tcsolve::cuda
