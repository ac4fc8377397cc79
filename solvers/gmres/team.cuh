// SPDX-License-Identifier: Apache-2.0
/// V^T [w u] by the threads of a team.
#pragma once

#include <tcsolve/kernels/loop/team.cuh>
#include <tcsolve/solvers/gmres/ops.hpp>

namespace tcsolve::cuda {

/// Warps side by side over the columns of [V u], four each, and over the rows: a team has few rows,
/// and one column after another would wait for memory as often. A sum has a place for each warp;
/// those of other columns leave nothing in it.
template <class T, class Team>
__device__ void run(Gram<T> const op, Instruction const& in, Frame f, bool stopped, Team& team) {
  if (stopped) return;
  constexpr int width = 4, warps = Team::threads / 32;
  int const j = f.step(), columns = j + 1;
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int beside = 1;
  while (beside < warps && beside * width < columns) beside *= 2;
  int const abreast = warps / beside, mine = warp % beside, row = warp / beside;
  auto const leave = [&](int k, double total) {
    for (int q = 0; q < beside; ++q) team.memory.part[k][row + q * abreast] = q == 0 ? total : 0;
  };
  for (int k0 = 0; k0 < columns; k0 += width * beside) {
    int const first = k0 + mine * width;
    T const* a[width];  // a column too many is w again, whose sums are not used
#pragma unroll
    for (int k = 0; k < width; ++k) a[k] = first + k < columns ? op.column(j, first + k) : op.w;
    double sum[2 * width] = {}, ww[1] = {};
#pragma unroll 2
    for (std::int64_t i = team.begin + 32 * row + lane; i < team.end; i += 32 * abreast) {
      double const ui = double(op.u[i]), wi = double(op.w[i]);
#pragma unroll
      for (int k = 0; k < width; ++k) {
        double const v = double(a[k][i]);
        sum[2 * k] += v * ui;
        sum[2 * k + 1] += v * wi;
      }
      ww[0] += wi * wi;
    }
    double const total = warp_sums(sum), norm2 = warp_sums(ww);
    if (lane % 4 == 0 && first + lane / 8 < columns) leave(2 * first + lane / 4, total);
    if (first == 0 && lane == 0) leave(2 * columns, norm2);
  }
  team.template exchange<Add>(op.sums(j), in.publish);
  for (int k = threadIdx.x; k < op.sums(j); k += Team::threads) op.H.sums[k] = team.memory.total[k];
  __syncthreads();
  // Another warp than the leader's makes the column of H.
  for (int k = static_cast<int>(threadIdx.x) - 32; k <= j; k += Team::threads)
    if (k >= 0) op.entry(j, k);
  if (f.lead) op.finish(f);
  __syncthreads();
}

}  // namespace tcsolve::cuda
