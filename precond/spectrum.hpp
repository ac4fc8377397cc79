// SPDX-License-Identifier: Apache-2.0
/// Extreme eigenvalues of a preconditioned operator, which polynomials in it are made for.
#pragma once

#include <limits>

#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

struct Spectrum {
  double smallest, largest;
};

/// By what callers raise an estimate of the largest: Lanczos approaches it from below.
constexpr double spectrum_margin = 1.1;

/// What is made of a direction of negative curvature.
enum class Indefinite {
  refuse,  ///< SetupError
  ignore   ///< the steps before it count; the spectrum is {1, 1} where there are none
};

/// An estimate of the extreme eigenvalues of M A from the Lanczos matrix of `steps` steps of
/// conjugate gradients (Saad 2003, section 6.7.3). Raised by the margin the largest
/// is at most `bound`, which no eigenvalue exceeds; where half of the steps have come so near to
/// that, the others are left out. Throws SetupError, with `who` in front,
/// when A or M shows itself indefinite. Cost: `steps` products with A and M, of which those with an
/// M that is a diagonal() are factors of the two passes over vectors that a step takes besides; the
/// host waits once, with a bound twice.
Spectrum estimate_spectrum(Context&, LinearOperator<double> const& A,
                           LinearOperator<double> const& M, int steps, char const* who,
                           Indefinite = Indefinite::refuse,
                           double bound = std::numeric_limits<double>::infinity());

}  // namespace tcsolve
