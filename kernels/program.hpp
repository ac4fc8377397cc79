// SPDX-License-Identifier: Apache-2.0
/// A recording as an interpreter reads it: the verbs by number, with their operands. Who interprets
/// (the grid of kernels/persistent.hpp, the teams of kernels/batch.hpp) runs the verbs' own
/// functions; here is only the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <tcsolve/core/recording.hpp>
#include <tcsolve/kernels/verb_list.hpp>
#include <tcsolve/kernels/verbs/csr.hpp>
#include <tcsolve/kernels/views/diagonal.hpp>

namespace tcsolve {

constexpr int max_sums = 128;  ///< that one exchange of a team carries

/// Rows of a CSR matrix in shared memory, as byte positions in the dynamic part.
struct RowCache {
  int offsets, columns, values;
  int capacity;  // entries there is room for; 0: none
};

struct Instruction {
  static constexpr int max_operands = 256;  // bytes
  int verb;                                 // position in the list of verbs
  int barrier;                              // the team waits before it, and sees what was written
  int publish;                              // its sums make the team see what was written
  int lanes;                                // threads that share a row of a product, >= 1
  RowCache cache;
  std::uint32_t pointers;    // bit k: the operands' k-th word of 8 bytes is a pointer
  Diagonal<double> through;  // a product reads x through it, if d is not null
  alignas(16) std::byte operands[max_operands];

  TCSOLVE_HD bool points(int word) const { return (pointers >> word & 1) != 0; }
};

template <class... V>
struct VerbList {
  static constexpr int size = sizeof...(V);
  template <int k>
  using At = std::tuple_element_t<k, std::tuple<V...>>;
};

/// What a persistent loop can do.
template <class T>
using LoopVerbs =
    VerbList<Extend<T>, Descend<T>, Dot<T>, Dot2<T>, Multiply<T>, MultiplyDot<T>, Axpby<T, T>,
             CsrMultiply<T, T>, SellMultiply<T, T>, SellMultiplyDot<T, T>, DiaMultiply<T, T>,
             DiaMultiplyDot<T, T>, BlockMultiply<T>, BicgDirection<T>, BicgHalf<T>, BicgFull<T>,
             Gram<T>, ArnoldiUpdate<T>, OneReduction<T>, GearUpdate<T>, PipelinedUpdate<T>,
             Observe>;

/// What a team of a batch can do: whole solves, by cg, bicgstab and gmres.
using BatchVerbs =
    VerbList<Extend<double>, Descend<double>, Dot<double>, Dot2<double>, Multiply<double>,
             MultiplyDot<double>, Axpby<double, double>, CsrMultiply<double, double>,
             BlockMultiply<double>, BicgShadow<double>, BicgDirection<double>, BicgHalf<double>,
             BicgFull<double>, Gram<double>, ArnoldiUpdate<double>, Observe, CgStart<double>,
             CgFinish<double>, CgExplain<double>, ArnoldiStart<double>, BackSubstitute,
             Combine<double>, MaxRowSum<double>, JudgeStart, JudgeZero, JudgeScale, JudgeCycle,
             JudgeTrial, JudgeVerdict, JudgeKeep, ExactResidual<CsrView<double>>>;

/// f.template operator()<V>() for the k-th verb of a list: a jump, not a chain of comparisons.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class List, class F>
TCSOLVE_HD void pick(int k, F const& f) {
  static_assert(List::size <= 32);
#define TCSOLVE_CASE(n)                                                                   \
  case n:                                                                                 \
    if constexpr (n < List::size) f.template operator()<typename List::template At<n>>(); \
    break;
#define TCSOLVE_CASES(n) TCSOLVE_CASE(n) TCSOLVE_CASE(n + 1) TCSOLVE_CASE(n + 2) TCSOLVE_CASE(n + 3)
  switch (k) {
    TCSOLVE_CASES(0)
    TCSOLVE_CASES(4)
    TCSOLVE_CASES(8)
    TCSOLVE_CASES(12) TCSOLVE_CASES(16) TCSOLVE_CASES(20) TCSOLVE_CASES(24) TCSOLVE_CASES(28)
  }
#undef TCSOLVE_CASES
#undef TCSOLVE_CASE
}

/// How many words of the operands point to v.
int uses(std::vector<Instruction> const&, void const* v);

/// A recorded loop for a grid of so many blocks.
struct LoopProgram {
  std::vector<Instruction> list;
  std::vector<void const*> gathered;  // vectors that products read
  std::int64_t n = 0;                 // size of every vector
  int matrix = -1;                    // first instruction that is a CSR product
  std::span<std::byte const> table;   // of the first verb that has one
  std::string why;                    // it cannot be done
};
/// Where the grid has to wait, and for what, is marked, and (capacity 1) where the first CSR matrix
/// is read; how much room there is for it, the caller says. `block`: threads of a block.
///
/// y = A z, z = D x, where z is one of `own` (KeptOperands::vectors) and is read here only: A
/// multiplies x through D, and z is not made. That saves a barrier between the two.
LoopProgram loop_program(Recording const& body, int blocks, int block,
                         std::span<double* const> own = {});

/// A recording for the teams of a batch; `repeats`: it is run over and over, so its end meets its
/// beginning. Throws Unsupported naming a command that they do not know.
struct BatchList {
  std::vector<Instruction> list;
  std::vector<void const*> gathered;
};
BatchList batch_program(Recording const&, bool repeats = false);

}  // namespace tcsolve
