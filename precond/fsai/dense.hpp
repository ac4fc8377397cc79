// SPDX-License-Identifier: Apache-2.0
/// The small dense systems of FSAI, on the host.
#pragma once

#include <span>
#include <vector>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/core/csr_view.hpp>

namespace tcsolve {

/// The lower triangle of A_PP, by rows, into `block` (|P|^2).
void gather(CsrView<double> const& a, std::span<Index const> P, std::vector<double>& block);

/// y with A_PP y = e_last, by Cholesky's factors in the lower triangle of `block`; false where it
/// has no positive pivots. Throws Cancelled.
bool solve_for_last(std::vector<double>& block, std::vector<double>& y, CancelFlag cancel = {});

}  // namespace tcsolve
