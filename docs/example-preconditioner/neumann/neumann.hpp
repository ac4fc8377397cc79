// SPDX-License-Identifier: Apache-2.0
/// A truncated Neumann series as preconditioner (Dubois, Greenbaum and Rodrigue 1979):
///
///     A = D (I - G),  G = I - D^-1 A        A^-1 = (I + G + G^2 + ..) D^-1
///     M = (I + G + .. + G^(terms - 1)) D^-1
///
/// D is the diagonal of A. The series converges where A is diagonally dominant; M of a symmetric A
/// is symmetric. The worked example of docs/adding-a-preconditioner.md.
#pragma once

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

namespace tcsolve {

struct NeumannParams {
  int terms = 2;
  static constexpr auto schema() {
    return std::tuple{field(&NeumannParams::terms, "terms", between(1, 16),
                            "of the series; an application takes a product with A less")};
  }
};

/// bytes per application: terms - 1 products with A, terms with D^-1, 4 n values each.
class Neumann final : public LinearOperator<double> {
 public:
  /// Throws SetupError as Jacobi does: a diagonal entry is zero or absent.
  Neumann(Context&, System const&, NeumannParams const&);

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "neumann"; }
  double advance(Context&, double applications) const override;
  std::uint64_t revision() const override { return A_->revision(); }

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  OperatorPtr<double> A_;
  Jacobi<> D_;  ///< D^-1
  int terms_;
};

class NeumannFactory final : public PreconditionerFactory {
 public:
  using Params = NeumannParams;
  explicit NeumannFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;

 private:
  Params params_;
};

}  // namespace tcsolve
