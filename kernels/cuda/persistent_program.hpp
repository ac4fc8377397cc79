// SPDX-License-Identifier: Apache-2.0
/// A recorded loop as the persistent kernel reads it: the verbs by number, with their operands, and
/// where the grid has to wait.
#pragma once

#include <string>
#include <vector>

#include <tcsolve/core/recording.hpp>
#include <tcsolve/kernels/verb_list.hpp>
#include <tcsolve/kernels/verbs/csr.hpp>

namespace tcsolve::cuda::persistent {

constexpr int block_size = 512;
constexpr int warps = block_size / 32;
constexpr int max_sums = 64;       // of one exchange
constexpr int max_blocks = 160;    // each lane of a warp reads up to five posts
constexpr int max_operands = 256;  // bytes

/// Rows of a CSR matrix in shared memory, as byte positions in the dynamic part.
struct Cache {
  int offsets, columns, values;
  int capacity;  // entries there is room for; 0: none
};

struct Instruction {
  int verb;     // position in Verbs
  int barrier;  // the grid waits before it
  int lanes;    // threads that share a row of a CSR product
  Cache cache;
  alignas(16) std::byte operands[max_operands];
};

template <class... V>
struct List {};
/// What the kernel can do.
template <class T>
using Verbs =
    List<Extend<T>, Descend<T>, Dot<T>, Dot2<T>, Multiply<T>, MultiplyDot<T>, Axpby<T, T>,
         CsrMultiply<T, T>, SellMultiply<T, T>, SellMultiplyDot<T, T>, BlockMultiply<T>,
         BicgDirection<T>, BicgHalf<T>, BicgFull<T>, Gram<T>, Orthogonalize<T>, ArnoldiNext<T>,
         RotateHessenberg, OneReduction<T>, GearUpdate<T>, PipelinedUpdate<T>, Observe>;

template <class V>
constexpr bool gathers = false;  // reads elements that other blocks own
template <class S, class T>
constexpr bool gathers<CsrMultiply<S, T>> = true;
template <class S, class T>
constexpr bool gathers<SellMultiply<S, T>> = true;
template <class S, class T>
constexpr bool gathers<SellMultiplyDot<S, T>> = true;
template <class T>
constexpr bool gathers<BlockMultiply<T>> = true;

template <class V>
constexpr bool only_sums = false;  // writes nothing but its sums
template <class T>
constexpr bool only_sums<Dot<T>> = true;
template <class T>
constexpr bool only_sums<Dot2<T>> = true;
template <class T>
constexpr bool only_sums<Gram<T>> = true;

template <class V>
constexpr bool exchanges = VerbTraits<V>::sums > 0;
template <class T>
constexpr bool exchanges<Gram<T>> = true;

struct Assembly {
  std::vector<Instruction> program;
  std::vector<void const*> gathered;
  std::int64_t n = 0;  // size of every vector
  int matrix = -1;     // first instruction that is a CSR product
  std::string why;     // it cannot be done
};

/// The list for a grid of so many blocks. Caches are marked where the first CSR matrix is read
/// (capacity 1); how much room there is, the caller says.
Assembly assemble(Recording const& body, int blocks);

}  // namespace tcsolve::cuda::persistent
