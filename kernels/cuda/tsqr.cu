// SPDX-License-Identifier: Apache-2.0
/// Householder QR of blocks on the device (kernels/tsqr.hpp): a block of threads a strip, which
/// stays in the second-level cache where it fits.
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/loop_state.hpp>
#include <tcsolve/kernels/tsqr.hpp>

namespace tcsolve::cuda {

namespace {

constexpr int strip_block = 256;

template <class V>
__global__ void __launch_bounds__(strip_block) strip_kernel(V op, LoopState const* state) {
  if (state != nullptr && state->stop != 0) return;
  if (op.q.wanted != nullptr && *op.q.wanted == 0) return;
  __shared__ double scratch[2 * strip_block];
  op.run(SmallTeam{static_cast<int>(threadIdx.x), strip_block}, static_cast<Index>(blockIdx.x),
         scratch);
}

template <class V>
void launch(Device& on, LoopState* state, V const& op, Index strips) {
  strip_kernel<<<static_cast<unsigned int>(strips), strip_block, 0, on.stream>>>(op, state);
  check(cudaGetLastError());
}

}  // namespace

Index tsqr_strips(Device& on, std::int64_t n, Index w) {
  std::int64_t const most = on.properties.multiProcessorCount, wanted = n / (4 * (w > 0 ? w : 1));
  return static_cast<Index>(wanted < 1 ? 1 : wanted > most ? most : wanted);
}

void execute(Device& on, LoopState* state, TsqrLeaves const& op) {
  launch(on, state, op, op.q.strips);
}
void execute(Device& on, LoopState* state, TsqrReduce const& op) { launch(on, state, op, 1); }
void execute(Device& on, LoopState* state, TsqrRoot const& op) { launch(on, state, op, 1); }
void execute(Device& on, LoopState* state, TsqrSpread const& op) { launch(on, state, op, 1); }
void execute(Device& on, LoopState* state, TsqrForm const& op) {
  launch(on, state, op, op.q.strips);
}

}  // namespace tcsolve::cuda
