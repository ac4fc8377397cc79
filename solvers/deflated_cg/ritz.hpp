// SPDX-License-Identifier: Apache-2.0
/// The small eigenvalue problem of a harvest (solvers/deflated_cg/deflated_cg.hpp), on the host.
#pragma once

#include <vector>

#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Y (n x k, row-major): the eigenvectors of the k smallest theta of F y = theta G y, F and G
/// symmetric n x n, G positive semidefinite, Y^T G Y = I. Zero columns where fewer than k are
/// independent in G; empty where a number is missing.
std::vector<double> smallest_ritz(std::vector<double> const& F, std::vector<double> const& G,
                                  Index n, Index k);

}  // namespace tcsolve
