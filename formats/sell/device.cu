// SPDX-License-Identifier: Apache-2.0
/// The products with SELL-32 on the device.
#include <tcsolve/formats/sell/ops.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>

namespace tcsolve::cuda {

template struct Executes<Join<SellProducts, SellExactOps>>;

}  // namespace tcsolve::cuda
