// SPDX-License-Identifier: Apache-2.0
/// The kernel of solvers/loop/persistent.hpp. Its team is the grid of a device, or the grids of the
/// devices of several ranks.
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/cuda/posts.cuh>
#include <tcsolve/kernels/cuda/rank_sums.cuh>
#include <tcsolve/loop_teams.cuh>
#include <tcsolve/solvers/loop/open_loop.hpp>
#include <tcsolve/solvers/loop/persistent.hpp>
#include <tcsolve/solvers/loop/program.hpp>

namespace tcsolve::cuda {

constexpr int persistent_block = 512;  // threads
constexpr int most_persistent_blocks =
    160;  // each lane of a warp reads up to five posts of a device

constexpr int most_kept_vectors = 16;

/// The layout of the dynamic shared memory, the same in every block.
struct SharedLayout {
  int length;         // instructions
  int scalar_bytes;   // at 0
  int program;        // position of the instructions
  std::int64_t n;     // of the kept vectors
  int kept, written;  // how many there are; the first of them are copied back
  void* vectors[most_kept_vectors];
  int positions[most_kept_vectors];
  void const* table;  // OpFacts::table of a product
  int table_bytes, table_position;
};

/// The kernel for the ranks of several devices (persistent_ranks.cu).
void const* persistent_over_ranks();

namespace {

constexpr int block_size = persistent_block;
constexpr int warps = block_size / 32;
constexpr int max_blocks = most_persistent_blocks;

__device__ void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/// The blocks of the grid, as one of them sees it.
struct GridTeam {
  static constexpr int threads = block_size;
  static constexpr bool over_ranks = false;
  std::int64_t begin, end;  // of the operation in hand
  TeamMemory<threads>& memory;
  Post* posts;  // (2, max_sums, blocks): two sets in turn
  std::int32_t const* cancel;
  LoopState* state;    // this block's
  std::uint32_t turn;  // of the last exchange, also of earlier launches
  RankMail const* mail = nullptr;
  /// The elements of the operation in hand that are this block's.
  __device__ void take(Instruction const& in) {
    begin = in.begin(blockIdx.x);
    end = in.end(blockIdx.x);
  }
  /// Of a warp that reads no posts where sums are few.
  static constexpr int meanwhile_thread = block_size - 64;

  /// Sums, in every block; and the cancel word. A barrier of the grid: every block posts, and reads
  /// the posts of all, so that one way to the cache and back is both. The fences, which cost half
  /// as much again (docs/results/cg-h200.md), only where another block reads vectors next. No fence
  /// guards a vector that others still gather: a value that has been added has been read.
  template <class V, class Meanwhile = Nothing>
  __device__ void exchange(int count, bool publish, Meanwhile const& meanwhile = {}) {
    static_assert(!OpTraits<V>::maximum);
    constexpr int words = max_blocks / 32;
    TeamMemory<threads>& s = memory;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, blocks = gridDim.x;
    bool asks = blockIdx.x == 0 && threadIdx.x == block_size - 1;
    turn = turn_after(turn);
    Post* set = posts + (turn % 2) * max_sums * blocks;
    int rows = count > 0 ? count : 1;
    __syncthreads();
    for (int k = warp; k < rows; k += warps) {
      double a = warp_combine<Add, warps>(lane < warps && k < count ? s.part[k][lane] : 0.0);
      if (lane != 0) continue;
      if (publish) fence();  // what this block wrote is seen before its post
      std::uint32_t word = blockIdx.x == 0 ? static_cast<std::uint32_t>(s.cancel) : 0;
      write<Reach::device>(set + k * blocks + blockIdx.x, make_post(a, turn | word << turn_bits));
    }
    std::int32_t word = asks ? *(std::int32_t const volatile*)cancel : 0;  // for the next exchange
    if (threadIdx.x == meanwhile_thread) meanwhile();
    for (int k = warp; k < rows; k += warps) {
      Post const* row = set + k * blocks + lane;
      Post post[words];
      std::uint32_t const nobody = turn - 1;
#pragma unroll
      for (int j = 0; j < words; ++j)
        post[j] = make_post(0, lane + 32 * j < blocks ? nobody : turn);
      for (bool all = false; !all;) {
        all = true;
#pragma unroll
        for (int j = 0; j < words; ++j)
          if (!belongs(post[j], turn)) post[j] = read<Reach::device>(row + 32 * j);
#pragma unroll
        for (int j = 0; j < words; ++j) all = all && belongs(post[j], turn);
        all = __all_sync(~0u, all);
      }
      // What the others wrote before their posts is seen from here on: every lane has read some.
      if (publish) fence();
      double a = 0;
      add_parts<Add>([&](int j, int) { return sum_of(post[j]); }, 0, words, 1, &a);
      a = warp_combine<Add>(a);
      if (lane != 0) continue;
      if (k < count) s.total[k] = a;
      if (k == 0) state->cancel = word_of(post[0]);
    }
    __syncthreads();
    if (asks) s.cancel = word;
  }
};

/// The blocks of all ranks' grids. Each posts its sums to every rank, so that a sum over ranks is
/// one way over the link, without a second round. A barrier is the device's own.
struct RanksTeam : GridTeam {
  static constexpr bool over_ranks = true;
  int rank, ranks;
  Post *here, *there;  // the posts of this rank, and of the one that a lane posts to
  std::uint32_t rank_turn;

