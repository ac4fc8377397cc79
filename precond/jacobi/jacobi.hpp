// SPDX-License-Identifier: Apache-2.0
/// M = D^-1, D the diagonal of A (Saad 2003, section 4.1).
#pragma once

#include <memory>
#include <mutex>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/core/array.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/precond/over_ranks.hpp>

namespace tcsolve {

/// bytes per application: 3 n values; with the inner product <r, M r> in the same pass.
template <class T = double>
class Jacobi final : public LinearOperator<T> {
 public:
  /// From a square matrix in the Context's space. Throws SetupError naming a row whose diagonal
  /// entry is absent or zero, or whose inverse is out of range. Cost: one pass over the matrix.
  template <class S>
  Jacobi(Context&, CsrView<S> const& a);

  /// The inverse diagonal of a matrix as large, in the same place. Throws as the constructor; M is
  /// then not to be used.
  template <class S>
  void update(Context&, CsrView<S> const& a);

  /// Of the same entries in FP32, made at the first call and kept, so that update() reaches it;
  /// null where an entry leaves the range of FP32. Cost: one pass.
  std::shared_ptr<LinearOperator<float> const> on_floats(Context&) const override;
  std::optional<Diagonal<T>> diagonal() const override { return Diagonal<T>{inverse_.data()}; }
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "jacobi"; }

 private:
  template <class U>
  friend class Jacobi;
  explicit Jacobi(Array<T> inverse)
      : LinearOperator<T>(static_cast<Index>(inverse.size()), static_cast<Index>(inverse.size())),
        inverse_(std::move(inverse)) {}
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  bool round(Context&) const;
  Array<T> inverse_;
  /// On FP32 vectors, and whether they hold all entries.
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Jacobi<float>> floats_;
  mutable bool fits_ = false;
};

class JacobiFactory final : public PreconditionerFactory, public OverRanks {
 public:
  using Params = NoParams;
  explicit JacobiFactory(Params const& = {}) {}
  std::unique_ptr<Preconditioner> build(Context& ctx, System const& system) const override {
    return std::make_unique<Owned<Jacobi<>>>(std::make_shared<Jacobi<>>(ctx, system.matrix));
  }
  bool batches() const override { return true; }
};

}  // namespace tcsolve
