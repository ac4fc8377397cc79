// SPDX-License-Identifier: Apache-2.0
/// Solvers as preconditioners, for the rows of the corpus (inner_cases.cpp) and the tests of what
/// reaches them (inner_solvers.cpp).
#pragma once

#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

/// `solver` set up for A, as an operator.
OperatorPtr<double> wrapped(Context& ctx, std::shared_ptr<Solver> solver, OperatorPtr<double> A,
                            OperatorPtr<double> M = nullptr);
/// A x = b, b = (1, ..., 1), with an inner solver for M.
Problem inner(Matrix const& A, std::string const& method, StoppingParams const& stopping,
              int restart = 30);

}  // namespace tcsolve::test
