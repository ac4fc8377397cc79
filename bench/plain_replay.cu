// SPDX-License-Identifier: Apache-2.0
#include "plain_replay.hpp"

#include <tcsolve/core/cuda/device.hpp>

namespace tcsolve::bench {

using cuda::check;

struct Replay::State {
  cuda::Device& on;
  cudaGraphExec_t graph = nullptr;
  cudaEvent_t marks[2] = {};
  int marked = 0;
};

Replay::Replay(Context& ctx, Recording const& body, LoopState* state, int steps)
    : s_(new State{*ctx.device()}) {
  for (auto& m : s_->marks) check(cudaEventCreateWithFlags(&m, cudaEventDisableTiming));
  check(cudaStreamBeginCapture(s_->on.stream, cudaStreamCaptureModeThreadLocal));
  ctx.within(state, [&] {
    for (int i = 0; i < steps; ++i)
      for (Command const& c : body.commands) c.call(ctx);
  });
  cudaGraph_t graph;
  check(cudaStreamEndCapture(s_->on.stream, &graph));
  check(cudaGraphInstantiate(&s_->graph, graph, 0));
  check(cudaGraphDestroy(graph));
}

Replay::~Replay() {
  cudaGraphExecDestroy(s_->graph);
  for (auto& m : s_->marks) cudaEventDestroy(m);
}

void Replay::launch() { check(cudaGraphLaunch(s_->graph, s_->on.stream)); }
void Replay::mark() { check(cudaEventRecord(s_->marks[s_->marked++ % 2], s_->on.stream)); }
bool Replay::behind() const {
  return s_->marked < 2 || cudaEventQuery(s_->marks[s_->marked % 2]) == cudaSuccess;
}

}  // namespace tcsolve::bench
