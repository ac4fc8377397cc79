// SPDX-License-Identifier: Apache-2.0
/// A program that assembles with deal.II (and so links Trilinos, with a Kokkos of its own) and
/// solves with tcsolve.
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

#include <tcsolve_dealii.hpp>

#include <cmath>
#include <cstdio>

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

  tcsolve::dealii::Solver solver(
      "{backend: host, threads: 2, solver: {type: cg}, preconditioner: {type: jacobi}}");
  bool right = true;
  auto const solves = [&](bool transpose) {
    x = 0.0;
    solver.solve(A, x, b, transpose);
    std::printf("%s\n", solver.report().message.c_str());
    if (transpose)
      A.Tvmult(r, x);
    else
      A.vmult(r, x);
    r -= b;
    right = right && r.l2_norm() <= 1.01e-8 * b.l2_norm();
  };
  for (int step = 0; step < 3; ++step) {  // a time loop: new values on one pattern
    solves(false);
    A *= 1.5;
  }
  right = right && solver.solver().setup_report().updates == 2;
  for (unsigned row = 0; row < A.m(); ++row)  // not symmetric any more
    for (auto entry = A.begin(row); entry != A.end(row); ++entry)
      if (entry->column() > row) entry->value() = 0.5 * entry->value();
  solver = tcsolve::dealii::Solver("{backend: host, threads: 2, solver: {type: gmres}}");
  solves(false);
  solves(true);
  tcsolve::dealii::Solver few("{backend: host, solver: {type: gmres, max_iters: 1}}");
  x = 0.0;
  try {
    few.solve(A, x, b);
    right = false;
  } catch (dealii::SolverControl::NoConvergence const& e) {
    right = right && e.last_step == 1 && few.report().outcome() == "max_iterations";
  }
  few.throws = false;
  x = 0.0;
  few.solve(A, x, b);
  right = right && !few.report().solved();
  dealii::SparsityPattern other(3, 3, 2);  // another size
  other.add(0, 1);
  other.compress();
  dealii::SparseMatrix<double> D(other);
  for (unsigned i = 0; i < 3; ++i) D.set(i, i, 2.0);
  D.set(0, 1, 1.0);
  dealii::Vector<double> y(3), one_two(3);
  one_two(0) = 5.0, one_two(1) = 2.0, one_two(2) = 4.0;
  solver.solve(D, y, one_two);
  right =
      right && std::abs(y(0) - 2) < 1e-6 && std::abs(y(1) - 1) < 1e-6 && std::abs(y(2) - 2) < 1e-6;
  return right ? 0 : 1;
}
