// SPDX-License-Identifier: Apache-2.0
/// Whether a matrix is symmetric in its entries.
#pragma once

#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// a_ij = a_ji up to 1e-12 of their size, and one is stored where the other is; false for a matrix
/// that is not square. Of a canonical host matrix. Cost: a pass, and a position for each row.
bool is_symmetric(CsrView<double> const& a);

}  // namespace tcsolve
