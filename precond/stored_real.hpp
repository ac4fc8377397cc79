// SPDX-License-Identifier: Apache-2.0
/// What the numbers of a preconditioner that is given by its entries are stored as.
#pragma once

#include <array>
#include <utility>

#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// A Real without bf16, whose eight digits are too few for factors.
enum class StoredReal { f64, f32, f16 };
constexpr auto names(StoredReal) {
  return std::array{std::pair{StoredReal::f64, "fp64"}, std::pair{StoredReal::f32, "fp32"},
                    std::pair{StoredReal::f16, "fp16"}};
}
constexpr Real real(StoredReal r) {
  return r == StoredReal::f64 ? Real::f64 : r == StoredReal::f32 ? Real::f32 : Real::f16;
}

}  // namespace tcsolve
