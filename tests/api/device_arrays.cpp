// SPDX-License-Identifier: Apache-2.0
/// A caller on the device: its arrays, its stream.
#include <tcsolve/kernels/reductions.hpp>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

class GpuCaller : public testing::Test {
 protected:
  void SetUp() override { TCSOLVE_SKIP_IF_ABSENT(Backend::cuda); }
};

/// A CSR matrix in arrays of a caller's Context, with 32-bit offsets.
struct DeviceCsr {
  DeviceCsr(Context& ctx, Csr<double> const& a)
      : rows(a.rows),
        offsets(to_space(ctx, std::vector<Index>(a.offsets.begin(), a.offsets.end()).data(),
                         a.offsets.size())),
        columns(to_space(ctx, a.columns.data(), a.columns.size())),
        values(to_space(ctx, a.values.data(), a.values.size())) {}
  CsrView<double> view() const {
    return {rows,           rows,           static_cast<Offset>(values.size()),
            offsets.data(), columns.data(), values.data(),
            Space::cuda};
  }
  Index rows;
  Array<Index> offsets, columns;
  Array<double> values;
};

TEST_F(GpuCaller, GivesArraysWhereTheyLie) {
  Context caller(Backend::cuda);
  Matrix const dense = at_time(1);
  DeviceCsr const there(caller, csr(dense));
  Column const b = random_column(there.rows, 2);
  Array<double> const b_there = to_space(caller, b.data(), std::size_t(there.rows));
  Array<double> x_there(caller.space(), std::size_t(there.rows));
  SolverOptions const options{.solver = "cg",
                              .preconditioner = "jacobi",
                              .matrix_operator = "csr",
                              .stream = caller.stream()};
  for (Arrays const arrays : {Arrays::copied, Arrays::borrowed}) {
    LinearSolver solver(there.view(), options, arrays);
    EXPECT_EQ(
        dynamic_cast<CsrOperator<double> const&>(*solver.A()).view().values == there.values.data(),
        arrays == Arrays::borrowed);
    fill<double>(caller, x_there.view(), 0);
    EXPECT_TRUE(solver.solve(b_there.view(), x_there.view()).converged());
    std::vector<double> const got = to_host(caller, x_there);
    Column const x = Eigen::Map<Column const>(got.data(), there.rows);
    expect_solved(dense, b, x, 1e-8);
    Column y = Column::Zero(there.rows);
    EXPECT_TRUE(solve(solver, b, y).converged());
    EXPECT_EQ(x, y) << "the same from the host";
  }
}

TEST_F(GpuCaller, GivesNewValuesWhereTheyLie) {
  Context caller(Backend::cuda);
  DeviceCsr const first(caller, csr(at_time(0)));
  Column const b = random_column(first.rows, 2);
  for (std::string const order : {"none", "rcm"})
    for (std::string const& format : solver_registries().operators.names()) {
      SCOPED_TRACE(cat(format, ", ", order));
      SolverOptions const options = SolverOptions::from_yaml(
          cat("solver: {type: cg}\noperator: {format: ", format, ", reorder: ", order, "}\n"));
      LinearSolver solver(caller, first.view(), options);
      for (double const time : {1.0, 2.0}) {
        DeviceCsr const now(caller, csr(at_time(time)));
        solver.update_values(now.view());
        LinearSolver fresh(caller, now.view(), options);
        Column x = Column::Zero(first.rows), y = x;
        SolveReport const report = solve(solver, b, x);
        EXPECT_TRUE(report.converged());
        expect_same(report, x, solve(fresh, b, y), y);
      }
    }
}

TEST_F(GpuCaller, MakesValuesInItsOwnStream) {
  Context caller(Backend::cuda);
  constexpr Index n = 1 << 20;
  std::vector<Index> rows(n + 1), columns(n);
  for (Index i = 0; i < n; ++i) rows[i + 1] = i + 1, columns[i] = i;
  Array<Index> const offsets = to_space(caller, rows.data(), rows.size()),
                     diagonal = to_space(caller, columns.data(), columns.size());
  Vector<double> values(caller.space(), n), scratch(caller.space(), n), b(caller.space(), n),
      x(caller.space(), n);
  // Some milliseconds of work, after which v = value.
  auto const submit_long = [&](Out<double> v, double value) {
    fill<double>(caller, v, 0);
    for (int k = 0; k < 200; ++k) axpby<double, double>(caller, 1.0, v, 0.0, scratch.view());
    fill<double>(caller, v, value);
  };
  submit_long(values, 2);
  CsrView<double> const a{n,          n, n, offsets.data(), diagonal.data(), values.view().data,
                          Space::cuda};
  LinearSolver solver(a, {.solver = "cg", .matrix_operator = "csr", .stream = caller.stream()});
  for (double const value : {4.0, 8.0}) {
    submit_long(values, value);
    solver.update_values(a);
    submit_long(b, 3 * value);
    fill<double>(caller, x, 0);
    EXPECT_TRUE(solver.solve(b, x).converged());
    axpby<double, double>(caller, 2.0, x, 0.0, scratch.view());  // goes on after the solve
    EXPECT_EQ(to_host(caller, scratch.view().data, caller.space(), n), std::vector<double>(n, 6));
  }
}

TEST_F(GpuCaller, NeedsAContextOnTheDevice) {
  Context caller(Backend::cuda), host(Backend::host);
  DeviceCsr const there(caller, csr(at_time(1)));
  EXPECT_THROW(LinearSolver(host, there.view(), {.solver = "cg"}), ShapeError);
}

}  // namespace
}  // namespace tcsolve::test