  __device__ RanksTeam(GridTeam const& team)
      : GridTeam(team), rank(mail->rank), ranks(mail->ranks), rank_turn(*mail->turn) {
    int const lane = static_cast<int>(threadIdx.x % 32);
    here = reinterpret_cast<Post*>(mail->posts[rank]);
    there = reinterpret_cast<Post*>(mail->posts[lane < ranks ? lane : rank]);
  }

  /// Where the posts of all ranks' block b begin, in the order in which they are added.
  __device__ std::int64_t place(int k, int block) const {
    std::int64_t const blocks = gridDim.x;
    return (rank_turn % 2 * RankMail::capacity + k * blocks + block) * ranks;
  }

  template <class V, class Meanwhile = Nothing>
  __device__ void exchange(int count, bool publish, Meanwhile const& meanwhile = {}) {
    if (count == 0) return GridTeam::exchange<V>(0, publish);
    static_assert(!OpTraits<V>::maximum);
    constexpr int words = 2 * max_blocks / 32;  // the posts of two ranks at once
    TeamMemory<threads>& s = memory;
    int const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int const all = static_cast<int>(gridDim.x) * ranks;
    bool const asks = blockIdx.x == 0 && threadIdx.x == block_size - 1;
    rank_turn = turn_after(rank_turn);
    __syncthreads();
    for (int k = warp; k < count; k += warps) {
      double a = warp_combine<Add, warps>(lane < warps ? s.part[k][lane] : 0.0);
      a = __shfl_sync(~0u, a, 0);
      if (publish && lane == 0) fence();
      __syncwarp();
      std::uint32_t const word = blockIdx.x == 0 ? static_cast<std::uint32_t>(s.cancel) : 0;
      if (lane < ranks)
        write<Reach::system>(there + place(k, blockIdx.x) + rank,
                             make_post(a, rank_turn | word << turn_bits));
    }
    std::int32_t const word = asks ? *(std::int32_t const volatile*)cancel : 0;
    if (threadIdx.x == meanwhile_thread) meanwhile();
    for (int k = warp; k < count; k += warps) {
      Post const* const row = here + place(k, 0);
      double a = 0;
      int agreed = 0;
      for (int first = lane; first - lane < all; first += 32 * words) {
        Post post[words];
        std::uint32_t const nobody = rank_turn - 1;
#pragma unroll
        for (int j = 0; j < words; ++j)
          post[j] = make_post(0, first + 32 * j < all ? nobody : rank_turn);
        std::uint64_t began = 0;
        unsigned int looks = 0;
        for (bool missing = true; missing;) {
          missing = false;
#pragma unroll
          for (int j = 0; j < words; ++j)
            if (!belongs(post[j], rank_turn)) post[j] = read<Reach::system>(row + first + 32 * j);
#pragma unroll
          for (int j = 0; j < words; ++j) missing = missing || !belongs(post[j], rank_turn);
          if (missing && ++looks % 256 == 0 && gives_up(*mail, began)) {
            a = __longlong_as_double(0x7ff8000000000000ll);
            break;
          }
        }
        add_parts<Add>([&](int j, int) { return sum_of(post[j]); }, 0, words, 1, &a);
#pragma unroll
        for (int j = 0; j < words; ++j) agreed = max(agreed, word_of(post[j]));
      }
      __syncwarp();
      if (publish) fence();
      a = warp_combine<Add>(a);
      agreed = __reduce_max_sync(~0u, agreed);
      if (lane != 0) continue;
      s.total[k] = a;
      if (k == 0) state->agreed = agreed;
    }
    __syncthreads();
    if (asks) s.cancel = word;
  }
};

/// Block b's stretch of n elements, as Instruction::begin() has it where it is not empty.
__device__ void stretch(std::int64_t n, std::int64_t& begin, std::int64_t& end) {
  std::int64_t each = ((n + gridDim.x - 1) / gridDim.x + 31) / 32 * 32;
  begin = blockIdx.x * each;
  end = begin + each < n ? begin + each : n;
}

/// One block a multiprocessor.
template <class T, class Team>
__global__ void __launch_bounds__(block_size, 1)
    persistent_kernel(SharedLayout layout, Instruction const* program, LoopState* state,
                      std::byte* scalars, Post* posts, std::uint32_t* turn, RankMail const* mail,
                      OpenLoop open) {
  __shared__ TeamMemory<block_size> s;
  LoopState& mine = *reinterpret_cast<LoopState*>(s.state);
  Instruction* list = at<Instruction>(layout.program);
  auto copy = [](void* to, void const* from, std::int64_t bytes) {
    for (std::int64_t i = threadIdx.x; i < bytes / 8; i += block_size)
      static_cast<double*>(to)[i] = static_cast<double const*>(from)[i];
  };
  auto copy_values = [](T* to, T const* from, std::int64_t count) {
    for (std::int64_t i = threadIdx.x; i < count; i += block_size) to[i] = from[i];
  };
  static_assert(sizeof(LoopState) % 8 == 0 && sizeof(Instruction) % 8 == 0);
  std::int64_t begin, end;
  stretch(layout.n, begin, end);
  copy(dynamic, scalars, layout.scalar_bytes);
  copy(list, program, layout.length * sizeof(Instruction));
  copy(&mine, state, sizeof(LoopState));
  copy(at<std::byte>(layout.table_position), layout.table, layout.table_bytes);
  for (int k = 0; k < layout.kept; ++k)
    if (begin < end)
      copy_values(at<T>(layout.positions[k]), static_cast<T*>(layout.vectors[k]) + begin,
                  end - begin);
  if (threadIdx.x == 0) s.cancel = 0;
  __syncthreads();
  if (open.state != nullptr && threadIdx.x == 0) {  // the same in every block
    mine = open.opened();
    if (blockIdx.x == 0) open.tell(mine);
  }
  // Pointers to what is kept become pointers to this block's copy of it. A vector's is moved back,
  // so that element i of the stretch has the address it should.
  constexpr int words = Instruction::max_operands / 8;
  for (int i = threadIdx.x; i < layout.length * words; i += block_size) {
    if (!list[i / words].points(i % words)) continue;
    auto& word = reinterpret_cast<std::uintptr_t*>(list[i / words].operands)[i % words];
    auto low = reinterpret_cast<std::uintptr_t>(scalars);
    if (word >= low && word < low + layout.scalar_bytes)
      word = reinterpret_cast<std::uintptr_t>(dynamic) + (word - low);
    if (layout.table_bytes > 0 && word == reinterpret_cast<std::uintptr_t>(layout.table))
      word = reinterpret_cast<std::uintptr_t>(dynamic) + layout.table_position;
    for (int k = 0; k < layout.kept; ++k)
      if (word == reinterpret_cast<std::uintptr_t>(layout.vectors[k]))
        word = reinterpret_cast<std::uintptr_t>(at<T>(layout.positions[k])) - begin * sizeof(T);
  }
  __syncthreads();
  Team team{GridTeam{begin, end, s, posts, &state->cancel, &mine, *turn, mail}};
  for (int k = 0; k < layout.length; ++k)
    if (list[k].cache.capacity > 0) {
      team.take(list[k]);
      load(*reinterpret_cast<CsrMultiply<T, T> const*>(list[k].operands), list[k].cache, team);
      break;  // one matrix
    }

  Frame f{&mine, threadIdx.x == 0, blockIdx.x == 0};
  for (int k = 0;; k = k + 1 < layout.length ? k + 1 : 0) {
    bool stopped = mine.stop != 0;
    __syncthreads();  // all have read it before this operation may raise it
    if (stopped && k == 0) break;
    if (list[k].barrier && !stopped) team.template exchange<Add>(0, true);
    team.take(list[k]);
    pick<LoopOps<T>>(list[k].op, [&]<class V>() {
      if constexpr (Team::over_ranks || !OpFacts<V>::spread)  // those are what ranks exchange
        run(*reinterpret_cast<V const*>(list[k].operands), list[k], f, stopped, team);
    });
  }
  for (int k = 0; k < layout.written; ++k)
    if (begin < end)
      copy_values(static_cast<T*>(layout.vectors[k]) + begin, at<T>(layout.positions[k]),
                  end - begin);
  if (blockIdx.x == 0) {
    copy(scalars, dynamic, layout.scalar_bytes);
    copy(state, &mine, sizeof(LoopState));
    if (threadIdx.x == 0) {
      *turn = team.turn;
      if constexpr (Team::over_ranks) *mail->turn = team.rank_turn;
    }
  }
}

}  // namespace

}  // namespace tcsolve::cuda
