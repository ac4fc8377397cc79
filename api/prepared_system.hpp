// SPDX-License-Identifier: Apache-2.0
/// The set-up of a solve, repeated when the matrix changes: the order, the operator, and the
/// recipes that solve with it.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <tcsolve/api/precision.hpp>
#include <tcsolve/api/recipe_run.hpp>
#include <tcsolve/api/stored_matrix.hpp>
#include <tcsolve/distributed/operator.hpp>
#include <tcsolve/formats/csr/operator.hpp>

namespace tcsolve {

/// Operators that the caller has made. M and A_true may be null.
struct GivenOperators {
  OperatorPtr<double> A;
  OperatorPtr<double> M;       ///< null: the options' preconditioner
  OperatorPtr<double> A_true;  ///< null: A itself
};

/// It is ready() after a load(), update_values() or refresh() that has not thrown.
class PreparedSystem {
 public:
  /// `options` have been read.
  PreparedSystem(Context& ctx, SolverOptions const& options);

  /// Its methods share work space with those of `other`, which outlives it (RecipeRun).
  void share_with(PreparedSystem const& other) { recipes_.share_with(other.recipes_); }

  /// Of the matrices that are loaded from now on.
  void know(std::shared_ptr<NodeFacts const> nodes) { told_nodes_ = std::move(nodes); }
  void load(CsrView<double> const& a, Arrays arrays);
  void load(Csr<double> a);
  void load(GivenOperators given);
  /// Of several ranks; every one calls it, and the functions below.
  void load(DistributedMatrix a);
  /// Back to where it was before the first load().
  void unload() {
    clear();
    report_ = {};
  }
  void update_values(CsrView<double> const& a);
  /// Of the matrix of several ranks: the values of this one's entries, as they were given.
  void update_values(double const* values, Offset entries, Space space);
  void refresh();
  /// RecipeRun::solve(), RecipeRun::solve_columns(), again in wider types where rounding may be why
  /// a solve has failed and the options let it step up (api/precision.hpp). The wider types stay
  /// until the next load().
  SolveReport solve(In<double> b, Out<double> x, RecipeRun::Keys const& keys);
  std::vector<SolveReport> solve_columns(In<double> b, Out<double> x, RecipeRun::Keys const& keys);

  bool ready() const { return recipes_.ready(); }
  SolverParts const& parts() const { return parts_; }
  /// The matrix of load() with the values in force, in the caller's numbers and in the Context's
  /// space: the arrays that are there, borrowed, or a copy. Throws Unsupported where an operator
  /// was given, or the format that A is stored in has no way back to its entries.
  CsrStorage<double> entries() const;
  GivenOperators const& given() const { return given_; }
  SetupReport const& report() const { return report_; }
  /// For set_up_transposed() alone to write into.
  SetupReport& report() { return report_; }
  OperatorPtr<double> const& A() const { return all_.A; }
  /// A is, as it was given or found; nothing where nobody has asked.
  std::optional<bool> symmetric() const { return recipes_.list().symmetric(); }
  /// The preconditioner in force.
  OperatorPtr<double> const& M() const { return recipes_.M(); }
  OperatorPtr<double> const& A_true() const { return all_.A_true; }
  /// Null where there is one rank.
  std::shared_ptr<DistributedMatrix const> ranks() const { return ranks_; }

 private:
  void clear();
  bool needs_host() const { return cache_ || parts_.matrix_operator->needs_host(); }
  template <class Take>
  void load_by(Take const& take);
  void plan();
  void reorder_ranks();
  void convert();
  void settle();
  // prepared_precision.cpp
  OperatorPtr<double> store(std::string& why);
  void refuse_types(std::string const& why);
  bool lies_in_caches() const;
  bool has_wider() const;
  bool may_widen() const;
  WorkingPrecision in_force() const;
  void choose_types();
  void tell_types();
  void take(SolverOptions);
  void take_types(WorkingPrecision);
  void store_wider();
  bool steps_up(SolveReport const&, StoppingParams const& asked) const;
  bool is_watched() const;
  bool is_slow(SolveReport const&) const;
  StoppingParams watched(StoppingParams asked) const;
  StoppingParams left_of(StoppingParams asked, SolveReport const&) const;
  void widen(SolveReport& ended);
  SolveReport going_on(SolveReport ended, SolveReport next) const;
  void tell(SolveReport&) const;
  void setup();
  void join();
  void require_over_ranks() const;
  template <class F>
  void as_one_rank(F const& f);
  System system() const;
  std::string follow(CsrView<double> const& a);
  OperatorUse use() const;
  template <class F>
  void as_setup_errors(F const& f) const;
  template <class F>
  void or_clear(F const& f);

  Context& ctx_;
  SolverOptions const given_options_;
  SolverOptions options_;  // with the types in force
  std::shared_ptr<NodeFacts const> told_nodes_;
  std::optional<DiskCache> cache_;
  SetupReport report_;
  StoredMatrix matrix_;  // declared before the members that borrow its arrays (the methods too), so
                         // destroyed after them
  SolverParts parts_;
  std::optional<OrderedMatrix> ready_;  // set only while operators are made from it
  GivenOperators given_;
  OperatorPtr<double> A_, A_true_;  // of several ranks: this one's rows in its own columns
  std::shared_ptr<DistributedMatrix> ranks_;
  std::shared_ptr<OuterPart> outer_;
  struct {
    OperatorPtr<double> A, A_true;
  } all_;                                 // A_ and A_true_ with what ranks_ adds
  std::vector<PrecisionReport> refused_;  // types that A could not be stored in
  std::shared_ptr<HostMatrix> host_ = std::make_shared<HostMatrix>();  // A's side on the host
  std::shared_ptr<CsrOperator<double> const> csr_;
  // Of the matrix, in types that `precision: auto` has chosen
  double most_condition_ = std::numeric_limits<double>::infinity();
  bool wider_ = false;                        // options_ have wider types than were given
  bool lazy_ = false;                         // A_ may be converting itself beside the solve
  std::shared_ptr<NodeFacts const> nodes_;    // in the order of the operators
  std::shared_ptr<Permutation const> order_;  // null: operators have the caller's numbers
  RecipeRun recipes_;
};

}  // namespace tcsolve
