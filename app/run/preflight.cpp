// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/preflight.hpp>

#include <tcsolve/api/system_facts.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/matrix/symmetry.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tcsolve {
namespace {

double entry(Csr<double> const& A, Index i, Index j) {
  auto const columns = A.row_columns(i);
  auto const found = std::lower_bound(columns.begin(), columns.end(), j);
  if (found == columns.end() || *found != j) return 0;
  return A.row_values(i)[static_cast<std::size_t>(found - columns.begin())];
}

/// The first pair found that differs by more than rounding, as text.
std::optional<std::string> asymmetry(Csr<double> const& A) {
  constexpr Index most_rows = 2000;
  Index const stride = std::max<Index>(1, A.rows / most_rows);
  for (std::int64_t row = 0; row < A.rows; row += stride) {
    Index const i = static_cast<Index>(row);
    auto const columns = A.row_columns(i);
    double const scale = row_scale(A.view(), i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      double const a = A.row_values(i)[k], mirrored = entry(A, columns[k], i);
      if (std::abs(a - mirrored) > 0 &&
          !are_mirrors(a, mirrored, scale, row_scale(A.view(), columns[k])))
        return cat("a(", i + 1, ", ", columns[k] + 1, ") = ", a, " but a(", columns[k] + 1, ", ",
                   i + 1, ") = ", mirrored);
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> system_warnings(Csr<double> const& A, std::span<double const> b,
                                         CancelFlag cancel) {
  std::vector<std::string> warnings;
  SystemFacts const facts(A.view(), cancel);
  std::size_t const rows = static_cast<std::size_t>(A.rows);
  for (std::size_t first = 0; rows > 0 && first + rows <= b.size(); first += rows)
    if (std::string const text = facts.contradiction(b.data() + first); !text.empty()) {
      warnings.push_back(rows == b.size() ? text
                                          : cat("column ", first / rows + 1, " of b: ", text));
      break;
    }
  if (std::string const text = facts.text(); !text.empty()) warnings.push_back(text);
  return warnings;
}

std::vector<std::string> preflight(Solver const& method, PreconditionerFactory const& M,
                                   Csr<double> const& A) {
  std::vector<std::string> warnings;
  SolverNeeds const needs = method.needs();
  std::string const solver = method.name();
  if (needs.fixed_preconditioner && !M.is_fixed()) warnings.push_back(warning_of_varying(solver));
  if (A.rows != A.cols) return warnings;
  bool const definite = needs.definite || M.needs_definite();
  std::string const who = needs.symmetric || needs.definite ? solver : "the preconditioner";
  auto const pair = needs.symmetric || definite ? asymmetry(A) : std::nullopt;
  if (pair)
    warnings.push_back(cat(who, " needs a symmetric matrix; here ", *pair, "; use ",
                           who == solver ? "gmres or bicgstab" : "jacobi or block_jacobi"));
  if (!definite) return warnings;
  for (Index i = 0; i < A.rows; ++i) {
    double const diagonal = entry(A, i, i);
    if (diagonal > 0) continue;
    warnings.push_back(cat(needs.definite ? solver : "the preconditioner",
                           " needs a positive definite matrix; here a(", i + 1, ", ", i + 1,
                           ") = ", diagonal, "; use ",
                           !needs.definite ? "jacobi or block_jacobi"
                           : pair          ? "gmres or bicgstab"
                                           : "minres, or gmres"));
    break;
  }
  return warnings;
}

}  // namespace tcsolve
