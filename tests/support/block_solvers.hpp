// SPDX-License-Identifier: Apache-2.0
/// Block methods by name, and solves of blocks given as dense Eigen matrices.
#pragma once

#include <tcsolve/solvers/block_cg/block_cg.hpp>
#include <tcsolve/solvers/block_gmres/block_gmres.hpp>
#include <tcsolve/solvers/pseudo_block_bicgstab/pseudo_block_bicgstab.hpp>
#include <tcsolve/solvers/pseudo_block_cg/pseudo_block_cg.hpp>
#include <tcsolve/solvers/pseudo_block_gmres/pseudo_block_gmres.hpp>

#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {

/// Those for a symmetric positive definite A.
inline constexpr char const* definite_block_methods = "block_cg pseudo_block_cg";
/// Those for any A.
inline constexpr char const* general_block_methods =
    "block_gmres pseudo_block_gmres pseudo_block_bicgstab";
inline std::vector<std::string> block_methods() {
  return methods(cat(definite_block_methods, " ", general_block_methods));
}

inline std::unique_ptr<Solver> make_block_solver(std::string const& name,
                                                 StoppingParams const& stopping,
                                                 Execution execution = Execution::eager,
                                                 int columns = 64) {
  if (name == "block_cg")
    return std::make_unique<BlockCg>(
        BlockCgParams{.stopping = stopping, .execution = execution, .columns = columns});
  if (name == "block_gmres")
    return std::make_unique<BlockGmres>(BlockGmresParams{
        .stopping = stopping, .execution = execution, .columns = std::min(columns, 16)});
  if (name == "pseudo_block_cg")
    return std::make_unique<PseudoBlockCg<>>(
        PseudoBlockCgParams{.stopping = stopping, .execution = execution, .columns = columns});
  if (name == "pseudo_block_gmres")
    return std::make_unique<PseudoBlockGmres<>>(PseudoBlockGmresParams{
        .stopping = stopping, .execution = execution, .columns = std::min(columns, 16)});
  if (name == "pseudo_block_bicgstab")
    return std::make_unique<PseudoBlockBicgstab<>>(PseudoBlockBicgstabParams{
        .stopping = stopping, .execution = execution, .columns = columns});
  throw Error("no block solver named " + name);
}

/// A X = B from X = 0.
inline std::vector<SolveReport> solve_block(Solver& solver, Matrix const& B, Matrix& X) {
  auto const n = static_cast<Index>(B.rows()), k = static_cast<Index>(B.cols());
  X = Matrix::Zero(n, k);
  return solver.solve_columns({B.data(), n, k, n, Layout::col_major},
                              {X.data(), n, k, n, Layout::col_major});
}

/// The 5-point Laplacian of m x m points.
inline Matrix grid(Index m) {
  Index const n = m * m;
  Matrix a = 4 * Matrix::Identity(n, n);
  for (Index i = 0; i < n; ++i) {
    if (i % m > 0) a(i, i - 1) = a(i - 1, i) = -1;
    if (i >= m) a(i, i - m) = a(i - m, i) = -1;
  }
  return a;
}

}  // namespace tcsolve::test
