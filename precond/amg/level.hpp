// SPDX-License-Identifier: Apache-2.0
/// What a level of the hierarchy has, and what leads from it to the next one. What an application
/// multiplies by is made of these (precond/amg/stored_levels.hpp).
///
///     level 0    A_0 = A                        as given
///     level l+1  A_{l+1} = P_l^T A_l P_l        the Galerkin product
#pragma once

#include <memory>
#include <optional>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/linear_operator.hpp>
#include <tcsolve/precond/amg/prolongation.hpp>
#include <tcsolve/precond/amg/setup_clock.hpp>
#include <tcsolve/precond/amg/strength.hpp>
#include <tcsolve/sparse/filter.hpp>
#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/triple_product.hpp>

namespace tcsolve {

struct AmgLevel {
  Index rows = 0;
  Offset entries = 0;
  double strength = 0;    ///< threshold that its graph was made with
  OperatorPtr<double> A;  ///< in FP64, which the set-up multiplies by
  Array<double> weights;  ///< of the smoother (precond/amg/weights.hpp)
  double lambda_max = 1;  ///< of W A, about
};

/// What leads from a matrix to the next coarser one: patterns, made once, and what their values are
/// made of.
class AmgTransfer {
 public:
  /// How a level is coarsened.
  struct Rule {
    Index block = 1;
    Index vectors = 1;
    double strength = 0;
    bool smooth = true;  ///< false: P = T
    int lanczos_steps = 10;
    std::shared_ptr<SetupClock> clock = nullptr;
  };
  /// Of a, canonical, in the Context's space; B: its near-nullspace (rows x vectors). With
  /// `strength` > 0 falls back to 0 where the next level would have more than 0.7 times the rows.
  AmgTransfer(Context&, CsrView<double> const& a, double const* B, Rule const& rule);

  /// No coarser level came of it.
  bool failed() const { return failed_; }
  double strength() const { return rule_.strength; }
  /// Entries of the Galerkin product.
  Offset entries() const { return galerkin_->pattern().entries; }
  Offset interpolation_entries() const { return pattern_of_p().entries; }
  Index coarse_rows() const { return tentative_.pattern.cols; }
  /// That it holds.
  double bytes() const;
  /// P = T from now on.
  void leave_unsmoothed(Context&, CsrView<double> const& a);
  /// The coarser near-nullspace (coarse rows x vectors).
  double const* coarse_vectors() const { return coarse_B_.data(); }
  /// Whether A_F = A.
  bool keeps_all() const { return !filter_; }

  /// Whether one made of `a`, a matrix of the same pattern, would have the same patterns: its
  /// strength graph is the same.
  bool suits(Context&, CsrView<double> const& a) const;

  /// P, R and the Galerkin product of new values. lambda_max: of D^-1 A, used where A_F = A.
  void numbers(Context&, CsrView<double> const& a, double lambda_max);
  CsrView<double> P() const { return pattern_of_p().with(p_.data()); }
  CsrView<double> R() const { return galerkin_->restriction().pattern().with(r_.data()); }
  CsrView<double> coarse() const { return galerkin_->pattern().with(c_.data()); }
  /// (entries of A) 1 for those of the strength graph, in the Context's space.
  std::uint8_t const* strong() const { return keep_.data(); }

 private:
  Aggregates aggregate(Context&, CsrView<double> const& a);
  void plan_prolongation(Context&, CsrView<double> const& a, Aggregates const&, double const* B);
  void plan_galerkin(Context&, CsrView<double> const& a);
  /// f() as a part of the set-up, which a request to stop ends before it.
  template <class F>
  void part(Context& ctx, SetupPart which, F const& f) {
    ctx.cancel_flag().check();
    (*rule_.clock)(ctx, which, f);
  }
  sparse::OwnedPattern const& pattern_of_p() const {
    return product_ ? product_->pattern() : tentative_.pattern;
  }
  void smooth_tentative(Context&, CsrView<double> const& a, double lambda_max);

  Rule rule_;
  double asked_ = 0;          // strength before a fall to 0
  Array<std::uint8_t> keep_;  // (entries of A) of the strength graph
  Offset given_entries_ = 0;
  bool failed_ = false;
  TentativePattern tentative_;
  Array<double> t_, coarse_B_;              // values of T; the coarser near-nullspace
  std::optional<sparse::Filter> filter_;    // A -> A_F; empty: A_F = A
  std::optional<sparse::Product> product_;  // A_F T; empty: P = T
  std::optional<sparse::TripleProduct> galerkin_;
  Array<double> p_, r_, c_;  // values of P, P^T and P^T A P
};

}  // namespace tcsolve
