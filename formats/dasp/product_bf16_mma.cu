// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of bfloat16, by the matrix unit, and |A| 1.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

TCSOLVE_DASP_COLUMN(MmaF64, bfloat16, double);
TCSOLVE_DASP_ABSOLUTE(bfloat16);

}  // namespace tcsolve::cuda
