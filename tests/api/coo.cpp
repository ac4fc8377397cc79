// SPDX-License-Identifier: Apache-2.0
/// A matrix given by entries as element loops leave them, against the same matrix in CSR.
#include <gmock/gmock.h>

#include <tcsolve/io/generate/generators.hpp>

#include <algorithm>
#include <random>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;

/// Every entry of `a` in two halves, the second times `second`, shuffled; every tenth is left out
/// once more, with another value.
struct Parts {
  std::vector<Index> i, j;
  std::vector<double> v;

  Parts(Csr<double> const& a, double second) {
    for (Index row = 0; row < a.rows; ++row)
      for (Offset k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
        add(row, a.columns[k], 0.5 * a.values[k]);
        add(row, a.columns[k], 0.5 * second * a.values[k]);
        if (k % 10 == 0) add(row, -1, 7.0);
      }
    std::mt19937 random(3);
    std::vector<std::size_t> order(v.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::shuffle(order, random);
    Parts const sorted = *this;
    for (std::size_t k = 0; k < order.size(); ++k)
      i[k] = sorted.i[order[k]], j[k] = sorted.j[order[k]], v[k] = sorted.v[order[k]];
  }
  void add(Index row, Index column, double value) {
    i.push_back(row), j.push_back(column), v.push_back(value);
  }
  CooView view(Index n) const {
    return {n, n, static_cast<Offset>(v.size()), i.data(), j.data(), v.data(), Space::host};
  }
};

Matrix dense(Csr<double> const& a) {
  Matrix m = Matrix::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) m(i, a.columns[k]) = a.values[k];
  return m;
}

class Coo : public OnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(Coo);

TEST_P(Coo, SolvesAsTheMatrixOfItsSums) {
  Csr<double> const a = generate(Poisson27Params{.n = 7});
  Parts const once(a, 1.0), twice(a, 3.0);  // a, and 2 a: halves of powers of two are exact
  Csr<double> b_matrix = a;
  for (double& v : b_matrix.values) v *= 2;
  Column const b = random_column(a.rows, 2);
  for (std::string const options :
       {"solver: {type: cg}\noperator: {format: csr}\n",
        "solver: {type: gmres}\npreconditioner: {type: ilu}\noperator: {reorder: rcm}\n",
        "solver: {type: auto}\npreconditioner: {type: auto}\n"}) {
    SCOPED_TRACE(options);
    SolverOptions const read = SolverOptions::from_yaml(options);
    LinearSolver by_rows(ctx(), a.view(), read), by_entries(ctx(), read);
    by_entries.set_coo(once.view(a.rows));
    auto const both = [&] {
      Column x = Column::Zero(a.rows), y = x;
      SolveReport const r = solve(by_rows, b, x), s = solve(by_entries, b, y);
      EXPECT_TRUE(r.converged());
      expect_same(r, x, s, y);
    };
    both();
    by_rows.update_values(b_matrix.view());
    by_entries.update_coo(twice.v);
    both();
    by_entries.update_coo(once.v);  // and back
    by_rows.update_values(a.view());
    both();
    by_rows.update_values(b_matrix.view());
    by_entries.update_values(b_matrix.view());  // in rows
    both();
    by_entries.update_coo(once.v);
    by_rows.set_matrix(a.view());
    both();
  }
}

TEST_P(Coo, OfTheDeviceItself) {
  Csr<double> const a = generate(ConvdiffParams{.n = 6});
  Parts const parts(a, 1.0);
  There<Index> i(ctx(), parts.i), j(ctx(), parts.j);
  There<double> v(ctx(), parts.v);
  CooView there = parts.view(a.rows);
  there.i = i.data(), there.j = j.data(), there.values = v.data(), there.space = ctx().space();
  LinearSolver solver(ctx(), {.solver = "gmres", .preconditioner = "jacobi"});
  solver.set_coo(there);
  Column const b = random_column(a.rows, 2);
  Column x = Column::Zero(a.rows);
  EXPECT_TRUE(solve(solver, b, x).converged());
  expect_solved(dense(a), b, x, 1e-8);
  solver.update_coo({v.data(), parts.v.size()}, ctx().space());
  Column y = Column::Zero(a.rows);
  EXPECT_TRUE(solve(solver, b, y, {.transpose = true}).converged());
  expect_solved(dense(a).transpose(), b, y, 1e-8);
}

TEST_P(Coo, WhatIsWrongIsNamed) {
  Csr<double> const a = generate(ConvdiffParams{.n = 4});
  Parts parts(a, 1.0);
  LinearSolver solver(ctx(), {.solver = "gmres"});
  EXPECT_THROW(solver.update_coo(parts.v), ShapeError) << "no matrix";
  solver.set_matrix(a.view());
  EXPECT_THAT(message_of<ShapeError>([&] { solver.update_coo(parts.v); }), HasSubstr("set_coo"));
  solver.set_coo(parts.view(a.rows));
  EXPECT_THAT(message_of<ShapeError>([&] { solver.update_coo(std::span(parts.v).first(5)); }),
              HasSubstr("5 values"));
  parts.i[7] = a.rows;
  parts.j[7] = 0;
  EXPECT_THAT(message_of<MatrixError>([&] { solver.set_coo(parts.view(a.rows)); }),
              HasSubstr("entry 7"));
  EXPECT_TRUE(solver.ready()) << "the arrays are at fault, not the matrix before";
  solver.set_matrix(a.view());
  EXPECT_THROW(solver.update_coo(parts.v), ShapeError) << "another matrix since";
}

}  // namespace
}  // namespace tcsolve::test
