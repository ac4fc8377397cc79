// SPDX-License-Identifier: Apache-2.0
/// Where sums of a rank's device become those of all ranks (kernels/sums.hpp), within the kernel
/// that has them: each rank posts its own to every other, and adds all posts in rank order, the
/// same bits on each.
///
///     rank 0   s_0 --> | s_0 | s_1 |  posts of rank 0   --> s_0 + s_1
///                  \/
///     rank 1   s_1 --> | s_0 | s_1 |  posts of rank 1   --> s_0 + s_1
///
/// Two sets of posts in turn: who writes turn 8 has seen every post of turn 7, whose writers have
/// read turn 6. With a post goes what this rank's host wants of the loop (LoopState::cancel), so
/// that all ranks stop at the same step. Who has waited too long, or whose host says so, goes on
/// with NaN, and the host throws (core/cuda/peers.hpp).
///
///     bytes   16 a sum to each rank; time: one way over the link, 1 to 2 us
///
/// Ranks whose kernels do not reach each other leave the sums where an all-gather takes them, and
/// the second half of the operation is another kernel (core/sums_apart.hpp):
///
///     if (!sum_over_ranks<V>(scratch, state, sum)) return;        // cut: the sums are left
///     op.finish(frame, sum);
///     --- gather_sums(on, count) ---
///     if (!take_over_ranks<V>(scratch, state, sum)) return;       // nothing was left
///     op.finish(frame, sum);
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/loop_state.hpp>
#include <tcsolve/kernels/cuda/posts.cuh>
#include <tcsolve/kernels/sums.hpp>

namespace tcsolve::cuda {

/// Whether a wait that began at `began` (0: now) is to end without what it waits for.
__device__ inline bool gives_up(RankMail const& mail, std::uint64_t& began) {
  if (*static_cast<std::int32_t volatile*>(mail.given_up) != 0) return true;
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  if (began == 0) began = now;
  if (now - began < mail.patience) return false;
  *static_cast<std::int32_t volatile*>(mail.given_up) = 1;
  return true;
}

/// What this rank's host wants of the loop.
__device__ inline std::int32_t wanted_by_host(LoopState const* state) {
  return state == nullptr ? 0 : *static_cast<std::int32_t const volatile*>(&state->cancel);
}

/// One exchange. There are other ranks.
class RankExchange {
 public:
  __device__ RankExchange(RankMail const& mail, LoopState* state)
      : mail_(mail), state_(state), turn_(turn_after(*mail.turn)) {}

  /// Sum k < RankMail::capacity of this rank. A thread for each.
  __device__ void post(int k, double mine) const {
    auto const word = wanted_by_host(state_);
    Post const post = make_post(mine, turn_ | static_cast<std::uint32_t>(word) << turn_bits);
    for (int r = 0; r < mail_.ranks; ++r) write<Reach::system>(place(r, k, mail_.rank), post);
  }
  /// The sum over all ranks, by the thread that has posted.
  template <class V>
  __device__ double take(int k) const {
    std::int32_t agreed = 0;
    double total = 0;
    auto const part = [&](int r, int) {
      Post const post = wait_for(place(mail_.rank, k, r));
      agreed = word_of(post) > agreed ? word_of(post) : agreed;
      return sum_of(post);
    };
    add_parts<V>(part, 0, mail_.ranks, 1, &total);
    if (k == 0 && state_ != nullptr) state_->agreed = agreed;
    return total;
  }
  /// By one thread, when all are taken.
  __device__ void end() const { *mail_.turn = turn_; }

 private:
  __device__ Post* place(int of, int k, int from) const {
    std::int64_t const set = std::int64_t{turn_ % 2} * RankMail::capacity;
    return reinterpret_cast<Post*>(mail_.posts[of]) + (set + k) * mail_.ranks + from;
  }
  __device__ Post wait_for(Post const* from) const {
    std::uint64_t began = 0;
    Post post = read<Reach::system>(from);
    for (unsigned int looks = 1; !belongs(post, turn_); ++looks) {
      if (looks % 256 == 0 && gives_up(mail_, began))
        return make_post(__longlong_as_double(0x7ff8000000000000ll), turn_);
      post = read<Reach::system>(from);
    }
    return post;
  }

