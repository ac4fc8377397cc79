// SPDX-License-Identifier: Apache-2.0
/// The product with the inverse of the coarsest level by the threads of a team: a warp a row, whose
/// lanes make the sums that SymmetricProduct::element() adds up by the same tree.
#pragma once

#include <tcsolve/kernels/loop/team.cuh>
#include <tcsolve/precond/amg/ops.hpp>

namespace tcsolve::cuda {

template <class T, class Team>
__device__ void run(SymmetricProduct<T> const op, Instruction const&, Frame, bool stopped,
                    Team& team) {
  if (stopped) return;
  static_assert(SymmetricProduct<T>::parts == 32);
  int const lane = static_cast<int>(threadIdx.x % 32);
  for (std::int64_t i = team.begin + threadIdx.x / 32; i < team.end; i += Team::threads / 32) {
    T const* const g = op.G + i * op.rows;
    double sum = 0;
    for (Index j = lane; j < op.rows; j += 32) sum += double(g[j]) * double(op.x[j]);
    sum = warp_combine<Add>(sum);
    if (lane == 0) op.store(i, sum);
  }
  __syncthreads();
}

}  // namespace tcsolve::cuda
