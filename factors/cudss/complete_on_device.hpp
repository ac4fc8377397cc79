// SPDX-License-Identifier: Apache-2.0
/// M = A^-1 by a complete factorisation on the device.
///
///     arrange      A -> B = P R A C Q^T, on the host          factors/arrange/arrangement.hpp
///     factorise    B = L U or L D L^T, and apply, by cuDSS      factors/cudss/cudss_inverse.hpp
///
///     M x = C Q^T B^-1 P R x
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <tcsolve/factors/apply/stored_product.hpp>
#include <tcsolve/factors/arrange/arrangement.hpp>
#include <tcsolve/factors/cudss/cudss_inverse.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// Factors in FP64 or FP32. M^T is offered: of a general matrix by a factorisation of B^T, made
/// when it is first asked for. Not capturable. One operator serves one Context at a time.
class CompleteOnDevice final : public LinearOperator<double> {
 public:
  /// Of a square host matrix, in a Context on a device, with cudss().there. `values`: Real::f64 or
  /// Real::f32. Throws ShapeError, MatrixError, MemoryError, DeviceError, Cancelled as CudssInverse
  /// does.
  CompleteOnDevice(Context&, CsrView<double> const& a, Definiteness kind, Real values);
  /// New values on the pattern of A: permutations and analysis stay, numbers are made anew;
  /// recordings stay valid. Throws as the constructor; the operator is then not to be used.
  void update(Context&, CsrView<double> const& a);

  void prepare(Context&, Op) const override;
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "direct"; }
  std::string details() const override;

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  using Inverse = std::shared_ptr<CudssFactors>;
  void invert(Context&, Csr<double> const& B, Inverse& to) const;
  void place(Context&);

  Definiteness kind_;
  Real values_;
  Offset entries_of_A_;
  Arrangement arrangement_;
  StoredProduct enter_, leave_;
  Inverse inverse_;
  mutable std::once_flag transposed_once_;
  mutable Inverse transposed_;
};

}  // namespace tcsolve
