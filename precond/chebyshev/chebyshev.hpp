// SPDX-License-Identifier: Apache-2.0
/// A polynomial in M A as preconditioner: a fixed number of steps of the Chebyshev iteration
/// (Saad 2003, Algorithm 12.1). A and the inner M symmetric positive definite.
#pragma once

#include <tcsolve/precond/over_ranks.hpp>
#include <tcsolve/precond/smoother.hpp>

namespace tcsolve {

/// bytes per application: degree products with A and M and 9 n values each.
class Chebyshev final : public LinearOperator<double> {
 public:
  Chebyshev(Context&, OperatorPtr<double> A, OperatorPtr<double> M,
            ChebyshevParams const& params = {});

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "chebyshev"; }
  double advance(Context&, double applications) const override;
  std::uint64_t revision() const override { return A_->revision() + M_->revision(); }
  double lambda_max() const { return high_; }

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  OperatorPtr<double> A_, M_;
  int degree_;
  double low_, high_;
};

class ChebyshevFactory final : public PreconditionerFactory, public OverRanks {
 public:
  using Params = ChebyshevParams;
  explicit ChebyshevFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  /// With its inner preconditioner.
  double bytes(Index rows, Offset entries) const override {
    return 5 * 8.0 * rows + inner()->bytes(rows, entries);
  }
  /// Its own vectors are the Context's workspace.
  MemoryNeed memory(Context& ctx, System const& system) const override {
    return inner()->memory(ctx, system);
  }
  double most_bytes(Index rows, Offset entries) const override {
    return inner()->most_bytes(rows, entries);
  }
  double least_seconds(Context& ctx, System const& system) const override {
    return inner()->least_seconds(ctx, system);
  }
  bool is_fixed() const override { return inner()->is_fixed(); }
  bool bytes_are_all() const override { return inner()->bytes_are_all(); }
  bool needs_definite() const override { return true; }
  bool needs_matrix() const override { return inner()->needs_matrix(); }
  bool goes_by_blocks() const override { return inner()->goes_by_blocks(); }
  bool over_ranks() const override { return tcsolve::over_ranks(*inner()); }

 private:
  std::unique_ptr<PreconditionerFactory> inner() const {
    return make_smoother(params_.preconditioner);
  }
  Params params_;
};

}  // namespace tcsolve
