// SPDX-License-Identifier: Apache-2.0
/// The product with a matrix made here (factors/apply/stored_product.hpp) on FP32 vectors, without
/// a copy of them in FP64.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// Made when it is first asked for. Values stored narrower than FP64 are those of the matrix on
/// FP64 vectors, where they lie; FP64 values are rounded to FP32 once and kept beside them, 4 bytes
/// an entry, since a product then reads two thirds of the bytes. The pattern is shared.
class FloatProduct {
 public:
  virtual ~FloatProduct() = default;
  /// Null where a value leaves the range of FP32. It holds the matrix.
  virtual OperatorPtr<float> view(Context&) = 0;
  /// The matrix has new values: those of view() become the same. Where one of them leaves the range
  /// of FP32, an operator that was handed out is not to be used any more, and view() is null.
  virtual void follow(Context&) = 0;
};

/// Of a matrix that owns its values and keeps them where they are.
template <class S>
std::shared_ptr<FloatProduct> float_product(std::shared_ptr<CsrOperator<double, S> const> of);

/// F_1 F_2 ..., called `name`; null where one of them is.
OperatorPtr<float> float_product_of(std::string name, std::vector<OperatorPtr<float>> factors);

}  // namespace tcsolve
