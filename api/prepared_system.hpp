// SPDX-License-Identifier: Apache-2.0
/// The set-up of a solve, repeated when the matrix changes: the order, the operator, the
/// preconditioner and the method's recording.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tcsolve/api/parts.hpp>
#include <tcsolve/api/setup_report.hpp>
#include <tcsolve/api/stored_matrix.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

/// Operators that the caller has made. M and A_true may be null.
struct GivenOperators {
  OperatorPtr<double> A;
  OperatorPtr<double> M;       ///< null: the options' preconditioner
  OperatorPtr<double> A_true;  ///< null: A itself
};

/// solver() is null until load() has returned, and after a load(), update_values() or refresh()
/// that has thrown.
class PreparedSystem {
 public:
  /// `options` have been read.
  PreparedSystem(Context& ctx, SolverOptions const& options);

  void load(CsrView<double> const& a, Arrays arrays);
  void load(Csr<double> a);
  void load(GivenOperators given);
  /// Back to where it was before the first load().
  void unload() {
    clear();
    report_ = {};
  }
  void update_values(CsrView<double> const& a);
  void refresh();
  /// Solver::solve(), within the time limit of the method. Where a preconditioner of older values
  /// fails, one is made anew beside it and the solve goes on; where that fails too, the report says
  /// why, and the old one stays.
  SolveReport solve(In<double> b, Out<double> x);
  /// Solver::solve_columns(), likewise: as many reports as columns. Columns in turn are renewed for
  /// one by one.
  std::vector<SolveReport> solve_columns(In<double> b, Out<double> x);

  Solver* solver() const { return solver_.get(); }
  SolverParts const& parts() const { return parts_; }
  /// The matrix of load() with the values in force, in the caller's numbers and in the Context's
  /// space: the arrays that are there, borrowed, or a copy. Throws Unsupported where an operator
  /// was given, or the format that A is stored in has no way back to its entries.
  CsrStorage<double> entries() const;
  GivenOperators const& given() const { return given_; }
  SetupReport const& report() const { return report_; }
  /// For set_up_transposed() alone to write into.
  SetupReport& report() { return report_; }
  OperatorPtr<double> const& A() const { return A_; }
  /// The preconditioner in force: that of the choice at work where there is a chooser.
  OperatorPtr<double> M() const;
  OperatorPtr<double> const& A_true() const { return A_true_; }

 private:
  void clear();
  bool needs_host() const { return cache_ || parts_.matrix_operator->needs_host(); }
  template <class Take>
  void load_by(CsrView<double> const& a, Take const& take);
  void plan();
  void convert();
  void setup();
  void frame_method();
  void make_preconditioner();
  void own(std::unique_ptr<Preconditioner> made);
  System system() const;
  void setup_method();
  void follow(CsrView<double> const& a);
  bool keeps_preconditioner() const;
  void renew();
  void count_renewal(double seconds);
  std::string renew_beside();
  SolveReport solve_or_renew(In<double> b, Out<double> x);
  void follow_choice(SolveReport const&);
  OperatorUse use() const;
  bool one_kernel() const;
  template <class F>
  void as_setup_errors(F const& f) const;
  template <class F>
  void or_clear(F const& f);

  Context& ctx_;
  SolverOptions options_;
  std::optional<DiskCache> cache_;
  mutable std::optional<bool> one_kernel_;
  SetupReport report_;
  StoredMatrix matrix_;  // declared before the members that borrow its arrays (the method too), so
                         // destroyed after them
  SolverParts parts_;
  std::optional<OrderedMatrix> ready_;  // set only while operators are made from it
  GivenOperators given_;
  OperatorPtr<double> A_, A_true_;
  std::unique_ptr<Preconditioner> owned_;  // made here: null where M is given or the chooser's
  OperatorPtr<double> M_;                  // null where the chooser has it
  std::shared_ptr<HostMatrix> host_ = std::make_shared<HostMatrix>();  // A's side on the host
  std::shared_ptr<CsrOperator<double> const> csr_;
  Renewal renewal_;
  bool old_ = false;                          // M() is of values before the last update
  bool lazy_ = false;                         // A_ may be converting itself beside the solve
  std::shared_ptr<Permutation const> order_;  // null: operators have the caller's numbers
  std::shared_ptr<Solver> solver_;
};

}  // namespace tcsolve
