// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of half, x rounded to half too.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

TCSOLVE_DASP_COLUMN(MmaF16, half, double);
TCSOLVE_DASP_COLUMN(MmaF16, half, float);

}  // namespace tcsolve::cuda
