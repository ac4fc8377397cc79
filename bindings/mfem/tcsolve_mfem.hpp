// SPDX-License-Identifier: Apache-2.0
/// MFEM: an mfem::Solver of systems of mfem::SparseMatrix, for one process.
///
///     tcsolve::mfem::Solver solver("{solver: {type: cg, rtol: 1e-10}, preconditioner: {type: ic}}");
///     solver.SetOperator(A);
///     solver.Mult(b, x);                            // solver.report() has the verdict
///
/// b and x are used where MFEM has them, on a device where it has one (Device("cuda")).
/// SetOperator() with a matrix of the same pattern takes new values.
#pragma once

#include <algorithm>
#include <mfem.hpp>
#include <string>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>

namespace tcsolve::mfem {

class Solver : public ::mfem::Solver {
 public:
  /// options: YAML or JSON text with the keys of docs/reference.
  explicit Solver(std::string const& options = "{solver: auto, preconditioner: auto}")
      : solver_(SolverOptions::from_yaml(options)) {}

  /// op: a finalised SparseMatrix, which is copied. Others are an error of MFEM's.
  void SetOperator(::mfem::Operator const& op) override {
    auto const* const A = dynamic_cast<::mfem::SparseMatrix const*>(&op);
    if (A == nullptr || !A->Finalized())  // MFEM's macros look for mfem:: in tcsolve:: here
      ::mfem::mfem_error("tcsolve takes a finalised mfem::SparseMatrix");
    height = A->Height(), width = A->Width();
    int const* const offsets = A->HostReadI();
    CsrView<double> const given{
        height,     width, offsets[height], OffsetsView(offsets), A->HostReadJ(), A->HostReadData(),
        Space::host};
    Csr<double> a = canonical(given);  // MFEM's rows need not be sorted
    bool const same = solver_.ready() && a.offsets == offsets_ && a.columns == columns_;
    if (same) return solver_.update_values(a.view());
    offsets_ = a.offsets, columns_ = a.columns;
    solver_.set_matrix(std::move(a));
  }
  /// x <- an approximation of A^-1 b; x is the guess where iterative_mode says so.
  void Mult(::mfem::Vector const& b, ::mfem::Vector& x) const override { solve(b, x, false); }
  void MultTranspose(::mfem::Vector const& b, ::mfem::Vector& x) const override {
    solve(b, x, true);
  }
  SolveReport const& report() const { return report_; }
  LinearSolver& solver() { return solver_; }

 private:
  void solve(::mfem::Vector const& b, ::mfem::Vector& x, bool transpose) const {
    bool const device = ::mfem::Device::Allows(::mfem::Backend::CUDA_MASK) && b.UseDevice();
    Space const space = device ? Space::cuda : Space::host;
    double* const to = iterative_mode ? x.ReadWrite(device) : x.Write(device);
    report_ = solver_.solve(vector_view<double const>(b.Read(device), b.Size(), space),
                            vector_view(to, x.Size(), space),
                            {.transpose = transpose, .zero_guess = !iterative_mode});
    if (!report_.solved()) ::mfem::mfem_warning(("tcsolve: " + report_.message).c_str());
  }

  std::vector<Offset> offsets_;
  std::vector<Index> columns_;
  mutable LinearSolver solver_;
  mutable SolveReport report_;
};

}  // namespace tcsolve::mfem
