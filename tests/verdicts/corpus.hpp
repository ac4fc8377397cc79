// SPDX-License-Identifier: Apache-2.0
/// A row of the corpus: a small system, who is to solve it, and what a careful analyst would say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {

/// A x = b from x0. Absent operators: CSR of A, no preconditioner, A itself as A_true.
struct Problem {
  Matrix A;
  Column b;
  Column x0 = {};                                             ///< empty: zero
  std::function<OperatorPtr<double>(Context&)> op = nullptr;  ///< what the solver applies for A
  std::function<OperatorPtr<double>(Context&)> M = nullptr;
  bool rounded = false;  ///< op is not A: judge by the CSR of A
  bool finite = true;  ///< false: A, b or x0 holds NaN or Inf, so there is no residual to speak of
};

/// What x must be, beside the invariants.
enum class Answer {
  any,
  untouched,  ///< the initial guess, bit by bit
  zero,       ///< 0
  solution,   ///< the solution: ||x - A^+ b|| within what the tolerance allows (A regular)
  minimiser,  ///< ||b - A x|| is the least there is, to 1e-6
};

struct Case {
  std::string name;
  std::string methods;
  std::function<Problem()> make;
  std::vector<Stop> outcome;        ///< any of these
  std::optional<Cause> cause = {};  ///< checked when given
  Answer answer = Answer::any;
  StoppingParams stopping = {};
  int restart = 30;
  std::optional<Index> most_iterations = {};
  std::optional<double> residual = {};  ///< ||b - A x|| at most, of ||b||
};

void PrintTo(Case const& c, std::ostream* out);

/// What holds of every solve, whatever the outcome.
void expect_invariants(Problem const&, SolveReport const&, Column const& x, StoppingParams const&);

/// Sets up and solves; x0 (or zero) in, the answer in x.
SolveReport run(Context&, Problem const&, Column& x, std::string const& method,
                StoppingParams const&, Execution, int restart);

/// Upwind convection with nothing flowing in or out: rows sum to 0, A nonsymmetric, index 1.
Matrix circulation(Index n);

// The tables, one file each.
std::vector<Case> trivial_cases();
std::vector<Case> definiteness_cases();
std::vector<Case> singular_cases();
std::vector<Case> breakdown_cases();
std::vector<Case> precision_cases();
std::vector<Case> nonfinite_cases();
std::vector<Case> stopping_cases();
std::vector<Case> inner_cases();
std::vector<Case> claim_cases();
std::vector<Case> best_iterate_cases();
std::vector<Case> scale_cases();
std::vector<Case> multigrid_cases();

}  // namespace tcsolve::test
