// SPDX-License-Identifier: Apache-2.0
/// Systems that are solved once each, in the types that the config says, on each backend.
#pragma once

#include "tests/api/systems.hpp"

namespace tcsolve::test {

class SolvedInTypes : public OnEachBackend {
 protected:
  static constexpr Index n = 160;
  struct Solved {
    SolveReport report;
    Column x;
    SetupReport setup;
  };
  Solved solved(Matrix const& A, Column const& b, std::string const& yaml) {
    LinearSolver solver = LinearSolver::from_yaml(ctx(), csr(A).view(), yaml);
    Solved out{{}, Column::Zero(A.rows()), {}};
    out.report = solve(solver, b, out.x);
    out.setup = solver.setup_report();
    return out;
  }
};

}  // namespace tcsolve::test
