// SPDX-License-Identifier: Apache-2.0
/// What the caller knows of the unknowns, through LinearSolver: for amg by name and by auto, and
/// beside an order of the rows.
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

class Nodes : public OnEachBackend {
 protected:
  LinearSolver solver(std::string const& more = "", std::string const& keys = "") {
    return {ctx(), SolverOptions::from_yaml(cat("solver: {type: cg, rtol: 1e-9}\n",
                                                "preconditioner: {type: amg", keys, "}\n", more))};
  }
  Csr<double> const solid_ = generate(ElasticityParams{.n = 9});
  Column const b_ = random_column(solid_.rows, 4);
};
TCSOLVE_ON_EACH_BACKEND(Nodes);

TEST_P(Nodes, CoordinatesMakeRigidBodyModes) {
  Column x = Column::Zero(solid_.rows), y = x;
  LinearSolver without = solver(), with = solver();
  without.set_matrix(solid_.view());
  with.set_nodes({.block = 3, .coordinates = grid_points(9)});
  with.set_matrix(solid_.view());
  SolveReport const plain = solve(without, b_, x), told = solve(with, b_, y);
  EXPECT_TRUE(plain.converged() && told.converged()) << plain.message << told.message;
  EXPECT_LT(told.iterations, plain.iterations);
  // Six vectors, not three, for the levels to hold; of the options as of the setter.
  EXPECT_NE(with.setup_report().preconditioner, without.setup_report().preconditioner);
  LinearSolver same(ctx(), {.solver = "cg",
                            .preconditioner = "amg",
                            .nodes = std::make_shared<NodeFacts const>(
                                NodeFacts{.block = 3, .coordinates = grid_points(9)})});
  same.set_matrix(solid_.view());
  EXPECT_EQ(same.setup_report().preconditioner, with.setup_report().preconditioner);
}

TEST_P(Nodes, VectorsFollowTheOrderOfTheRows) {
  Csr<double> const a = generate(Poisson7Params{.n = 14, .coefficient = Coefficient::random});
  Column const b = random_column(a.rows, 5);
  std::vector<double> z(a.rows);
  for (Index i = 0; i < a.rows; ++i) z[i] = std::exp(std::sin(0.7 * i));
  // With D A D the vector D^-1 e takes the place of e: in another order of the rows it does not.
  Csr<double> scaled = a;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      scaled.values[k] = a.values[k] / (z[i] * z[a.columns[k]]);
  std::vector<Index> iterations;
  for (std::string const order : {"none", "rcm", "rcm"}) {
    LinearSolver s = solver(cat("operator: {format: csr, reorder: ", order, "}\n"),
                            ", near_nullspace: {keep: true}");
    bool const right = iterations.size() < 2;
    s.set_nodes({.near_nullspace = {right ? z : std::vector<double>(z.size(), 1.0)}});
    s.set_matrix(scaled.view());
    Column x = Column::Zero(a.rows);
    SolveReport const report = solve(s, b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    iterations.push_back(report.iterations);
  }
  EXPECT_LE(std::abs(iterations[0] - iterations[1]), 3) << iterations[0] << " " << iterations[1];
  EXPECT_GT(iterations[2], 3 * iterations[1] / 2) << "a wrong vector costs more";
}

TEST_P(Nodes, AnOrderOfSingleRowsIsRefusedBesideThem) {
  LinearSolver s = solver("operator: {reorder: rcm}\n");
  s.set_nodes({.block = 3, .coordinates = grid_points(9)});
  // Rows of the generator are in an order that rcm changes.
  EXPECT_THAT(message_of<ConfigError>([&] { s.set_matrix(solid_.view()); }),
              testing::HasSubstr("'operator.reorder' moves the rows"));
  LinearSolver file(ctx(), SolverOptions::from_yaml(
                               "solver: {type: cg}\noperator: {reorder: rcm}\npreconditioner: "
                               "{type: amg, near_nullspace: {files: [z.txt]}}\n"));
  EXPECT_THAT(message_of<ConfigError>([&] { file.set_matrix(solid_.view()); }),
              testing::HasSubstr("near_nullspace.files"));
  LinearSolver block(ctx(), SolverOptions::from_yaml(
                                "solver: {type: cg}\noperator: {reorder: rcm}\npreconditioner: "
                                "{type: amg, near_nullspace: {block: 3}}\n"));
  EXPECT_THAT(message_of<ConfigError>([&] { block.set_matrix(solid_.view()); }),
              testing::HasSubstr("moves the rows that near_nullspace.block goes by"));
  // An order that is left to auto is then none.
  LinearSolver open = solver("operator: {reorder: auto}\n");
  open.set_nodes({.block = 3, .coordinates = grid_points(9)});
  open.set_matrix(solid_.view());
  EXPECT_EQ(open.setup_report().reordering->taken, Reorder::none);
}

}  // namespace
}  // namespace tcsolve::test
