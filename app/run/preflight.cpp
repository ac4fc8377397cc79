// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/preflight.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/matrix/symmetry.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tcsolve {
namespace {

double entry(Csr<double> const& A, Index i, Index j) {
  auto const columns = A.row_columns(i);
  auto const found = std::lower_bound(columns.begin(), columns.end(), j);
  if (found == columns.end() || *found != j) return 0;
  return A.row_values(i)[static_cast<std::size_t>(found - columns.begin())];
}

}  // namespace

std::int64_t sampled_stride(std::int64_t rows) {
  constexpr std::int64_t most_rows = 2000;
  return std::max<std::int64_t>(1, rows / most_rows);
}

std::string asymmetry_text(Index i, Index j, double a, double mirrored) {
  return cat("a(", std::int64_t{i} + 1, ", ", std::int64_t{j} + 1, ") = ", a, " but a(",
             std::int64_t{j} + 1, ", ", std::int64_t{i} + 1, ") = ", mirrored);
}

namespace {

/// The first pair found that differs by more than rounding, as text.
std::string asymmetry(Csr<double> const& A) {
  for (std::int64_t row = 0; row < A.rows; row += sampled_stride(A.rows)) {
    Index const i = static_cast<Index>(row);
    auto const columns = A.row_columns(i);
    double const scale = row_scale(A.view(), i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      double const a = A.row_values(i)[k], mirrored = entry(A, columns[k], i);
      if (std::abs(a - mirrored) > 0 &&
          !are_mirrors(a, mirrored, scale, row_scale(A.view(), columns[k])))
        return asymmetry_text(i, columns[k], a, mirrored);
    }
  }
  return "";
}

}  // namespace

MatrixLook look_at(Csr<double> const& A) {
  MatrixLook look{.square = A.rows == A.cols};
  if (!look.square) return look;
  look.asymmetry = asymmetry(A);
  for (Index i = 0; i < A.rows && !look.diagonal; ++i)
    if (double const diagonal = entry(A, i, i); !(diagonal > 0)) look.diagonal = {i, diagonal};
  return look;
}

std::vector<std::string> system_warnings(SystemFacts const& facts, Index rows,
                                         std::span<double const> b) {
  std::vector<std::string> warnings;
  std::size_t const n = static_cast<std::size_t>(rows);
  for (std::size_t first = 0; n > 0 && first + n <= b.size(); first += n)
    if (std::string const text = facts.contradiction(b.data() + first); !text.empty()) {
      warnings.push_back(n == b.size() ? text : cat("column ", first / n + 1, " of b: ", text));
      break;
    }
  if (std::string const text = facts.text(); !text.empty()) warnings.push_back(text);
  return warnings;
}

std::vector<std::string> preflight(Solver const& method, PreconditionerFactory const& M,
                                   std::function<MatrixLook()> const& look) {
  std::vector<std::string> warnings;
  SolverNeeds const needs = method.needs();
  std::string const solver = method.name();
  if (needs.fixed_preconditioner && !M.is_fixed()) warnings.push_back(warning_of_varying(solver));
  bool const definite = needs.definite || M.needs_definite();
  if (!needs.symmetric && !definite) return warnings;
  auto const [square, asymmetry, diagonal] = look();
  if (!square) return warnings;
  std::string const who = needs.symmetric || needs.definite ? solver : "the preconditioner";
  if (!asymmetry.empty())
    warnings.push_back(cat(who, " needs a symmetric matrix; here ", asymmetry, "; use ",
                           who == solver ? "gmres or bicgstab" : "jacobi or block_jacobi"));
  if (definite && diagonal)
    warnings.push_back(cat(needs.definite ? solver : "the preconditioner",
                           " needs a positive definite matrix; here a(", diagonal->first + 1, ", ",
                           diagonal->first + 1, ") = ", diagonal->second, "; use ",
                           !needs.definite      ? "jacobi or block_jacobi"
                           : !asymmetry.empty() ? "gmres or bicgstab"
                                                : "minres, or gmres"));
  return warnings;
}

}  // namespace tcsolve
