// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/choose_method.hpp>

#include <tcsolve/core/error.hpp>

namespace tcsolve {
namespace {

constexpr double rounding = 1e-12;

bool is_square(CsrSummary const& s) { return s.rows == s.cols; }
bool is_symmetric(CsrSummary const& s) { return is_square(s) && s.asymmetry <= rounding; }
bool has_positive_diagonal(CsrSummary const& s) {
  return s.zero_diagonal == 0 && s.negative_diagonal == 0;
}

}  // namespace

Method choose_method(CsrSummary const& s) {
  if (!is_square(s)) return {"lsmr", "none", "the matrix is not square: least squares"};
  if (is_symmetric(s)) {
    if (has_positive_diagonal(s))
      return {"cg", "jacobi", "the matrix is symmetric with a positive diagonal"};
    return {"minres", "none", "the matrix is symmetric, its diagonal is not positive"};
  }
  if (s.zero_diagonal == 0)
    return {"gmres", "jacobi", "the matrix is nonsymmetric with no zero on its diagonal"};
  return {"gmres", "none", "the matrix is nonsymmetric with zeros on its diagonal"};
}

std::string matrix_text(CsrSummary const& s) {
  return cat(s.rows, " x ", s.cols, ", ", s.entries, " entries, ",
             !is_square(s)     ? "not square"
             : is_symmetric(s) ? "symmetric"
                               : "nonsymmetric",
             !is_square(s)              ? ""
             : has_positive_diagonal(s) ? ", positive diagonal"
             : s.zero_diagonal > 0      ? ", zeros on the diagonal"
                                        : ", negative entries on the diagonal");
}

}  // namespace tcsolve
