// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/rank_link.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/solvers/loop/graph.hpp>

#include <cstddef>

namespace tcsolve::cuda {

class WhileGraph {
 public:
  ~WhileGraph() {
    if (executable) cudaGraphExecDestroy(executable);
    if (graph) cudaGraphDestroy(graph);
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
};

namespace {

/// Why the driver cannot run a loop by itself; empty where it can. A program that was built with a
/// newer toolkit runs with an older driver of the same major version, which may not have them.
std::string lacks_conditional_nodes() {
  constexpr int first = 12030;
  int driver = 0;
  check(cudaDriverGetVersion(&driver));
  if (faults::conditional_nodes_forgotten()) driver = first - 1;
  if (driver >= first) return "";
  return cat("the driver (CUDA ", driver / 1000, ".", driver % 1000 / 10,
             ") has no conditional graph nodes; 12.3 has");
}

}  // namespace

std::shared_ptr<WhileGraph> record_while(Context& ctx, Recording const& body, LoopState* state,
                                         int steps, unsigned long long& handle, std::string& why) {
  Device& on = *ctx.device();
  Current const current(on);
  if (std::string const lacks = lacks_conditional_nodes(); !lacks.empty()) {
    why = lacks;
    return nullptr;
  }
  auto loop = std::make_shared<WhileGraph>();
  check(cudaGraphCreate(&loop->graph, 0));
  cudaGraphConditionalHandle condition;
  check(cudaGraphConditionalHandleCreate(&condition, loop->graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = condition;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
  check(cudaGraphAddNode(&node, loop->graph, nullptr, nullptr, 0, &parameters));
#else
  check(cudaGraphAddNode(&node, loop->graph, nullptr, 0, &parameters));
#endif
  cudaGraph_t inside = parameters.conditional.phGraph_out[0];
  ctx.arena().keep();  // addresses of workspace become part of the graph
  Capture const capture(on);
  // Relaxed: an operator may take workspace from the arena the first time it is applied.
  std::exception_ptr failure;
  try {
    check(cudaStreamBeginCaptureToGraph(on.stream, inside, nullptr, nullptr, 0,
                                        cudaStreamCaptureModeRelaxed));
    ctx.within(state, [&] {
      for (int i = 0; i < steps; ++i) body.run(ctx);
    });
  } catch (...) { failure = std::current_exception(); }
  cudaGraph_t captured = nullptr;
  cudaError_t ended = cudaStreamEndCapture(on.stream, &captured);
  if (failure) {
    cudaGetLastError();
    std::rethrow_exception(failure);
  }
  check(ended);
  check(cudaGraphInstantiate(&loop->executable, loop->graph, 0));
  handle = condition;
  return loop;
}

void launch(Device& on, WhileGraph& loop) {
  Current const current(on);
  check(cudaGraphLaunch(loop.executable, on.stream));
}

bool finished(Device& on, double still) {
  Current const current(on);
  cudaError_t code = cudaStreamQuery(on.stream);
  if (code == cudaErrorNotReady) {
    if (on.link) on.link->look(still);
    return false;
  }
  check(code);
  return true;
}

}  // namespace tcsolve::cuda
