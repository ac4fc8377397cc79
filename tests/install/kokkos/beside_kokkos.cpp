// SPDX-License-Identifier: Apache-2.0
/// A program with a shared Kokkos of its own, as one that links Trilinos has, and tcsolve. Both
/// copies in one process with names in common, and the program aborted when it ended (double free).
#include <cstdio>
#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/solvers/cg/cg.hpp>

namespace {

bool solves() {
  using namespace tcsolve;
  Csr<double> const a = generate(Poisson7Params{.n = 40});
  LinearSolver solver(a.view(), {.solver = "cg", .backend = Backend::host, .threads = 2});
  std::vector<double> b(a.rows, 1.0), x(a.rows, 0.0);
  SolveReport const report = solver.solve(b, x);
  std::printf("%s\n", report.message.c_str());
  return report.converged();
}

double sum() {
  Kokkos::View<double*, Kokkos::HostSpace> v("v", 1000);
  for (int i = 0; i < 1000; ++i) v(i) = i;
  double total = 0;
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 1000),
      [=](int i, double& part) { part += v(i); }, total);
  return total;
}

}  // namespace

/// Before its Kokkos is started, while it runs, and after it has ended.
int main(int argc, char** argv) {
  bool good = solves();
  Kokkos::initialize(argc, argv);
  good = sum() == 499500 && solves() && sum() == 499500 && good;
  Kokkos::finalize();
  good = solves() && good;
  return good ? 0 : 1;
}
