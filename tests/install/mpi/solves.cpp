// SPDX-License-Identifier: Apache-2.0
/// A program of an MPI code: every rank makes its own rows of a 5-point Laplacian on a square,
/// solves with all others, and looks at what it has got. With `refuse` one rank has a row too many,
/// with `leave` one of two does not solve, for which the other waits a second; with `outside` they
/// are made before MPI_Init and after MPI_Finalize, too, which is refused.
#include <tcsolve_mpi.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <tcsolve/api/linear_solver.hpp>

using namespace tcsolve;

/// Whether ranks are refused, by name.
bool is_outside() {
  try {
    mpi::Ranks ranks(MPI_COMM_WORLD);
  } catch (Unsupported const& e) {
    std::printf("%s\n", e.what());
    return true;
  }
  return false;
}

int main(int argc, char** argv) {
  bool const outside = argc > 1 && std::strcmp(argv[1], "outside") == 0;
  if (outside && !is_outside()) return 1;
  MPI_Init(&argc, &argv);
  bool const refuse = argc > 1 && std::strcmp(argv[1], "refuse") == 0;
  bool const leave = argc > 1 && std::strcmp(argv[1], "leave") == 0;
  int code = 0;
  {
    constexpr double without_end = std::numeric_limits<double>::infinity();
    mpi::Ranks ranks(MPI_COMM_WORLD, leave ? 1.0 : without_end);
    Context ctx(Backend::host, {.threads = 1, .communicator = &ranks});
    std::int64_t const side = 40, n = side * side;
    std::int64_t const first = n * ranks.rank() / ranks.ranks(),
                       end = n * (ranks.rank() + 1) / ranks.ranks() - (refuse && ranks.rank() == 0);
    std::vector<std::int64_t> offsets{0}, columns;
    std::vector<double> values, b, x(static_cast<std::size_t>(end - first));
    for (std::int64_t i = first; i < end; ++i) {
      double sum = 0;
      auto const entry = [&](bool there, std::int64_t j, double v) {
        if (!there) return;
        columns.push_back(j);
        values.push_back(v);
        sum += v;
      };
      entry(i >= side, i - side, -1);
      entry(i % side > 0, i - 1, -1);
      entry(true, i, 4);
      entry(i % side < side - 1, i + 1, -1);
      entry(i < n - side, i + side, -1);
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
      b.push_back(sum);  // A (1, .., 1)
    }
    try {
      LinearSolver solver(
          ctx, SolverOptions::from_yaml("solver: {type: cg, rtol: 1.0e-10}\n"
                                        "preconditioner: {type: schwarz, parts: ranks}\n"));
      solver.set_matrix(DistributedMatrix(ctx, first,
                                          {static_cast<Index>(end - first), n, offsets.back(),
                                           offsets.data(), columns.data(), values.data()}));
      if (!leave || ranks.rank() == 0) {
        SolveReport const report = solver.solve(b, x);
        double error = 0;
        for (double const xi : x) error = std::fmax(error, std::fabs(xi - 1));
        code = report.converged() && error < 1e-7 && !leave ? 0 : 1;
        if (ranks.rank() == 0) std::printf("%d ranks: %s\n", ranks.ranks(), report.message.c_str());
      }
    } catch (RankFailed const& e) {
      code = leave ? 0 : 1;
      std::printf("%s\n", e.what());
    } catch (MatrixError const& e) {
      code = refuse ? 0 : 1;
      std::printf("rank %d: %s\n", ranks.rank(), e.what());
    }
  }
  MPI_Finalize();
  if (outside && !is_outside()) return 1;
  return code;
}
