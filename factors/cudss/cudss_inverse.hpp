// SPDX-License-Identifier: Apache-2.0
/// B^-1 x by cuDSS: factors made and applied on the device, in FP64 or FP32.
///
///     analyse      order, pattern of the factors, memory      once for a pattern
///     factorise    L U or L D L^T                             for each set of values
///     solve        x = U^-1 L^-1 b                            all columns at once
///
/// It pivots within blocks alone and replaces pivots that are tiny, so that B should be scaled with
/// large entries on its diagonal (factors/arrange/arrangement.hpp), and factors may be made of a
/// singular matrix. They are therefore tried before anybody uses them: r <- r - B M r twice, from a
/// random r. The second step must halve the norm, which it does not where I - B M has an eigenvalue
/// near 1; L D L^T, in whose place there is L U, must gain three digits.
#pragma once

#include <memory>
#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// What a matrix is assumed to be. A general one is factorised as L U, others as L D L^T, of which
/// the upper triangle is read; a positive definite one has positive pivots. cuDSS' own L L^T
/// is not used: 0.7.1 does not come back from a matrix that is not definite.
enum class Definiteness { general, symmetric, positive_definite };

/// B^-1, whatever its factors are stored in.
class CudssFactors : public LinearOperator<double> {
 public:
  using LinearOperator<double>::LinearOperator;
  /// New values on the same pattern, whose analysis stays. Throws as the constructor; the inverse
  /// is then not to be used.
  virtual void update(Context&, Csr<double> const& B) = 0;
  /// Entries of the factors, and pivots that were too small and were replaced.
  virtual std::int64_t entries() const = 0;
  virtual int replaced() const = 0;
};

/// Factors, matrix and vectors in S, float or double.
///
///   bytes   those that cuDSS tells after the analysis, the matrix in S, two vectors a column
///   op      M^T of a symmetric B alone, where it is M
///
/// Not capturable. One operator serves one Context at a time: its vectors lie in it.
template <class S>
class CudssInverse final : public CudssFactors {
 public:
  /// Of a square host matrix, in a Context on a device, with cudss().there. Throws MatrixError
  /// (singular, no positive pivots, beyond S), SizeError (entries that need 64-bit offsets),
  /// MemoryError, DeviceError, Cancelled at once: cuDSS is then left behind with what it works on
  /// (core/left_behind.hpp), in a stream of its own, which the Context's does not wait for. Waits
  /// for the device.
  CudssInverse(Context&, Csr<double> const& B, Definiteness kind);
  ~CudssInverse() override;
  void update(Context&, Csr<double> const& B) override;

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "cudss"; }
  std::int64_t entries() const override { return entries_; }
  int replaced() const override { return replaced_; }

 private:
  struct Objects;
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  void place(Context&, Csr<double> const& B);
  void analyse(Context&);
  void factorise(Context&, int phase);
  void try_out(Context&, Csr<double> const& B) const;
  void run(Context&, int phase) const;
  void run_apart(Context&, int phase) const;

  Definiteness kind_;
  std::int64_t entries_ = 0;
  int replaced_ = 0;
  std::shared_ptr<Objects> objects_;  // and of a call that is left behind
};

}  // namespace tcsolve
