// SPDX-License-Identifier: Apache-2.0
/// A program that assembles with deal.II (and so links Trilinos, with a Kokkos of its own) and
/// hands its vectors to tcsolve.
#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>
#include <deal.II/numerics/matrix_tools.h>
#include <deal.II/numerics/vector_tools.h>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/solvers/cg/cg.hpp>

#include <algorithm>
#include <cstdio>
#include <span>

int main(int argc, char** argv) {
  dealii::Utilities::MPI::MPI_InitFinalize const mpi(argc, argv, 2);
  dealii::Triangulation<3> mesh;
  dealii::GridGenerator::hyper_cube(mesh);
  mesh.refine_global(4);
  dealii::FE_Q<3> const element(1);
  dealii::DoFHandler<3> dofs(mesh);
  dofs.distribute_dofs(element);
  dealii::AffineConstraints<double> boundary;
  dealii::DoFTools::make_zero_boundary_constraints(dofs, boundary);
  boundary.close();
  dealii::DynamicSparsityPattern entries(dofs.n_dofs());
  dealii::DoFTools::make_sparsity_pattern(dofs, entries, boundary);
  dealii::SparsityPattern pattern;
  pattern.copy_from(entries);
  dealii::SparseMatrix<double> A(pattern);
  dealii::Vector<double> b(dofs.n_dofs()), x(dofs.n_dofs()), r(dofs.n_dofs());
  dealii::QGauss<3> const quadrature(2);
  dealii::Functions::ConstantFunction<3> const one(1.0);
  dealii::MatrixCreator::create_laplace_matrix(
      dofs, quadrature, A, one, b, static_cast<dealii::Function<3>*>(nullptr), boundary);

  // deal.II stores the diagonal first and hides its arrays: rows are copied and sorted.
  tcsolve::Csr<double> a;
  a.rows = a.cols = static_cast<tcsolve::Index>(A.m());
  for (tcsolve::Index i = 0; i < a.rows; ++i) {
    std::vector<std::pair<tcsolve::Index, double>> row;
    for (auto entry = A.begin(i); entry != A.end(i); ++entry)
      row.emplace_back(static_cast<tcsolve::Index>(entry->column()), entry->value());
    std::sort(row.begin(), row.end());
    for (auto const& [column, value] : row) {
      a.columns.push_back(column);
      a.values.push_back(value);
    }
    a.offsets.push_back(a.entries());
  }
  tcsolve::LinearSolver solver(a.view(),
                               {.solver = "cg", .backend = tcsolve::Backend::host, .threads = 2});
  tcsolve::SolveReport const report = solver.solve(std::span<double const>(b.begin(), b.size()),
                                                   std::span<double>(x.begin(), x.size()));
  std::printf("%s\n", report.message.c_str());
  // By deal.II's own product.
  A.vmult(r, x);
  r -= b;
  return report.converged() && r.l2_norm() <= 1.01e-8 * b.l2_norm() ? 0 : 1;
}
