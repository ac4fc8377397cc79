// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of half, by the matrix unit in the type of the vectors.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

TCSOLVE_DASP_COLUMN(MmaF64, half, double);
TCSOLVE_DASP_COLUMN(MmaTf32, half, float);

}  // namespace tcsolve::cuda
