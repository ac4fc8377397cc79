// SPDX-License-Identifier: Apache-2.0
/// P = I - Z Z^T, the orthogonal projection that takes the span of Z out of a vector.
#pragma once

#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

class Projection final : public LinearOperator<double> {
 public:
  /// `vectors`: the columns of a matrix of full rank, on the host; Z is an orthonormal basis of
  /// their span (Gram-Schmidt, twice). Throws ShapeError where they differ in length or one depends
  /// on those before it. Cost: O(n k^2); an application reads Z twice.
  Projection(Context&, std::vector<std::vector<double>> vectors);

  Traits traits() const override {
    return {.transpose = true, .isolates_nonfinite = false, .operations = true};
  }
  Cost cost(Index k) const override;
  std::string name() const override { return "projection"; }
  double norm_estimate() const override { return 1; }
  /// Column k of Z.
  In<double> z(Index k) const { return z_[static_cast<std::size_t>(k)].view(); }
  Index vectors() const { return static_cast<Index>(z_.size()); }

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  std::vector<Vector<double>> z_;
};

}  // namespace tcsolve
