// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/shared_memory.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/kernels/cuda/posts.cuh>
#include <tcsolve/loop_teams.cuh>
#include <tcsolve/solvers/loop/persistent.hpp>
#include <tcsolve/solvers/loop/program.hpp>

#include <algorithm>

namespace tcsolve::cuda {

namespace {

constexpr int block_size = 512;
constexpr int warps = block_size / 32;
constexpr int max_blocks = 160;  // each lane of a warp reads up to five posts

__device__ void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/// The blocks of the grid, as one of them sees it.
struct GridTeam {
  static constexpr int threads = block_size;
  std::int64_t begin, end;  // whole warps of 32, so that slices stay together
  TeamMemory<threads>& memory;
  Post* posts;  // (2, max_sums, blocks): two sets in turn
  std::int32_t const* cancel;
  LoopState* state;    // this block's
  std::uint32_t turn;  // of the last exchange, also of earlier launches

  /// Sums, in every block; and the cancel word. A barrier of the grid: every block posts, and reads
  /// the posts of all, so that one way to the cache and back is both. The fences, which cost half
  /// as much again (docs/results/cg-h200.md), only where another block reads vectors next. No fence
  /// guards a vector that others still gather: a value that has been added has been read.
  template <class V>
  __device__ void exchange(int count, bool publish) {
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

/// Block b's stretch of n elements.
__device__ void stretch(std::int64_t n, std::int64_t& begin, std::int64_t& end) {
  std::int64_t each = ((n + gridDim.x - 1) / gridDim.x + 31) / 32 * 32;
  begin = blockIdx.x * each;
  end = begin + each < n ? begin + each : n;
}

constexpr int max_kept = 16;  // vectors

/// The layout of the dynamic shared memory, the same in every block.
struct SharedLayout {
  int length;         // instructions
  int scalar_bytes;   // at 0
  int program;        // position of the instructions
  std::int64_t n;     // of the kept vectors
  int kept, written;  // how many there are; the first of them are copied back
  void* vectors[max_kept];
  int positions[max_kept];
  void const* table;  // OpFacts::table of a product
  int table_bytes, table_position;
};

/// One block a multiprocessor.
template <class T>
__global__ void __launch_bounds__(block_size, 1)
    persistent_kernel(SharedLayout layout, Instruction const* program, LoopState* state,
                      std::byte* scalars, Post* posts, std::uint32_t* turn) {
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
  GridTeam team{begin, end, s, posts, &state->cancel, &mine, *turn};
  for (int k = 0; k < layout.length; ++k)
    if (list[k].cache.capacity > 0) {
      load(*reinterpret_cast<CsrMultiply<T, T> const*>(list[k].operands), list[k].cache, team);
      break;  // one matrix
    }

  Frame f{&mine, threadIdx.x == 0, blockIdx.x == 0};
  for (int k = 0;; k = k + 1 < layout.length ? k + 1 : 0) {
    bool stopped = mine.stop != 0;
    __syncthreads();  // all have read it before this operation may raise it
    if (stopped && k == 0) break;
    if (list[k].barrier && !stopped) team.template exchange<Add>(0, true);
    pick<LoopOps<T>>(list[k].op, [&]<class V>() {
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
    if (threadIdx.x == 0) *turn = team.turn;
  }
}

/// Guards the kernel's shared memory size, an attribute of the kernel and not of a launch: each
/// loop sets its own before it launches, since what is left over serves as L1.
std::mutex& kernel_size() {
  static std::mutex mutex;
  return mutex;
}

int round16(std::int64_t bytes) { return static_cast<int>((bytes + 15) / 16 * 16); }

}  // namespace

class PersistentLoop {
 public:
  SharedLayout layout{};
  Array<Instruction> program;
  int blocks = 0, shared = 0;
  LoopState* state = nullptr;
  std::byte* scalars = nullptr;
  Array<Post> posts;
  Array<std::uint32_t> turn;
  void const* kernel = nullptr;
};

namespace {

/// Whether the device runs all blocks at once, as the exchange between them needs.
bool fits(Device& on, PersistentLoop const& loop) {
  std::lock_guard<std::mutex> const held(kernel_size());
  set_shared(loop.kernel, loop.shared);
  int each = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, loop.kernel, block_size, loop.shared));
  return each * on.properties.multiProcessorCount >= loop.blocks;
}

}  // namespace

std::shared_ptr<PersistentLoop> make_persistent(Device& on, Recording const& body, LoopState* state,
                                                CloseOperands const& kept, std::string& why) {
  Current const current(on);
  int cooperative = 0;
  check(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, on.ordinal));
  if (cooperative == 0) {
    why = "the device has no cooperative launches";
    return nullptr;
  }
  if (kept.scalars.empty() || kept.scalars.size() % 8 != 0) {
    why = "the method does not name its scalars";
    return nullptr;
  }
  auto loop = std::make_shared<PersistentLoop>();
  loop->blocks = std::min(on.properties.multiProcessorCount, max_blocks);
  LoopProgram assembly = loop_program(body, loop->blocks, block_size, kept.vectors);
  if (auto few = static_cast<int>((assembly.n + 31) / 32); few < loop->blocks) {
    loop->blocks = std::max(1, few);  // a block has a warp's rows at least
    assembly = loop_program(body, loop->blocks, block_size, kept.vectors);
  }
  if (!assembly.why.empty()) {
    why = assembly.why;
    return nullptr;
  }
  bool const floats = assembly.vectors == Real::f32;
  loop->kernel = floats ? reinterpret_cast<void const*>(persistent_kernel<float>)
                        : reinterpret_cast<void const*>(persistent_kernel<double>);
  int const each = floats ? sizeof(float) : sizeof(double);  // bytes of an element
  auto& program = assembly.list;
  SharedLayout& layout = loop->layout;
  layout.length = static_cast<int>(program.size());
  layout.scalar_bytes = static_cast<int>(kept.scalars.size());
  layout.program = round16(layout.scalar_bytes);
  layout.n = assembly.n;
  std::int64_t room = static_cast<std::int64_t>(on.properties.sharedMemPerBlockOptin) -
                      static_cast<std::int64_t>(sizeof(TeamMemory<block_size>)) - 1024;
  std::int64_t used = round16(layout.program + layout.length * sizeof(Instruction));
  if (static_cast<std::int64_t>(kept.scalars.size()) > room || used > room) {
    why = "its scalars exceed the shared memory";
    return nullptr;
  }
  if (auto const table = assembly.table;
      static_cast<std::int64_t>(table.size()) <= (room - used) / 4) {
    layout.table = table.data();
    layout.table_bytes = static_cast<int>(table.size());
    layout.table_position = static_cast<int>(used);
    used = round16(used + layout.table_bytes);
  }
  std::int64_t rows = (assembly.n + loop->blocks - 1) / loop->blocks;
  rows = (rows + 31) / 32 * 32;
  auto keep = [&](void const* v) {
    bool shared_out =
        std::find(assembly.gathered.begin(), assembly.gathered.end(), v) != assembly.gathered.end();
    if (v == nullptr || shared_out || uses(program, v) == 0 || layout.kept == max_kept ||
        used + each * rows > room)
      return;
    layout.vectors[layout.kept] = const_cast<void*>(v);
    layout.positions[layout.kept++] = static_cast<int>(used);
    used = round16(used + each * rows);
  };
  for (void const* v : kept.vectors) keep(v);
  layout.written = layout.kept;
  for (void const* v : kept.constants) keep(v);
  // The rest of the room for the matrix, when a fair part of it fits.
  RowCache cache{};
  if (assembly.matrix >= 0) {
    std::byte const* const product = program[assembly.matrix].operands;
    Offset const all =
        floats ? reinterpret_cast<CsrMultiply<float, float> const*>(product)->a.entries
               : reinterpret_cast<CsrMultiply<double, double> const*>(product)->a.entries;
    cache.offsets = static_cast<int>(used);
    std::int64_t after = round16(used + 4 * (rows + 1)), entries = (room - after - 32) / (4 + each);
    std::int64_t wanted = assembly.n > 0 ? 2 * all / assembly.n * rows + 64 : 0;
    entries = std::min(entries, wanted);  // twice the average stretch is room enough
    if (entries > 0 && entries * loop->blocks * 8 >= all) {
      cache.columns = static_cast<int>(after);
      cache.values = round16(after + 4 * entries);
      cache.capacity = static_cast<int>(entries);
      used = cache.values + each * entries;
    }
  }
  for (Instruction& in : program) in.cache = in.cache.capacity != 0 ? cache : RowCache{};
  loop->shared = round16(used);
  loop->state = state;
  loop->scalars = kept.scalars.data();
  if (!fits(on, *loop)) {
    why = cat("the device does not run its ", loop->blocks, " blocks at once");
    return nullptr;
  }
  loop->program = Array<Instruction>(on.space(), program.size());
  copy(on, loop->program.data(), program.data(), loop->program.bytes());
  loop->posts = Array<Post>(on.space(), std::size_t{2} * max_sums * loop->blocks);
  loop->turn = Array<std::uint32_t>(on.space(), 1);
  check(cudaMemsetAsync(loop->posts.data(), 0, loop->posts.bytes(), on.stream));
  check(cudaMemsetAsync(loop->turn.data(), 0, loop->turn.bytes(), on.stream));
  return loop;
}

bool launch(Device& on, PersistentLoop& loop, std::string& why) {
  Current const current(on);
  auto* program = loop.program.data();
  auto* posts = loop.posts.data();
  auto* turn = loop.turn.data();
  void* arguments[] = {&loop.layout, &program, &loop.state, &loop.scalars, &posts, &turn};
  std::lock_guard<std::mutex> const held(kernel_size());
  set_shared(loop.kernel, loop.shared);
  cudaError_t const code =
      faults::cooperative_launches_refused()
          ? cudaErrorCooperativeLaunchTooLarge
          : cudaLaunchCooperativeKernel(loop.kernel, dim3(loop.blocks), dim3(block_size), arguments,
                                        loop.shared, on.stream);
  if (code == cudaErrorCooperativeLaunchTooLarge || code == cudaErrorLaunchOutOfResources) {
    cudaGetLastError();
    why = cudaGetErrorString(code);
    return false;
  }
  check(code);
  return true;
}

}  // namespace tcsolve::cuda
