// SPDX-License-Identifier: Apache-2.0
/// DASP products with values of double.
#include <tcsolve/formats/dasp/product.cuh>

namespace tcsolve::cuda {

TCSOLVE_DASP_COLUMN(Fma<double>, double, double);
TCSOLVE_DASP_COLUMN(MmaF64, double, double);
TCSOLVE_DASP_ABSOLUTE(double);

}  // namespace tcsolve::cuda
