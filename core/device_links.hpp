// SPDX-License-Identifier: Apache-2.0
/// Which devices write into each other's memory. Defined in core/cuda/peers.cpp, or in
/// core/cuda_absent.cpp.
#pragma once

namespace tcsolve::cuda {

/// Whether kernels of device `ordinal` reach the memory of device `other`; false where there is
/// none, true for itself.
bool reaches(int ordinal, int other) noexcept;
/// For tests: none reaches that of another one from now on.
void refuse_peer_access(bool) noexcept;

}  // namespace tcsolve::cuda
