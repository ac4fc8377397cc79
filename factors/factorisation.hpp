// SPDX-License-Identifier: Apache-2.0
/// M x with M a factorisation of A, incomplete or complete: what the preconditioners ilu, ic and
/// direct have in common.
///
///     arrange      A -> B = P R A C Q^T          factors/arrange/arrangement.hpp
///                  new values, on the device     factors/arrange/arranged_values.hpp
///     factorise    B ~ L D U                     factors/make/incomplete.hpp, factors/make/complete.hpp
///                  on a pattern, on the device   factors/make/joint_factors.hpp
///                  without A on the host         factors/make/level_zero.hpp
///     apply        exactly, level by level       factors/apply/factored_inverse.hpp
///                  by approximate inverses       factors/apply/approximate_inverse.hpp
///                  by Jacobi sweeps              factors/apply/swept_inverse.hpp
///                  exactly, part by part         factors/apply/parts_inverse.hpp
///                  exactly, on the host          factors/apply/on_host.hpp
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <tcsolve/factors/apply/approximate_inverse.hpp>
#include <tcsolve/factors/apply/stored_product.hpp>
#include <tcsolve/factors/arrange/arranged_values.hpp>
#include <tcsolve/factors/arrange/arrangement.hpp>
#include <tcsolve/factors/factor_plan.hpp>
#include <tcsolve/factors/make/incomplete.hpp>
#include <tcsolve/factors/make/joint_factors.hpp>
#include <tcsolve/matrix/host_matrix.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// How the systems with L and U are solved.
enum class TriangularSolves {
  automatic,  ///< exact; on a device isai or host where the factors have many levels
  exact,      ///< level by level
  isai,       ///< products with sparse approximate inverses, and sweeps that correct them
  sweeps,     ///< FactorRecipe::sweeps Jacobi sweeps
  parts,      ///< exactly within parts of FactorRecipe::part rows, without what couples them
  host        ///< level by level on the host; the vectors travel
};
constexpr auto names(TriangularSolves) {
  return std::array{
      std::pair{TriangularSolves::automatic, "auto"}, std::pair{TriangularSolves::exact, "exact"},
      std::pair{TriangularSolves::isai, "isai"},      std::pair{TriangularSolves::sweeps, "sweeps"},
      std::pair{TriangularSolves::parts, "parts"},    std::pair{TriangularSolves::host, "host"}};
}

/// What is kept of the factors.
enum class FillIn {
  by_level,  ///< FactorRecipe::level
  by_size,   ///< FactorRecipe::drop_tolerance and fill_factor
  complete
};

/// What is factorised, and how.
struct FactorRecipe {
  std::string name;        ///< of the preconditioner, for messages
  bool symmetric = false;  ///< L D L^T of a symmetric positive definite matrix
  bool right_factor =
      false;  ///< of L D L^T = R^T R the inverse of R = D^1/2 L^T alone, M M^T ~ A^-1
  FillIn fill = FillIn::by_level;
  int level = 0;
  double drop_tolerance = 0;  ///< relative to the typical entry of a row
  double fill_factor = 10;    ///< entries of a row of L, or U, over A's mean
  double complete_below = 0;  ///< entries of complete factors over A's up to which all is kept
  double pivot_floor = 0;     ///< smallest pivot, relative to its row
  int block = 1;              ///< unknowns of a node: blocks are kept whole; 0: as they are found
  ArrangementParams arrangement;
  Real values = Real::f64;
  TriangularSolves solves = TriangularSolves::automatic;
  int sweeps = 5;       ///< with TriangularSolves::sweeps
  int corrections = 1;  ///< with isai: sweeps that follow the product with W
  int part = 1024;      ///< with TriangularSolves::parts
};

/// Its arrangement with what is automatic decided.
ArrangementParams arrangement_of(FactorRecipe const&);
/// Of a node that is found.
constexpr Index most_unknowns = 16;
/// The nodes of a matrix (matrix/blocks.hpp); empty where each unknown is one. Throws MatrixError
/// where recipe.block does not divide its rows.
std::vector<Index> nodes_of(FactorRecipe const&, CsrView<double> const& a);
/// Its Dropping for a matrix B.
Dropping dropping_of(FactorRecipe const&, Csr<double> const& B);

