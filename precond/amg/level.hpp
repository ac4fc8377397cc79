// SPDX-License-Identifier: Apache-2.0
/// What a level of the hierarchy has, and what leads from it to the next one:
///
///     level 0    A_0 = A                        as given
///     level l+1  A_{l+1} = P_l^T A_l P_l        the Galerkin product
///
/// P is made by a coarsening, each in files of its own: aggregation.hpp, classical.hpp. What an
/// application multiplies by is made of these levels (stored_levels.hpp).
#pragma once

#include <memory>
#include <optional>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/linear_operator.hpp>
#include <tcsolve/precond/amg/setup_clock.hpp>
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

/// Some 150 products an entry are what elasticity with six modes takes; a few rows with entries
/// everywhere make the coarser matrix dense, of which tens of thousands would be the price.
inline sparse::ProductLimits const product_limits{.for_an_entry = 2000};

/// Of the matrices of a transfer, those that an application reads where they lie.
struct AmgInPlace {
  bool P = false, R = false, coarse = false;
};

/// What leads from a matrix to the next coarser one: patterns, made once, and what their values are
/// made of. It holds, and who reads it:
///
///     P, P^T, P^T A P             the next level; an application, what is not stored otherwise
///     keep, the coarse vectors    whoever makes the next level, and stores this one
///     plans: T, A P, ...          new values; plans end where none are to come
class AmgTransfer {
 public:
  virtual ~AmgTransfer() = default;

  /// No coarser level came of it.
  bool failed() const { return failed_; }
  double strength() const { return strength_; }
  /// Entries of the Galerkin product.
  Offset entries() const { return pattern_of_c().entries; }
  Offset interpolation_entries() const { return pattern_of_p().entries; }
  Index coarse_rows() const { return pattern_of_p().cols; }
  /// That it holds.
  double bytes() const;
  /// P is T alone, for whatever reason.
  bool plain() const { return plain_; }
  /// (entries of A) 1 for those of the strength graph, in the Context's space; null: not known.
  virtual std::uint8_t const* strong() const { return keep_.data(); }
  /// The same of those that may be as small as what 16 bits take for 0, 2^-25 of the diagonals'
  /// geometric mean; null: none is, or it is not known.
  virtual std::uint8_t const* endangered() const { return strong(); }

  /// A coarser matrix of fewer entries from now on, as a rule; false where there is none. May be
  /// asked again.
  virtual bool thin_out(Context&, CsrView<double> const&) { return false; }
  /// The near-nullspace of the coarser level (coarse rows x vectors); null: it is not carried on.
  double const* coarse_vectors() const { return coarse_vectors_.data(); }
  /// Whether one made of `a`, a matrix of the same pattern, would have the same patterns.
  virtual bool suits(Context&, CsrView<double> const& a) = 0;

  /// P, R and the Galerkin product of new values, the same that suits() was last asked about if it
  /// was. lambda_max: of D^-1 A.
  void numbers(Context&, CsrView<double> const& a, double lambda_max);
  /// The Galerkin product of new values, with P as it is.
  void coarsen(Context&, CsrView<double> const& a);
  CsrView<double> P() const { return pattern_of_p().with(p_.data()); }
  CsrView<double> R() const {
    return (ended_ ? ended_->R : galerkin_->restriction().pattern()).with(r_.data());
  }
  CsrView<double> coarse() const { return pattern_of_c().with(c_.data()); }

  /// There will be no new values: what they would be made by goes. The matrices stay, where they
  /// are.
  void end_plans();
  /// The next level is made, and the levels are stored: once plans have ended, no more stays than
  /// the arrays that are read in place, and numbers of entries.
  void leave(AmgInPlace read);

 protected:
  explicit AmgTransfer(std::shared_ptr<SetupClock> clock)
      : clock_(clock ? std::move(clock) : std::make_shared<SetupClock>()) {}
  virtual sparse::OwnedPattern const& planned_p() const = 0;
  /// The same for somebody who keeps it; what P is made by goes.
  virtual sparse::OwnedPattern release_p() = 0;
  /// Writes the values of P (entries).
  virtual void interpolate(Context&, CsrView<double> const& a, double lambda_max, double* p) = 0;
  /// Bytes besides those of the Galerkin product.
  virtual double own_bytes() const = 0;

  /// The pattern of P is known. node, coarse: rows of a node of a, and of the coarser matrix.
  void plan_galerkin(Context&, CsrView<double> const& a, Index node = 1, Index coarse = 1);
  /// f() as a part of the set-up, which a request to stop ends before it.
  template <class F>
  void part(Context& ctx, SetupPart which, F const& f) {
    ctx.cancel_flag().check();
    (*clock_)(ctx, which, f);
  }

  double strength_ = 0;
  Array<std::uint8_t> keep_;  // (entries of what strength is judged by) of the strength graph
  Array<double> coarse_vectors_;
  bool failed_ = false;
  bool plain_ = false;

 private:
  /// Patterns of P, P^T and P^T A P.
  struct Ended {
    sparse::OwnedPattern P, R, C;
  };
  sparse::OwnedPattern const& pattern_of_p() const { return ended_ ? ended_->P : planned_p(); }
  sparse::OwnedPattern const& pattern_of_c() const {
    return ended_ ? ended_->C : galerkin_->pattern();
  }

  std::shared_ptr<SetupClock> clock_;
  std::optional<sparse::TripleProduct> galerkin_;
  std::optional<Ended> ended_;  // in the place of all plans
  Array<double> p_, r_, c_;     // values of P, P^T and P^T A P
};

}  // namespace tcsolve
