// SPDX-License-Identifier: Apache-2.0
/// One multigrid cycle from zero as an operator, y = M x (Trottenberg, Oosterlee and Schueller
/// 2001, Multigrid, section 2.4.1):
///
///     cycle(l, f):  x = S f                         smooth from zero
///                   e = cycle(l + 1, P^T (f - A x)) W: twice, the second time for what is left
///                   x = x + P e
///                   x = x + S (f - A x)             smooth with the same polynomial
///     coarsest:     x = A^-1 f, or S f where it is too large
///
/// S is a polynomial in W A times W, the same before and after, so that M is symmetric, and
/// positive definite where A is and the spectrum of W A lies below the bound of the polynomial.
/// An application is a list of operations: nothing is read by the host.
#pragma once

#include <tcsolve/precond/amg/hierarchy.hpp>

namespace tcsolve {

/// bytes per application: of each level 2 degree products with A and 2 degree passes of 7 n values,
/// and products with P and P^T; W: the levels below the first twice, four times, ...
class AmgCycle final : public LinearOperator<double> {
 public:
  explicit AmgCycle(std::shared_ptr<AmgHierarchy const> hierarchy);

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "amg"; }
  std::string details() const override { return hierarchy_->summary(); }
  double advance(Context&, double applications) const override;
  std::uint64_t revision() const override { return hierarchy_->levels().front().A->revision(); }
  AmgHierarchy const& hierarchy() const { return *hierarchy_; }

 private:
  /// Values of n x k vectors of a level.
  struct Vectors {
    Out<double> r, d;  ///< residual, and the last change of x
  };
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  void cycle(Context&, std::size_t level, In<double> f, Out<double> x) const;
  /// x = S f with `first`, else x += S r; `residual`: r is left as f - A x.
  void smooth_level(Context&, AmgLevel const&, Vectors const&, Out<double> x, bool first,
                    bool residual) const;
  int visits(std::size_t level) const;

  std::shared_ptr<AmgHierarchy const> hierarchy_;
};

}  // namespace tcsolve
