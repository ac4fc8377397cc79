// SPDX-License-Identifier: Apache-2.0
/// Additive Schwarz whose parts are the ranks': what each has is solved by any preconditioner
/// inside.
///
///     rank 0   A_0: rows 0..4 and one layer of rank 1's     z_0 = M_0 [r_0; r of the layer]
///     rank 1   A_1: rows 5..9 and one layer of rank 0's     z_1 = M_1 [r_1; r of the layer]
///
///     overlap 0    M = diag(M_0, M_1), block Jacobi: an application asks nothing of others
///     additive     what z has in a layer goes to its owner, who adds it: symmetric where M_p are.
///                  A row that is in m parts would be corrected m times: each takes and gives
///                  1 / sqrt(m) of it, M = sum_p R_p^T D_p M_p D_p R_p, sum_p R_p^T D_p^2 R_p = I
///     restricted   it is dropped (Cai and Sarkis 1999)
///
/// M_p is made and applied as by the only rank there is: its sums are of its part.
#pragma once

#include <memory>

#include <tcsolve/distributed/halo.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

enum class Combine;

/// M = sum_p R_p^T M_p R_p, where D_p is in M_p, or restricted. No halo: no overlap.
class RankParts final : public LinearOperator<double> {
 public:
  RankParts(Index own, OperatorPtr<double> inside, std::shared_ptr<Halo> halo, bool restricted);
  Traits traits() const override;
  Cost cost(Index k) const override { return inside_->cost(k); }
  std::string name() const override { return "schwarz"; }
  std::string details() const override;
  double advance(Context& ctx, double n) const override;
  std::uint64_t revision() const override { return inside_->revision(); }

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  OperatorPtr<double> inside_;
  std::shared_ptr<Halo> halo_;
  bool restricted_;
};

/// `inside` null: ic where A is symmetric, else ilu. A SetupError of one rank is one of all.
std::unique_ptr<Preconditioner> rank_parts(Context&, System const&,
                                           std::unique_ptr<PreconditionerFactory> inside,
                                           int overlap, Combine);

}  // namespace tcsolve
