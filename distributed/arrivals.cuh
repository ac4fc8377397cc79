// SPDX-License-Identifier: Apache-2.0
/// What operations do with the halo between devices (distributed/peer_halo.hpp).
///
/// A value is a post (kernels/cuda/posts.cuh) whose tag is the turn, all of 32 bits: who reads it
/// waits until its tag is there, and no fence and no flag tell that it is. What a turn overwrites
/// has been read: `taken` is two turns behind at most.
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/distributed/arrivals.hpp>
#include <tcsolve/kernels/cuda/posts.cuh>
#include <tcsolve/kernels/cuda/rank_sums.cuh>

namespace tcsolve::cuda {

/// A word that one rank writes and another one looks at, on a line of its own.
struct alignas(128) Turn {
  std::uint32_t last;
};

__device__ inline std::uint32_t turn_after_last(std::uint32_t const* last) {
  return *static_cast<std::uint32_t const volatile*>(last) + 1;
}

/// The turn that is to be sent.
__device__ inline std::uint32_t next_turn(Sending const& out) { return turn_after_last(out.turn); }
/// Until there is room for it. By every thread that sends.
__device__ inline void wait_for_room(Sending const& out, std::uint32_t turn) {
  std::uint64_t began = 0;
  for (std::uint32_t left = out.receivers; left != 0; left &= left - 1) {
    Turn const* const taken = out.taken + (__ffs(left) - 1);
    for (unsigned int looks = 1;; ++looks) {
      std::uint32_t last;
      asm volatile("ld.relaxed.sys.global.u32 %0, [%1];"
                   : "=r"(last)
                   : "l"(&taken->last)
                   : "memory");
      if (static_cast<std::int32_t>(last - (turn - 2)) >= 0) break;
      if (looks % 256 == 0 && gives_up(*out.ranks, began)) break;
    }
  }
}
__device__ inline void send(Sending const& out, std::uint32_t turn, std::int64_t k, double value) {
  Post* const there = out.goes[k] + turn % 2 * out.room;
  wait_for_room(out, turn);
  write<Reach::system>(there, make_post(value, turn));
}

__device__ inline Arrivals begin_turn(Arriving const& in) {
  std::uint32_t const turn = turn_after_last(in.turn);
  return {in.came + turn % 2 * in.room, turn, in.ranks};
}
__device__ inline Post look(Arrivals const& in, std::int64_t e) {
  return read<Reach::system>(in.at + e);
}
/// Value e, of which `post` has been seen.
__device__ inline double wait_for(Arrivals const& in, std::int64_t e, Post post) {
  std::uint64_t began = 0;
  auto const is_here = [&](std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32) == in.turn;
  };
  for (unsigned int looks = 1; !is_here(post.low) || !is_here(post.high); ++looks) {
    if (looks % 256 == 0 && gives_up(*in.ranks, began))
      return __longlong_as_double(0x7ff8000000000000ll);
    post = look(in, e);
  }
  return sum_of(post);
}
/// The sum of 2^shift adjacent threads, in the first.
__device__ inline double sum_of_lanes(double a, int shift) {
  int const lanes = 1 << shift, lane = static_cast<int>(threadIdx.x % 32);
  std::uint32_t const together = (lanes == 32 ? ~0u : (1u << lanes) - 1) << (lane & ~(lanes - 1));
  for (int offset = lanes / 2; offset > 0; offset /= 2)
    a += __shfl_down_sync(together, a, offset, lanes);
  return a;
}
/// What came has been read by all threads of all blocks: a value that has been added has. By one
/// thread of the device; the next turn begins where its words are seen.
__device__ inline void end_turn(Arriving const& in) {
  std::uint32_t const turn = turn_after_last(in.turn);
  *in.turn = turn;
  for (int s = 0; s < in.senders; ++s)
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(&in.takes[s]->last), "r"(turn)
                 : "memory");
}

}  // namespace tcsolve::cuda
