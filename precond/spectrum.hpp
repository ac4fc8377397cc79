// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// An estimate of the extreme eigenvalues of M A, both from within, from the Lanczos matrix of
/// `steps` steps of conjugate gradients (Saad 2003, section 6.7.3). Throws SetupError, for `who`,
/// when A or M shows itself indefinite. Cost: `steps` products with A and M, the host waits for
/// each.
struct Spectrum {
  double smallest, largest;
};
Spectrum estimate_spectrum(Context&, LinearOperator<double> const& A,
                           LinearOperator<double> const& M, int steps, char const* who);

}  // namespace tcsolve
