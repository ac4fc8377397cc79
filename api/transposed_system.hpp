// SPDX-License-Identifier: Apache-2.0
/// Solves with A^T beside those with A: adjoints, gradients, sensitivities.
///
///     A symmetric                   the set-up of A serves: nothing is made
///     else, A a matrix whose M has  A^T once, in csr, or, where M is small beside A, in A's
///       M^T, in A's order           format, and M^T: a method, nothing else
///     else, A a matrix              A^T once, and a second set-up by the same options
///     else, operators with A^T, M^T Transposed(A), Transposed(M): a method, nothing else
///
/// Symmetric means symmetric bit by bit, since a verdict on A is then one on A^T; or the caller has
/// said so (`symmetric: true`). The pattern of A^T is found once, and new values of A are gathered
/// into it. The method's largest work space is that of A's method.
#pragma once

#include <optional>

#include <tcsolve/api/prepared_system.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve {

class TransposedSystem {
 public:
  /// Of the matrix or the operators that `of` has, which must outlive it.
  TransposedSystem(Context& ctx, SolverOptions const& options, PreparedSystem& of)
      : ctx_(ctx), options_(options), of_(of) {}

  /// What solves A^T x = b with the values in force: `of` itself, or the second set-up, made or
  /// renewed where that is due. Throws Unsupported where a nullspace is given for an A that is not
  /// symmetric, or an operator has no transpose; else as PreparedSystem::load(). Cost: none when
  /// nothing has changed.
  PreparedSystem& system();
  /// A has these values now, which `of` has taken. Cost: a gather where there is a second set-up.
  void update_values(CsrView<double> const& a);

 private:
  bool is_symmetric();
  bool is_symmetric_over_ranks();
  void find_transpose();
  void begin_second();
  bool goes_by_products() const;
  bool serves_transposed() const;
  std::shared_ptr<LinearOperator<double>> stored(CsrView<double> const& at) const;
  void set_up();
  void set_up_beside();
  void set_up_over_ranks();

  Context& ctx_;
  SolverOptions const& options_;
  PreparedSystem& of_;
  std::optional<bool> symmetric_;          // A with the values in force, once that is known
  std::optional<sparse::Transpose> plan_;  // where the values of A^T come from
  Array<double> values_;                   // of A^T; declared before the system that borrows them
  std::shared_ptr<LinearOperator<double>> At_;  // null: A^T is second_'s own
  OperatorPtr<double> M_;                       // of `of`, whose transpose second_ has; with At_
  std::optional<PreparedSystem> second_;
  bool stale_ = false;  // second_ has older values than values_
};

}  // namespace tcsolve
