// SPDX-License-Identifier: Apache-2.0
/// Sums of products whose every operation is rounded on its own, so that all backends give the same
/// bits: contracted to a fused multiply-add they would not. nvcc takes intrinsics; the host
/// compiler gets -ffp-contract=off (CMakeLists.txt).
#pragma once

#include <tcsolve/core/portable.hpp>

namespace tcsolve::sparse {

#if defined(__CUDA_ARCH__)
TCSOLVE_HD double product_of(double a, double b) { return __dmul_rn(a, b); }
TCSOLVE_HD float product_of(float a, float b) { return __fmul_rn(a, b); }
TCSOLVE_HD double sum_of(double a, double b) { return __dadd_rn(a, b); }
TCSOLVE_HD float sum_of(float a, float b) { return __fadd_rn(a, b); }
#else
TCSOLVE_HD double product_of(double a, double b) { return a * b; }
TCSOLVE_HD float product_of(float a, float b) { return a * b; }
TCSOLVE_HD double sum_of(double a, double b) { return a + b; }
TCSOLVE_HD float sum_of(float a, float b) { return a + b; }
#endif

}  // namespace tcsolve::sparse
