// SPDX-License-Identifier: Apache-2.0
/// The products with SELL-32 by the threads of a team.
#pragma once

#include <tcsolve/formats/sell/ops.hpp>
#include <tcsolve/kernels/loop/team.cuh>

namespace tcsolve::cuda {

/// write(i, sum over row i of a_ij x_j), `lanes` threads a row; a tree within them.
template <class S, class X, class Team, class Write>
__device__ void each_row(SellView<S> const& a, X x, std::int64_t stride, int lanes,
                         Team const& team, Write const& write) {
  if (lanes == 1) {
    for (std::int64_t i = team.begin + threadIdx.x; i < team.end; i += Team::threads)
      write(i, sell_row(a, i, x, stride));
    return;
  }
  RowShare<Team> const share(lanes);
  for (std::int64_t base = team.begin + share.first_of_warp(); base < team.end;
       base += share.stride) {
    std::int64_t const row = base + share.in_warp();
    auto sum = sell_row(a, row < team.end ? row : team.begin, x, stride, {share.lane, lanes});
    for (int offset = lanes >> 1; offset > 0; offset >>= 1)
      sum += __shfl_down_sync(~0u, sum, offset, lanes);
    if (row < team.end && share.lane == 0) write(row, sum);
  }
}
template <class S, class T, class Team>
__device__ void run(SellMultiply<S, T> const op, Instruction const& in, Frame, bool stopped,
                    Team& team) {
  if (stopped) return;
  with_gathered(in, op.x.data, [&](auto x) {
    each_row(op.a, x, op.x.row_stride, in.lanes, team, [&](std::int64_t i, T sum) {
      op.y[i] = op.beta == T(0) ? op.alpha * sum : op.alpha * sum + op.beta * op.y[i];
    });
  });
  __syncthreads();
}
template <class S, class T, class Team>
__device__ void run(SellMultiplyDot<S, T> const op, Instruction const& in, Frame f, bool stopped,
                    Team& team) {
  if (stopped) return;
  double sigma[1] = {};
  each_row(op.a, op.x, 1, in.lanes, team, [&](std::int64_t i, T sum) {
    T const yi = op.alpha * sum;
    op.y[i] = yi;
    sigma[0] += double(op.x[i]) * double(yi);
  });
  add_up<Add>(sigma, in, team);
  if (f.lead) op.finish(f, team.memory.total);
  __syncthreads();
}

}  // namespace tcsolve::cuda
