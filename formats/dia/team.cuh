// SPDX-License-Identifier: Apache-2.0
/// The products with diagonals by the threads of a team.
#pragma once

#include <tcsolve/formats/dia/ops.hpp>
#include <tcsolve/kernels/loop/team.cuh>

namespace tcsolve::cuda {

/// sum_r += the entries of row i + r step in four diagonals times x: dia_add() of several rows, all
/// of whose loads are on their way at once. Rows from `end` on are read as row i, and mean nothing.
template <int rows, class S, class X, class T>
__device__ __forceinline__ void add_to_rows(DiaView<S> const& a, DiaDiagonal const* diagonals,
                                            Index i, Index step, Index end, X x,
                                            std::int64_t stride, T (&sum)[rows]) {
  S value[4][rows];
  T xj[4][rows];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    DiaDiagonal const d = diagonals[k];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      Index const row = i + r * step < end ? i + r * step : i;
      value[k][r] = read_only(a.values + d.start + min(row, d.last));
      xj[k][r] = x[std::int64_t{min(max(row + d.offset, 0), a.cols - 1)} * stride];
    }
  }
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (!is_padding(value[k][r])) sum[r] += T(value[k][r]) * xj[k][r];
}

/// write(i, x_i, sum over row i of a_ij x_j) with a thread for several rows: a block alone on its
/// multiprocessor waits for loads, the longer the fewer of them it has on their way.
template <int rows, class S, class X, class Team, class Write>
__device__ void each_of_many_rows(DiaView<S> const& a, X x, std::int64_t stride, Team const& team,
                                  Write const& write) {
  using T = std::remove_cvref_t<decltype(x[0])>;
  auto const end = static_cast<Index>(team.end);
  for (auto i = static_cast<Index>(team.begin + threadIdx.x); i < end; i += rows * Team::threads) {
    T sum[rows] = {};
    for (Index k = 0; k < a.count; k += 4)
      add_to_rows(a, a.diagonals + k, i, Team::threads, end, x, stride, sum);
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (Index const row = i + r * Team::threads; row < end) write(row, x[row * stride], sum[r]);
  }
}

/// write(i, x_i, sum over row i of a_ij x_j), `lanes` threads a row.
template <class S, class X, class Team, class Write>
__device__ void each_row(DiaView<S> const& a, X x, std::int64_t stride, int lanes, Team const& team,
                         Write const& write) {
  if (team.end - team.begin > 2 * Team::threads)
    return each_of_many_rows<4>(a, x, stride, team, write);
  if (team.end - team.begin > Team::threads) return each_of_many_rows<2>(a, x, stride, team, write);
  RowShare<Team> const share(lanes);
  for (std::int64_t base = team.begin + share.first_of_warp(); base < team.end;
       base += share.stride) {
    std::int64_t const row = base + share.in_warp(), i = row < team.end ? row : team.begin;
    auto const own = x[i * stride];
    auto sum = dia_row(a, i, x, stride, share.lane, lanes);
    for (int offset = lanes >> 1; offset > 0; offset >>= 1)
      sum += __shfl_down_sync(~0u, sum, offset, lanes);
    if (row < team.end && share.lane == 0) write(i, own, sum);
  }
}
template <class S, class T, class Team>
__device__ void run(DiaMultiply<S, T> const op, Instruction const& in, Frame, bool stopped,
                    Team& team) {
  if (stopped) return;
  with_gathered(in, op.x.data, [&](auto x) {
    each_row(op.a, x, op.x.row_stride, in.lanes, team, [&](std::int64_t i, T, T sum) {
      op.y[i] = op.beta == T(0) ? op.alpha * sum : op.alpha * sum + op.beta * op.y[i];
    });
  });
  __syncthreads();
}
template <class S, class T, class Team>
__device__ void run(DiaMultiplyDot<S, T> const op, Instruction const& in, Frame f, bool stopped,
                    Team& team) {
  if (stopped) return;
  double sigma[1] = {};
  each_row(op.a, op.x, 1, in.lanes, team, [&](std::int64_t i, T own, T sum) {
    T const yi = op.alpha * sum;
    op.y[i] = yi;
    sigma[0] += double(own) * double(yi);
  });
  add_up<Add>(sigma, in, team);
  if (f.lead) op.finish(f, team.memory.total);
  __syncthreads();
}

}  // namespace tcsolve::cuda
