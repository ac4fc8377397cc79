// SPDX-License-Identifier: Apache-2.0
/// The fused operations of this format; its products are no such operations.
#pragma once

#include <tcsolve/formats/bittcf/lines.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/residual.hpp>

namespace tcsolve {

using BittcfExactOps = OpList<ExactResidual<BittcfView<double>>>;

}  // namespace tcsolve
