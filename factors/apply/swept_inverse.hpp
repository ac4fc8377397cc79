// SPDX-License-Identifier: Apache-2.0
/// M x = C Q^T U~ D^-1 L~ P R x with each triangle solved by a fixed number of sweeps: nothing
/// waits for anything.
///
///     T y = b                    T = I + N, N strictly triangular; W approximates T^-1
///     y_0 = W b                  y_k+1 = y_k + W (b - T y_k)
///
///     W = I                      Jacobi sweeps (Anzt, Chow and Dongarra 2015)
///     W by its entries           W T = I on the pattern of T (factors/apply/approximate_inverse.hpp)
///
/// (I - W T)^levels = 0, so that as many sweeps as the triangle has levels are exact. M is the same
/// linear map in every application, and symmetric where L~ and U~ are each other's transpose.
#pragma once

#include <memory>

#include <tcsolve/factors/apply/approximate_inverse.hpp>
#include <tcsolve/factors/apply/stored_product.hpp>
#include <tcsolve/factors/apply/swept_products.hpp>
#include <tcsolve/factors/arrange/arrangement.hpp>
#include <tcsolve/factors/make/incomplete.hpp>
#include <tcsolve/factors/make/joint_factors.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// Factors stored as S, in FP64 arithmetic; all columns at once. Cost of an application: `sweeps`
/// products with each triangle, one more than that with each W, three with a diagonal. Workspace:
/// four vectors a column.
template <class S = double>
class SweptInverse final : public LinearOperator<double> {
 public:
  /// Throws MatrixError where a factor's entry is beyond the range of S.
  /// `W`: null for the identity.
  SweptInverse(Context&, TriangularFactors const& factors, TwoSided const& sides, int sweeps,
               ApproximateTriangles const* W = nullptr);
  /// Factors of the same patterns with other values; recordings stay valid.
  void update(Context&, TriangularFactors const& factors, TwoSided const& sides,
              ApproximateTriangles const* W = nullptr);
  /// With W by its entries, of factors in the Context's space; nothing of their size passes the
  /// host. `symmetric`: W_U = W_L^T.
  SweptInverse(Context&, JointFactors const& factors, TwoSided const& sides, int sweeps,
               bool symmetric);
  void update(Context&, JointFactors const& factors, TwoSided const& sides, bool symmetric);

  void prepare(Context&, Op) const override;
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "swept_factors"; }
  /// The same sweeps on FP32 vectors, with factors that are shared where S is narrower than FP64,
  /// else rounded once (factors/apply/float_product.hpp). It follows update(). Null where an entry
  /// leaves the range of FP32.
  std::shared_ptr<LinearOperator<float> const> on_floats(Context&) const override;

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  /// W has no product where it is the identity.
  struct Triangle {
    StoredProduct N, W;
  };
  SweptProducts<double> products() const;

  int sweeps_;
  StoredProduct enter_, pivots_, leave_;
  Triangle lower_, upper_;
};

}  // namespace tcsolve
