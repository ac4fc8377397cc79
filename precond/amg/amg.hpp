// SPDX-License-Identifier: Apache-2.0
/// M = a multigrid cycle whose coarse levels are made of the matrix alone, for symmetric positive
/// definite A of elliptic problems, and for A that convection makes unsymmetric, whose iterations
/// with one-level preconditioners grow with the mesh: smoothed aggregation (Vanek, Mandel and
/// Brezina 1996, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic
/// problems) or classical coarsening.
///
///     A_0 = A  --coarsening-->  P_0   A_1 = P_0^T A_0 P_0  -->  P_1  ...  A_L
///
///     aggregation.hpp     P by smoothed aggregation: strength.hpp, nodes that are strongly coupled;
///                         aggregates.hpp, groups of them; prolongation.hpp, P from the
///                         near-nullspace (near_nullspace.hpp) in each
///     classical.hpp       P by coarse points and interpolation
///     level.hpp           the Galerkin product; hierarchy.hpp, all levels; coarse_inverse.hpp and
///                         coarse_factors.hpp, the coarsest
///     stored_levels.hpp   the levels in formats and narrow types (level_scale.hpp)
///     cycle.hpp           the application
#pragma once

#include <tcsolve/precond/amg/params.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

class AmgFactory final : public PreconditionerFactory {
 public:
  using Params = AmgParams;
  explicit AmgFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  std::unique_ptr<Preconditioner> build_in_miniature(Context&, System const& few) const override;
  double bytes(Index rows, Offset entries) const override { return 30.0 * entries + 80.0 * rows; }
  bool bytes_are_all() const override { return false; }
  MemoryNeed memory(Context&, System const&) const override;
  bool is_fixed() const override { return params_.cycle != AmgCycleKind::k; }
  bool needs_definite() const override {
    return params_.smoother == AmgSmoother::chebyshev || params_.smoother == AmgSmoother::fsai;
  }
  bool goes_by_blocks() const override {
    return params_.near_nullspace.block != 1 || by_row() != nullptr;
  }
  char const* by_row() const override {
    if (!params_.near_nullspace.coordinates.empty() || params_.near_nullspace.points)
      return "near_nullspace.coordinates";
    if (!params_.near_nullspace.files.empty()) return "near_nullspace.files";
    return params_.near_nullspace.block > 1 ? "near_nullspace.block" : nullptr;
  }

 private:
  Params params_;
};

}  // namespace tcsolve
