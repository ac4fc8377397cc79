// SPDX-License-Identifier: Apache-2.0
/// The coarsest level solved by complete factors, where it has too many rows to be inverted: those
/// of the preconditioner `direct` (factors/make/complete.hpp), applied where the Context computes.
/// They are made of the matrix that the cycle multiplies by, scaled by powers of two where that is.
#pragma once

#include <memory>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/precision.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

class CoarseFactors {
 public:
  /// Of a matrix in FP64 in the Context's space, which may go; factors are stored in `values`, FP64
  /// or FP32. Throws SetupError and MemoryError as `direct` does, SetupError too where they do not
  /// solve a system of the matrix, which is singular then. Cost: that of the factors, a product and
  /// a solve.
  CoarseFactors(Context&, Real values, CsrView<double> const& a, bool symmetric);
  /// Of new values on the same pattern; M may be another operator. Throws as the constructor.
  void update(Context&, CsrView<double> const& a);
  OperatorPtr<double> M() const { return owner_->view(); }
  /// Bytes of the factors of so many rows and entries, a guess.
  static double bytes(Index rows, Offset entries);

 private:
  template <class F>
  void with_system(Context&, CsrView<double> const& a, F const& f);

  bool symmetric_;
  double accuracy_;
  std::unique_ptr<PreconditionerFactory> factory_;
  std::unique_ptr<Preconditioner> owner_;
};

}  // namespace tcsolve
