// SPDX-License-Identifier: Apache-2.0
/// The systems of a batch keep their best iterates too.
#include <tcsolve/solvers/driver/batch.hpp>

#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {

namespace {

class BestIterateInABatch : public testing::TestWithParam<Backend> {};
INSTANTIATE_TEST_SUITE_P(at, BestIterateInABatch, testing::Values(Backend::host, Backend::cuda),
                         [](auto const& info) {
                           return info.param == Backend::host ? "host" : "cuda";
                         });

// Graph Laplacians of paths, b outside their range by a millionth in every other system.
TEST_P(BestIterateInABatch, IsReturned) {
  TCSOLVE_SKIP_IF_ABSENT(GetParam());
  Context ctx(GetParam());
  Index const n = 12, count = 6;
  std::vector<Csr<double>> systems(count, csr(path_laplacian(n)));
  CsrBatch batch = batch_of(systems);
  Column b(n * count);
  for (Index k = 0; k < count; ++k) {
    b.segment(k * n, n) = path_laplacian(n) * random_column(n, 820 + k);
    if (k % 2 == 1) b.segment(k * n, n).array() += 1e-6;
  }
  double const least = 1e-6 * std::sqrt(double(n));
  for (std::string const& method : methods("cg bicgstab gmres")) {
    BatchSolver solver(make_solver(method, {}, Execution::automatic, 30));
    solver.setup(ctx, batch.matrix.view(), batch.starts);
    Column x = Column::Zero(n * count);
    BatchReport report = solver.solve(vector_view<double const>(b.data(), n * count, Space::host),
                                      vector_view(x.data(), n * count, Space::host));
    for (Index k = 0; k < count; ++k) {
      SCOPED_TRACE(cat(method, ", system ", k, ": ", report.of(k).message));
      double const left = (b.segment(k * n, n) - path_laplacian(n) * x.segment(k * n, n)).norm();
      EXPECT_EQ(report.of(k).converged(), k % 2 == 0);
      if (k % 2 == 1) { EXPECT_LE(left, 2 * least); }
    }
  }
}

}  // namespace

}  // namespace tcsolve::test