  RankMail const& mail_;
  LoopState* state_;
  std::uint32_t turn_;
};

/// Sum k of `count`, of all ranks, from what an all-gather has brought.
template <class V>
__device__ double total_apart(SumsApart const& apart, int k, int count) {
  double total = 0;
  add_parts<V>([&](int r, int) { return apart.of(r, k, count); }, 0, apart.ranks, 1, &total);
  return total;
}
/// By one thread, when all sums are taken.
__device__ inline void end_apart(SumsApart const& apart, LoopState* state, int count) {
  if (state != nullptr) state->agreed = apart.agreed(count);
  apart.end();
}

/// A few sums that one thread has. False: they are left for the second half.
template <class V, int count>
__device__ bool sum_over_ranks(Scratch const& scratch, LoopState* state, double (&sum)[count]) {
  if (scratch.apart.cut()) {
    for (int k = 0; k < count; ++k) scratch.apart.leave(k, sum[k]);
    scratch.apart.seal(wanted_by_host(state));
    return false;
  }
  if (scratch.mail == nullptr) return true;
  RankExchange const all(*scratch.mail, state);
  for (int k = 0; k < count; ++k) all.post(k, sum[k]);
  for (int k = 0; k < count; ++k) sum[k] = all.template take<V>(k);
  all.end();
  return true;
}
/// The second half, by one thread. False: the first has not come to its sums.
template <class V, int count>
__device__ bool take_over_ranks(Scratch const& scratch, LoopState* state, double (&sum)[count]) {
  if (!scratch.apart.left()) return false;
  for (int k = 0; k < count; ++k) sum[k] = total_apart<V>(scratch.apart, k, count);
  end_apart(scratch.apart, state, count);
  return true;
}

/// sum[k] for those k < count that there(k); by all threads of a block, which see them afterwards.
/// False: they are left, where `count` of them at least are gathered.
template <class V, class There>
__device__ bool sum_over_ranks(Scratch const& scratch, LoopState* state, double* sum, int count,
                               There const& there) {
  if (scratch.apart.cut()) {
    __syncthreads();  // sums are there
    for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x))
      if (there(k)) scratch.apart.leave(k, sum[k]);
    if (threadIdx.x == 0) scratch.apart.seal(wanted_by_host(state));
    return false;
  }
  if (scratch.mail == nullptr) return true;
  int const threads = static_cast<int>(blockDim.x);
  for (int first = 0; first < count; first += RankMail::capacity) {
    int const end = min(count, first + RankMail::capacity), mine = first + threadIdx.x;
    RankExchange const all(*scratch.mail, state);
    __syncthreads();  // sums are there, and all know the turn
    for (int k = mine; k < end; k += threads)
      if (there(k)) all.post(k - first, sum[k]);
    for (int k = mine; k < end; k += threads)
      if (there(k)) sum[k] = all.template take<V>(k - first);
    __syncthreads();
    if (threadIdx.x == 0) all.end();
    __syncthreads();  // the turn is told before the next exchange asks for it
  }
  return true;
}
/// The second half, by all threads of a block: of `count` sums, of which `gathered` were gathered.
template <class V, class There>
__device__ bool take_over_ranks(Scratch const& scratch, LoopState* state, double* sum, int count,
                                int gathered, There const& there) {
  bool const left = scratch.apart.left();
  __syncthreads();
  if (!left) return false;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x))
    if (there(k)) sum[k] = total_apart<V>(scratch.apart, k, gathered);
  if (threadIdx.x == 0) end_apart(scratch.apart, state, gathered);
  __syncthreads();
  return true;
}

}  // namespace tcsolve::cuda
