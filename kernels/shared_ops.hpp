// SPDX-License-Identifier: Apache-2.0
/// The fused operations that many share.
#pragma once

#include <tcsolve/kernels/matrix_ops.hpp>
#include <tcsolve/kernels/residual.hpp>
#include <tcsolve/kernels/smoothing_step.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

template <class T>
using VectorOps =
    OpList<Fill<T>, Random<T>, Dot<T>, Dot2<T>, MaxAbs<T>, Multiply<T>, MultiplyDot<T>, Correct<T>,
           Permute<T>, Axpby<T, double>, Axpby<T, float>, Rescale<T, T>, SmoothingStep<T>>;
using SharedOps =
    Join<VectorOps<double>, VectorOps<float>,
         OpList<Rescale<double, float>, ShiftResidual, Lengths>, ForValues<MaxRowSum>>;

/// What a persistent loop and a batch may run of them.
template <class T>
using SharedLoopOps = OpList<Dot<T>, Dot2<T>, Multiply<T>, MultiplyDot<T>, Axpby<T, T>>;
using SharedBatchOps = Join<SharedLoopOps<double>, OpList<MaxRowSum<double>>>;

}  // namespace tcsolve
