// SPDX-License-Identifier: Apache-2.0
/// The fused operations of this format; its products are no such operations.
#pragma once

#include <tcsolve/formats/tiled/lines.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/residual.hpp>

namespace tcsolve {

using TiledExactOps = OpList<ExactResidual<TiledView<double>>, JoinResidual<TiledView<double>>>;

}  // namespace tcsolve
