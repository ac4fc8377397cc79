// SPDX-License-Identifier: Apache-2.0
/// Householder QR of blocks on the host (kernels/tsqr.hpp): a thread a strip.
#include <tcsolve/kernels/tsqr.hpp>

#include <algorithm>
#include <vector>

#include <tcsolve/kernels/host/parallel.hpp>

namespace tcsolve::host {

namespace {

template <class V>
void run_strips(LoopState* state, V const& op, Index strips) {
  if (Frame{state, true}.stopped() || (op.q.wanted != nullptr && *op.q.wanted == 0)) return;
  parallel(strips, 2, [&](std::int64_t strip) {
    std::vector<double> scratch(static_cast<std::size_t>(ReflectionTeam::scratch(1, op.q.w)));
    op.run(SmallTeam{}, static_cast<Index>(strip), scratch.data());
  });
}

}  // namespace

/// Strips have 4 w rows or more, so that the R_s together have at most a quarter of the rows of W.
Index tsqr_strips(Host&, std::int64_t n, Index w) {
  constexpr std::int64_t most = 64;
  return static_cast<Index>(std::clamp<std::int64_t>(n / (4 * std::max<Index>(w, 1)), 1, most));
}

void execute(Host&, LoopState* state, TsqrLeaves const& op) { run_strips(state, op, op.q.strips); }
void execute(Host&, LoopState* state, TsqrReduce const& op) { run_strips(state, op, 1); }
void execute(Host&, LoopState* state, TsqrRoot const& op) { run_strips(state, op, 1); }
void execute(Host&, LoopState* state, TsqrSpread const& op) { run_strips(state, op, 1); }
void execute(Host&, LoopState* state, TsqrForm const& op) { run_strips(state, op, op.q.strips); }

}  // namespace tcsolve::host
