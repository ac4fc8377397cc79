// SPDX-License-Identifier: Apache-2.0
/// A recorded loop as one cooperative kernel: the blocks of a grid stay on their multiprocessors
/// and run the list of operations together until the state holds a stop. For systems so small that
/// starting kernels takes longer than running them.
///
///   rows     block b owns a stretch of rows in every operation, so elementwise operations follow
///            one another without a barrier; a fused operation that gathers waits for the grid, and
///            so does one with another number of rows, e.g. of another level of a hierarchy
///   scalars  every block keeps its own copy in shared memory and computes the same decisions, so
///            nothing is broadcast
///   vectors  those that no other block reads are kept in shared memory, and of a CSR matrix as
///            many rows as there is room for
///   sums     each block posts its sum, each block reads all of them and adds them in an order
///            fixed by their number: one exchange is both the sum and the barrier. Deterministic;
///            the order differs from that of kernels/cuda/execute.cuh, and so may the last bits
///   ranks    each has such a kernel on its device, of as many blocks; a block posts to all ranks
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/kernels/loop/instruction.hpp>
#include <tcsolve/solvers/loop/open_loop.hpp>

namespace tcsolve {

/// What a loop may keep close to its threads, in the Context's space: a persistent kernel redirects
/// the operands that point there to shared memory.
struct CloseOperands {
  std::span<std::byte> scalars;  ///< the method's; empty: not named
  /// Vectors of the system's size, of the method's type, that only this loop uses while it runs.
  /// What the body writes before it reads it need not be kept afterwards.
  std::vector<void*> vectors;
  std::vector<void const*> constants;  ///< the same, never written
};

namespace cuda {

class PersistentLoop;

/// Null, and why, when a command of the body has no form in the kernel, or where the device does
/// not run that many blocks of it at once.
std::shared_ptr<PersistentLoop> make_persistent(Device&, Recording const& body, LoopState* state,
                                                CloseOperands const&, std::string& why);
/// False, and why, when there is no room for all blocks at once: nothing was launched then. The
/// kernel opens the run itself where `opens` says how.
///
/// The kernel begins when all its blocks have a multiprocessor. A kernel of someone else that keeps
/// some of them for itself, e.g. one that waits for a message, is waited for, and a stop that is
/// asked for is seen afterwards: beside such kernels choose `execution: graph`.
bool launch(Device&, PersistentLoop&, OpenLoop const* opens, std::string& why);

}  // namespace cuda

}  // namespace tcsolve
