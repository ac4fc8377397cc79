// SPDX-License-Identifier: Apache-2.0
/// A program that assembles with MFEM and solves with tcsolve: Laplace's equation, symmetric, then
/// with convection, and in a time loop.
#include <tcsolve_mfem.hpp>

#include <cstdio>

namespace {

double residual(mfem::SparseMatrix const& A, mfem::Vector const& b, mfem::Vector const& x,
                bool transpose) {
  mfem::Vector r(b.Size());
  if (transpose)
    A.MultTranspose(x, r);
  else
    A.Mult(x, r);
  r -= b;
  return r.Norml2() / b.Norml2();
}

}  // namespace

int main() {
  mfem::Mesh mesh = mfem::Mesh::MakeCartesian2D(20, 20, mfem::Element::QUADRILATERAL);
  mfem::H1_FECollection const elements(2, 2);
  mfem::FiniteElementSpace space(&mesh, &elements);
  mfem::Array<int> boundary, marker(mesh.bdr_attributes.Max());
  marker = 1;
  space.GetEssentialTrueDofs(marker, boundary);
  mfem::ConstantCoefficient one(1.0);
  mfem::LinearForm f(&space);
  f.AddDomainIntegrator(new mfem::DomainLFIntegrator(one));
  f.Assemble();
  mfem::GridFunction u(&space);
  u = 0.0;
  mfem::BilinearForm laplace(&space);
  laplace.AddDomainIntegrator(new mfem::DiffusionIntegrator(one));
  laplace.Assemble();
  mfem::SparseMatrix A;
  mfem::Vector b, x;
  laplace.FormLinearSystem(boundary, u, f, A, x, b);

  bool right = true;
  tcsolve::mfem::Solver solver(
      "{backend: host, threads: 2, solver: {type: cg}, preconditioner: {type: ic}}");
  for (int step = 0; step < 3; ++step) {
    solver.SetOperator(A);
    solver.Mult(b, x);
    std::printf("%s\n", solver.report().message.c_str());
    right = right && solver.report().solved() && residual(A, b, x, false) <= 1.01e-8;
    A *= 1.5;
  }
  right = right && solver.solver().setup_report().updates == 2;
  laplace.RecoverFEMSolution(x, f, u);

  mfem::Vector wind(2);
  wind = 3.0;
  mfem::VectorConstantCoefficient flow(wind);
  mfem::BilinearForm convection(&space);
  convection.AddDomainIntegrator(new mfem::DiffusionIntegrator(one));
  convection.AddDomainIntegrator(new mfem::ConvectionIntegrator(flow));
  convection.Assemble();
  mfem::SparseMatrix B;
  convection.FormLinearSystem(boundary, u, f, B, x, b);
  tcsolve::mfem::Solver other(
      "{backend: host, threads: 2, solver: {type: gmres}, preconditioner: {type: ilu}}");
  other.SetOperator(B);
  other.Mult(b, x);
  right = right && residual(B, b, x, false) <= 1.01e-8;
  other.MultTranspose(b, x);
  right = right && residual(B, b, x, true) <= 1.01e-8;
  other.iterative_mode = true;  // from the answer
  other.MultTranspose(b, x);
  right = right && other.report().iterations == 0;
  std::printf("%s\n", other.report().message.c_str());
  return right ? 0 : 1;
}
