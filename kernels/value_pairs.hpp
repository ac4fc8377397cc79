// SPDX-License-Identifier: Apache-2.0
/// The types that values are stored in, and those of values and vectors that go together, for
/// explicit instantiations: X(S) and X(S, T).
#pragma once

#include <type_traits>

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/op_list.hpp>

#define TCSOLVE_VALUES(X) X(double) X(float) X(half) X(bfloat16)

#define TCSOLVE_VALUE_PAIRS(X) \
  X(double, double)            \
  X(float, double)             \
  X(half, double)              \
  X(bfloat16, double)          \
  X(float, float)              \
  X(half, float)               \
  X(bfloat16, float)

namespace tcsolve {

/// Operations for every type of values, and for every pair of values and vectors.
template <template <class> class... V>
using ForValues = OpList<V<double>..., V<float>..., V<half>..., V<bfloat16>...>;
template <template <class, class> class... V>
using ForValuePairs =
    OpList<V<double, double>..., V<float, double>..., V<half, double>..., V<bfloat16, double>...,
           V<float, float>..., V<half, float>..., V<bfloat16, float>...>;

/// For loops on vectors of T: of values of their own type, and of 16 bits where T is FP32.
template <class T, template <class, class> class... V>
using ForLoopValues =
    std::conditional_t<std::is_same_v<T, float>,
                       OpList<V<T, T>..., V<half, T>..., V<bfloat16, T>...>, OpList<V<T, T>...>>;

}  // namespace tcsolve
