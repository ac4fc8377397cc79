// SPDX-License-Identifier: Apache-2.0
/// The set-up of many small systems by the options of a LinearSolver (solvers/driver/batch.hpp).
#pragma once

#include <optional>
#include <vector>

#include <tcsolve/api/parts.hpp>
#include <tcsolve/api/setup_report.hpp>
#include <tcsolve/solvers/driver/batch.hpp>

namespace tcsolve {

class PreparedBatch {
 public:
  /// `options` have been read, and `parts` made of them; both outlive it. Throws Unsupported where
  /// a batch cannot do what they ask for: the message names the methods, or the preconditioners,
  /// that can.
  PreparedBatch(Context& ctx, SolverOptions const& options, SolverParts const& parts);

  /// As BatchSolver::setup(). Throws Cancelled where it came meanwhile.
  void load(CsrView<double> const& a, std::vector<Index> const& starts, Arrays arrays);
  void update_values(CsrView<double> const& a);
  BatchReport solve(In<double> b, Out<double> x) { return solver_.solve(b, x); }

  Index count() const { return count_; }
  SetupReport const& report() const { return report_; }

 private:
  template <class F>
  void set_up(F const& f);

  Context& ctx_;
  PreconditionerFactory const* preconditioner_;  // null: M = I
  BatchSolver solver_;
  Index count_ = 0;
  SetupReport report_;
};

}  // namespace tcsolve
