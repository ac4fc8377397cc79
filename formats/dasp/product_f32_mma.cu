// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of float, by the matrix unit, and |A| 1.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

TCSOLVE_DASP_COLUMN(MmaF64, float, double);
TCSOLVE_DASP_ABSOLUTE(float);

}  // namespace tcsolve::cuda
