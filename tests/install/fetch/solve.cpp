// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/version.hpp>

#if !defined(TCSOLVE_VERSION) || TCSOLVE_VERSION < 100 || TCSOLVE_VERSION_MAJOR != 0
#error "the macros of the version"
#endif

int main() {
  using namespace tcsolve;
  Csr<double> const a = generate(Poisson7Params{.n = 16});
  LinearSolver solver(a.view(), {.solver = "cg", .backend = Backend::host});
  std::vector<double> b(a.rows, 1.0), x(a.rows, 0.0);
  SolveReport const report = solver.solve(b, x);
  std::cout << version::release << ": " << report.message << "\n";
  return report.converged() ? 0 : 1;
}