/// Patterns are made on the host, those of level 0 in A's own order also where A lies
/// (plan_there()); numbers on a pattern where it is quicker; and M is applied where the Context
/// computes. M^T is offered.
class Factorisation final : public LinearOperator<double> {
 public:
  /// From a host matrix. Throws MatrixError (no positive pivots, factors beyond the values' range),
  /// ShapeError, MemoryError (more fill than memory), Cancelled.
  Factorisation(Context& ctx, CsrView<double> const& a, FactorRecipe const& recipe)
      : Factorisation(ctx, plan_factors(ctx, a, recipe), recipe) {}
  /// The same from what plan_factors() made of it.
  Factorisation(Context&, FactorPlan plan, FactorRecipe recipe);
  /// New values, in either space, on the pattern of A, with their side on the host: permutations,
  /// the patterns of incomplete factors, levels and arrays stay, numbers are made anew. A complete
  /// factorisation, which pivots, is made anew altogether, and revision() changes; so it does once
  /// where the device takes the numbers over. Throws as the constructor; M is then of neither
  /// matrix until an update succeeds.
  void update(Context&, CsrView<double> const& a, HostMatrix& host);
  void update(Context& ctx, CsrView<double> const& a) {
    HostMatrix once;
    update(ctx, a, once);
  }

  void prepare(Context& ctx, Op op) const override { inverse_->prepare(ctx, op); }
  Traits traits() const override { return inverse_->traits(); }
  Cost cost(Index k) const override { return inverse_->cost(k); }
  std::string name() const override { return recipe_.name; }
  std::string details() const override;
  /// Complete factors of A have met pivots that vanish to rounding, as those of a singular A do.
  bool found_singular() const;
  std::uint64_t revision() const override { return revision_; }
  /// Of `solves: isai` and `sweeps`, which are products (factors/apply/swept_inverse.hpp); null for
  /// triangular solves, whose unknowns are FP64.
  std::shared_ptr<LinearOperator<float> const> on_floats(Context&) const override;
  /// On the host, copied from the device where they were made there.
  std::shared_ptr<TriangularFactors const> factors(Context&) const;

 private:
  void do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                Op op) const override {
    inverse_->apply(ctx, alpha, x, beta, y, op);
  }
  void factorise_on_pattern(Context&);
  void make_joint_numbers(Context&);
  void factorise_completely(CancelFlag);
  void keep_right_factor();
  std::shared_ptr<TriangularFactors const> exact_factors(Context&) const;
  void choose_solves(Context&);
  void make_inverse(Context&);
  template <class S>
  void make_isai(Context&);
  template <class S>
  void make_on_host(Context&);
  template <class S, class Factors>
  void make_exact(Context&, Factors const& factors);
  /// The operator, and what gives it the factors that there are now.
  template <class Op, class Update>
  void keep(std::shared_ptr<Op> made, Update const& update) {
    inverse_ = made;
    renew_ = [made, update](Context& ctx) { update(ctx, *made); };
  }
  void drop_inverse();

  FactorRecipe recipe_;
  Offset entries_of_A_;
  Arrangement arrangement_;
  std::optional<Permutation> order_;  // of complete factors
  TwoSided sides_;
  std::shared_ptr<TriangularFactors> factors_;  // or
  std::shared_ptr<JointFactors> joint_;         // of which the device makes the numbers, and
  std::shared_ptr<ArrangedValues> arranged_;    // those of B, whose host copy then stays as it was
  OperatorPtr<double> inverse_;
  std::function<void(Context&)> renew_;  // gives inverse_ the factors that there are now
  StoredProduct first_, second_;         // of isai
  std::shared_ptr<Context> host_;        // of the solves on the host
  Index levels_ = 0;
  bool decided_ = false;
  std::uint64_t revision_ = 0;
};

}  // namespace tcsolve
