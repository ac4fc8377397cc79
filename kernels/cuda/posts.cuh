// SPDX-License-Identifier: Apache-2.0
/// A sum as a message between those who wait for each other's, blocks of a grid or devices: in
/// halves, each in a word with a tag that says which exchange it belongs to. A word is written and
/// read as one, so a sum is complete when both tags are there, whatever their order, and no fence
/// is needed.
///
///     low    tag | lower half of the sum
///     high   tag | upper half
///     tag    a word of 5 bits, that of who has written it | turn of the exchange
#pragma once

#include <cstdint>

namespace tcsolve::cuda {

struct alignas(16) Post {
  std::uint64_t low, high;
};
constexpr int turn_bits =
    27;  // of a tag; a stale post of as many exchanges ago is long overwritten
constexpr std::uint32_t turn_mask = (1u << turn_bits) - 1;

/// Posts begin with tag 0, which therefore names no turn: it goes on with the next even one, of the
/// set whose turn it is.
__device__ inline std::uint32_t turn_after(std::uint32_t turn) {
  turn = (turn + 1) & turn_mask;
  return turn == 0 ? 2 : turn;
}
__device__ inline Post make_post(double sum, std::uint32_t tag) {
  auto const bits = static_cast<std::uint64_t>(__double_as_longlong(sum));
  std::uint64_t const high = std::uint64_t{tag} << 32;
  return {high | (bits & 0xffffffffu), high | (bits >> 32)};
}
__device__ inline double sum_of(Post const& post) {
  return __longlong_as_double(static_cast<long long>((post.high << 32) | (post.low & 0xffffffffu)));
}
__device__ inline std::int32_t word_of(Post const& post) {
  return static_cast<std::int32_t>(post.low >> (32 + turn_bits));
}
__device__ inline bool belongs(Post const& post, std::uint32_t turn) {
  return (static_cast<std::uint32_t>(post.low >> 32) & turn_mask) == turn &&
         (static_cast<std::uint32_t>(post.high >> 32) & turn_mask) == turn;
}

/// Who sees a post: the blocks of the device, or other devices too.
enum class Reach { device, system };

template <Reach reach>
__device__ void write(Post* to, Post const& post) {
  if constexpr (reach == Reach::device)
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(post.low),
                 "l"(post.high)
                 : "memory");
  else
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(post.low),
                 "l"(post.high)
                 : "memory");
}
template <Reach reach>
__device__ Post read(Post const* from) {
  Post post;
  if constexpr (reach == Reach::device)
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(post.low), "=l"(post.high)
                 : "l"(from)
                 : "memory");
  else
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(post.low), "=l"(post.high)
                 : "l"(from)
                 : "memory");
  return post;
}

}  // namespace tcsolve::cuda
