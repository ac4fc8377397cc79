// SPDX-License-Identifier: Apache-2.0
/// A caller's own number types: 64-bit columns, numbers from 1, FP32 values and vectors.
#include <gmock/gmock.h>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

/// A matrix in arrays of three types, in the memory of a Context or on the host.
struct CallerArrays {
  template <class T, class From>
  NumbersView kept(Context& ctx, Space where, std::vector<From> const& from, T shift) {
    std::vector<T> own(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) own[k] = static_cast<T>(from[k]) + shift;
    Array<T> there(where, own.size());
    copy_bytes(ctx, there.data(), where, own.data(), Space::host, there.bytes());
    T const* const data = there.data();
    owners.push_back(std::make_shared<Array<T>>(std::move(there)));
    return data;
  }
  CallerArrays(Context& ctx, Space where, Csr<double> const& a, bool wide_offsets,
               bool wide_columns, bool floats, int base) {
    view = {.rows = a.rows, .cols = a.cols, .entries = a.entries(), .base = base, .space = where};
    view.offsets = wide_offsets ? kept<std::int64_t>(ctx, where, a.offsets, base)
                                : kept<std::int32_t>(ctx, where, a.offsets, base);
    view.columns = wide_columns ? kept<std::int64_t>(ctx, where, a.columns, base)
                                : kept<std::int32_t>(ctx, where, a.columns, base);
    view.values =
        floats ? kept<float>(ctx, where, a.values, 0) : kept<double>(ctx, where, a.values, 0);
  }
  CallerCsr view;
  std::vector<std::shared_ptr<void>> owners;
};

class CallerTypes : public OnEachBackend {
 protected:
  static Csr<double> rounded(Csr<double> a) {
    for (double& v : a.values) v = static_cast<float>(v);
    return a;
  }
  std::vector<Space> places() {
    if (ctx().space() == Space::host) return {Space::host};
    return {Space::host, ctx().space()};
  }
};
TCSOLVE_ON_EACH_BACKEND(CallerTypes);

TEST_P(CallerTypes, GiveTheBitsOfACopyInOurs) {
  Csr<double> const first = csr(at_time(0)), second = csr(at_time(1));
  Column const b = random_column(first.rows, 3);
  SolverOptions const options{.solver = "cg", .preconditioner = "jacobi", .matrix_operator = "csr"};
  for (Space const where : places())
    for (int types = 0; types < 16; ++types) {
      bool const offsets = types & 1, columns = types & 2, floats = types & 4;
      int const base = types >> 3;
      SCOPED_TRACE(cat(name(where), ", offsets ", offsets ? 64 : 32, ", columns ",
                       columns ? 64 : 32, ", values ", floats ? 32 : 64, ", base ", base));
      CallerArrays const a(ctx(), where, first, offsets, columns, floats, base);
      CallerArrays const c(ctx(), where, second, offsets, columns, floats, base);
      for (Arrays const arrays : {Arrays::copied, Arrays::borrowed}) {
        LinearSolver solver(ctx(), options);
        solver.set_matrix(a.view, arrays);
        LinearSolver plain(ctx(), floats ? rounded(first).view() : first.view(), options);
        Column x = Column::Zero(first.rows), y = x;
        SolveReport const report = solve(solver, b, x);
        EXPECT_TRUE(report.converged()) << report.message;
        expect_same(report, x, solve(plain, b, y), y);
        solver.update_values(c.view);
        plain.update_values(floats ? rounded(second).view() : second.view());
        x.setZero(), y.setZero();
        expect_same(solve(solver, b, x), x, solve(plain, b, y), y);
      }
    }
}

// A solver that borrows plain arrays and then gets others converts these, and keeps the copy.
TEST_P(CallerTypes, AreKeptByASolverThatBorrows) {
  Csr<double> const first = csr(at_time(0)), second = csr(at_time(1));
  Column const b = random_column(first.rows, 3);
  LinearSolver solver(ctx(), first.view(), {.solver = "cg", .matrix_operator = "csr"},
                      Arrays::borrowed);
  {
    CallerArrays const c(ctx(), ctx().space(), second, true, true, false, 1);
    solver.update_values(c.view);
  }
  Column x = Column::Zero(first.rows);
  EXPECT_TRUE(solve(solver, b, x).converged());
  expect_solved(at_time(1), b, x, 1e-8);
}

TEST_P(CallerTypes, NameWhatIsWrong) {
  Csr<double> const good = csr(at_time(0));
  LinearSolver solver(ctx(), SolverOptions{.solver = "cg"});
  for (Space const where : places()) {
    Csr<double> bad = good;
    bad.columns[3] = bad.cols;
    CallerArrays const beyond(ctx(), where, bad, true, true, false, 1);
    EXPECT_THAT(message_of<MatrixError>([&] { solver.set_matrix(beyond.view); }),
                testing::HasSubstr(where == Space::host ? "row 1" : "entry 4"));
    EXPECT_FALSE(solver.ready());
    CallerArrays a(ctx(), where, good, false, false, true, 0);
    a.view.base = 2;
    EXPECT_THAT(message_of<ShapeError>([&] { solver.set_matrix(a.view); }),
                testing::HasSubstr("base = 2"));
    a.view.base = 0, a.view.columns.type = NumberKind::f32;
    EXPECT_THAT(message_of<ShapeError>([&] { solver.set_matrix(a.view); }),
                testing::HasSubstr("columns are integers"));
    a.view.columns = {};
    EXPECT_THAT(message_of<ShapeError>([&] { solver.set_matrix(a.view); }),
                testing::HasSubstr("columns are null"));
    EXPECT_THAT(message_of<ShapeError>([&] { solver.update_values(beyond.view); }),
                testing::HasSubstr("without a matrix"));
  }
}

TEST_P(CallerTypes, OfVectorsAreWidenedAndXIsRounded) {
  Csr<double> const a = csr(at_time(0));
  Eigen::VectorXf const b = random_column(a.rows, 3).cast<float>();
  Column const wide = b.cast<double>();
  LinearSolver solver(ctx(), a.view(), {.solver = "cg", .preconditioner = "jacobi"});
  Column exact = Column::Zero(a.rows);
  EXPECT_TRUE(solve(solver, wide, exact).converged());
  auto const n = static_cast<std::size_t>(a.rows);
  Eigen::VectorXf x = Eigen::VectorXf::Zero(a.rows);
  SolveReport const report = solver.solve(std::span(b.data(), n), std::span(x.data(), n));
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_EQ(x, exact.cast<float>().eval());
  // The guess is x, unless it is not to be read.
  EXPECT_LT(solver.solve(std::span(b.data(), n), std::span(x.data(), n)).iterations,
            report.iterations / 2 + 1);
  x.setConstant(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(
      solver.solve(std::span(b.data(), n), std::span(x.data(), n), {.zero_guess = true}).iterations,
      report.iterations);
  EXPECT_EQ(x, exact.cast<float>().eval());
  Array<float> there(ctx().space(), n), y(ctx().space(), n);
  copy_bytes(ctx(), there.data(), ctx().space(), b.data(), Space::host, there.bytes());
  solver.solve(std::as_const(there).view(), y.view(), {.zero_guess = true});
  Eigen::VectorXf back(a.rows);
  copy_bytes(ctx(), back.data(), Space::host, y.data(), ctx().space(), y.bytes());
  EXPECT_EQ(back, x);
}

}  // namespace
}  // namespace tcsolve::test
