// SPDX-License-Identifier: Apache-2.0
/// The product with SELL-32 by the threads of a team.
#pragma once

#include <tcsolve/formats/sell/ops.hpp>
#include <tcsolve/kernels/loop/team.cuh>

namespace tcsolve::cuda {

template <class S, class T, class Team>
__device__ void run(SellMultiply<S, T> const op, Instruction const& in, Frame, bool stopped,
                    Team& team) {
  if (stopped) return;
  with_gathered(in, op.x.data, [&](auto x) {
    for (std::int64_t i = team.begin + threadIdx.x; i < team.end; i += Team::threads) {
      T const sum = sell_row(op.a, i, x, op.x.row_stride);
      op.y[i] = op.beta == T(0) ? op.alpha * sum : op.alpha * sum + op.beta * op.y[i];
    }
  });
  __syncthreads();
}

}  // namespace tcsolve::cuda
