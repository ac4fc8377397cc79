// SPDX-License-Identifier: Apache-2.0
/// M x = C Q^T U~ D^-1 L~ P R x with each triangle solved by a fixed number of Jacobi sweeps
/// (Anzt, Chow and Dongarra 2015): nothing waits for anything.
///
///     (I + N) y = b        y_0 = b,  y_k+1 = b - N y_k        N strictly triangular
///
/// N^levels = 0, so that as many sweeps as the triangle has levels are exact. M is the same linear
/// map in every application.
#pragma once

#include <memory>

#include <tcsolve/factors/arrangement.hpp>
#include <tcsolve/factors/incomplete.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// Factors stored as S, in FP64 arithmetic; one column at a time. Cost of an application: `sweeps`
/// products with each triangle, three with a diagonal.
template <class S = double>
class SweptInverse final : public LinearOperator<double> {
 public:
  /// Throws MatrixError where a factor's entry is beyond the range of S.
  SweptInverse(Context&, TriangularFactors const& factors, TwoSided const& sides, int sweeps);
  /// Factors of the same patterns with other values; recordings stay valid.
  void update(Context&, TriangularFactors const& factors, TwoSided const& sides);

  void prepare(Context&, Op) const override;
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "swept_factors"; }

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  void sweep(Context&, LinearOperator<double> const& N, Out<double> y, Op) const;

  int sweeps_;
  OperatorPtr<double> enter_, lower_, pivots_, upper_, leave_;
};

}  // namespace tcsolve
