// SPDX-License-Identifier: Apache-2.0
/// A look at the matrix before the solve: what a method needs and the matrix has not.
#pragma once

#include <tcsolve/api/system_facts.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/solvers/solver.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tcsolve {

/// What the system is without any method: equations `0 = b_i`, empty rows and columns, the
/// structural rank as far as it is known. b: with one or more columns of so many rows.
std::vector<std::string> system_warnings(SystemFacts const&, Index rows, std::span<double const> b);

/// Of a square matrix: the first pair of entries that differ by more than rounding, as text (""
/// where none was found), and the first row whose diagonal is not positive, with that.
struct MatrixLook {
  bool square = false;
  std::string asymmetry;
  std::optional<std::pair<Index, double>> diagonal;
};
/// Symmetry is tested in at most 2000 rows spread evenly, so silence proves nothing. Cost: one pass
/// over the rows' diagonals, no memory.
MatrixLook look_at(Csr<double> const& A);
/// Rows from one that is tested to the next, the first of them row 0.
std::int64_t sampled_stride(std::int64_t rows);
/// "a(1, 2) = 3 but a(2, 1) = 4".
std::string asymmetry_text(Index i, Index j, double a, double mirrored);

/// Warnings for a method or a preconditioner that needs a symmetric matrix and is given another
/// one, or a definite one where the diagonal is not positive, and for a method that needs M to be
/// one linear map where M solves a system of its own. look: asked at most once, and where it
/// matters.
std::vector<std::string> preflight(Solver const& method, PreconditionerFactory const& M,
                                   std::function<MatrixLook()> const& look);

}  // namespace tcsolve
