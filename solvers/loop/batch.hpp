// SPDX-License-Identifier: Apache-2.0
/// Whole solves of many independent systems, side by side. The systems lie one after the other: a
/// block-diagonal matrix, vectors end to end. A team takes one system after another, each from the
/// first residual to the verdict, without waiting for other teams. All teams run one recording,
/// whose operations touch the rows of the team's system alone.
///
///   team     a thread on the host; on the device a block of threads, or, for a few large systems,
///            a cluster of up to eight blocks
///   scalars  each team has its own: operands that point to the recorded ones are redirected
///   vectors  those named in `kept` move to shared memory for the length of a solve, and of the
///            system's matrix as many rows as there is room for
///   sums     within a team, in a fixed order: a system's bits do not depend on its neighbours, but
///            for the size of the largest, to which all teams are cut
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/solvers/loop/persistent.hpp>
#include <tcsolve/solvers/loop/program.hpp>
#include <tcsolve/solvers/loop/system_state.hpp>

namespace tcsolve {

/// first; until there is a verdict: begin; until the loop stops: step; end. Between two of them the
/// team waits and sees what was written.
struct BatchProgram {
  std::vector<Instruction> list;
  struct Part {
    int begin, end;  ///< positions in the list
  } first, begin, step, end;
  std::vector<void const*> gathered;  ///< vectors that products read
  SystemState* system = nullptr;      ///< the state that operations of this system use
  CloseOperands kept;
};

/// Where the systems lie; host memory.
struct BatchExtents {
  std::vector<Index> starts;  ///< (systems + 1) first rows, the number of rows last
  Index largest = 0;          ///< rows of a system
  Offset entries = 0;         ///< of all systems
  Offset most_entries = 0;    ///< of a system
  Index count() const { return static_cast<Index>(starts.size()) - 1; }
};

namespace host {
/// Solves all systems. `asked` returns a Stop that ends them, or 0; any thread may call it.
void run_batch(Host&, BatchProgram const&, BatchExtents const&, SystemState* results,
               std::function<std::int32_t()> const& asked);
}  // namespace host

namespace cuda {

class BatchKernel;

/// Throws Unsupported when the method's scalars exceed the shared memory.
std::shared_ptr<BatchKernel> make_batch(Device&, BatchProgram const&, BatchExtents const&);
/// Starts; results() are complete when the stream is.
void launch(Device&, BatchKernel&);
/// (systems) in device memory.
SystemState const* results(BatchKernel&);
/// A Stop for all that is still running, from beside the stream.
void ask(Device&, BatchKernel&, std::int32_t stop);
/// Systems that run at the same time.
int resident(BatchKernel&);

}  // namespace cuda

}  // namespace tcsolve
