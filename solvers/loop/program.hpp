// SPDX-License-Identifier: Apache-2.0
/// A recording as an interpreter reads it: the operations by number, with their operands. The
/// interpreters (the grid of solvers/loop/persistent.hpp, the teams of solvers/loop/batch.hpp) run
/// the operations' own functions; this file makes the list.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <tcsolve/core/precision.hpp>
#include <tcsolve/core/recording.hpp>
#include <tcsolve/kernels/loop/instruction.hpp>
#include <tcsolve/kernels/shared_ops.hpp>
#include <tcsolve/loop_rooms.hpp>

namespace tcsolve {

/// What a persistent loop can do: what the folders of formats, preconditioners and solvers name in
/// their loop_ops.hpp (the build lists these: cmake/loop_rooms.hpp.in).
template <class T>
using LoopOps = Join<SharedLoopOps<T>, LoopRooms::Loop<T>>;

/// What a team of a batch can do: whole solves, by cg, bicgstab and gmres.
using BatchOps = Join<SharedBatchOps, LoopRooms::Batch>;

/// f.template operator()<V>() for the k-th operation of a list, by one switch: a jump table on the
/// host, log2(size) comparisons on a device. A case beyond the list is empty and costs nothing.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class List, class F>
TCSOLVE_HD void pick(int k, F const& f) {
  static_assert(
      List::size <= 128,
      "the list of operations (LoopOps or BatchOps, joined from the loop_ops.hpp of all "
      "folders) is longer than pick() has cases: add TCSOLVE_CASES_32(128) and raise this 128");
#define TCSOLVE_CASE(n)                                                                   \
  case n:                                                                                 \
    if constexpr (n < List::size) f.template operator()<typename List::template At<n>>(); \
    break;
#define TCSOLVE_CASES_8(n) \
  TCSOLVE_CASE(n)          \
  TCSOLVE_CASE(n + 1)      \
  TCSOLVE_CASE(n + 2)      \
  TCSOLVE_CASE(n + 3)      \
  TCSOLVE_CASE(n + 4) TCSOLVE_CASE(n + 5) TCSOLVE_CASE(n + 6) TCSOLVE_CASE(n + 7)
#define TCSOLVE_CASES_32(n) \
  TCSOLVE_CASES_8(n) TCSOLVE_CASES_8(n + 8) TCSOLVE_CASES_8(n + 16) TCSOLVE_CASES_8(n + 24)
  switch (k) {
    TCSOLVE_CASES_32(0)
    TCSOLVE_CASES_32(32)
    TCSOLVE_CASES_32(64)
    TCSOLVE_CASES_32(96)
  }
#undef TCSOLVE_CASES_32
#undef TCSOLVE_CASES_8
#undef TCSOLVE_CASE
}

/// How many pointers among the operands equal v.
int uses(std::vector<Instruction> const&, void const* v);

/// A recorded loop for a grid of so many blocks.
struct LoopProgram {
  std::vector<Instruction> list;
  std::vector<void const*> gathered;  // vectors that products read
  std::int64_t n = 0;                 // size of the system, the most elements of an operation
  Real vectors = Real::f64;           // their type, by which operations are numbered
  int matrix = -1;                    // first instruction that is a CSR product
  int sums = 0;                       // of the instruction with most
  std::span<std::byte const> table;   // of the first operation that has one
  std::string why;                    // it cannot be done
};
/// Where the grid has to wait, and for what, is marked, and (capacity 1) where the first CSR matrix
/// is read; the caller decides how much room it gets. `block`: threads of a block.
///
/// y = A z, z = D x, where z is one of `own` (CloseOperands::vectors) and is read here only: A
/// multiplies x through D, and z is not made. That saves a barrier between the two. Of FP64 alone.
///
/// Operations may have numbers of elements of their own, as those of a hierarchy's levels have: the
/// blocks share out each number anew, and wait where they go from one to another.
///
/// A sum of this rank alone, of its part of a product, stays with the blocks for the next operation
/// with sums, which has to be one that takes it up (kernels/operation_facts.hpp, `spread`).
LoopProgram loop_program(Recording const& body, int blocks, int block,
                         std::span<void* const> own = {});

/// How often what the cache holds a step may touch as one kernel: the least of its operations'
/// (OpFacts::cache_share).
double cache_share(Recording const& body);

/// A recording for the teams of a batch; `repeats`: it is run over and over, so its end meets its
/// beginning. Throws Unsupported, naming the command, for one that is not in BatchOps.
struct BatchList {
  std::vector<Instruction> list;
  std::vector<void const*> gathered;
};
BatchList batch_program(Recording const&, bool repeats = false);

}  // namespace tcsolve
