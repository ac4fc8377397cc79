// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/persistent.hpp>

#include <algorithm>

#include "persistent_program.hpp"

namespace tcsolve::cuda {

using namespace persistent;

namespace {

struct Shared {
  double part[max_sums][warps];
  double total[max_sums];
  std::int32_t cancel;                             // the word of the host, as of the last exchange
  int cached_rows;                                 // of the matrix in shared memory
  alignas(16) std::byte state[sizeof(LoopState)];  // shared memory has no constructors
};

__device__ void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/// The blocks of the grid, as one of them sees it.
struct Team {
  unsigned int* arrived;  // counts up, one for each block and barrier
  double* posts;          // (2, max_sums, blocks): the sums of the blocks, two sets in turn
  std::int32_t const* cancel;
  LoopState* state;  // this block's
  unsigned int turn = 0;

  /// s.part[k][warp] -> s.total[k] for k < count, in every block; and the cancel word. Also a
  /// barrier of the grid.
  __device__ void exchange(Shared& s, int count) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, blocks = gridDim.x;
    bool asks = blockIdx.x == 0 && threadIdx.x == block_size - 1;
    double* set = posts + (turn % 2) * max_sums * blocks;
    ++turn;
    __syncthreads();
    for (int k = warp; k <= count; k += warps) {
      double a = blockIdx.x == 0 ? s.cancel : 0.0;
      if (k < count) {
        a = lane < warps ? s.part[k][lane] : 0.0;
        for (int offset = 8; offset > 0; offset /= 2) a += __shfl_down_sync(~0u, a, offset);
      }
      if (lane == 0) __stcg(set + k * blocks + blockIdx.x, a);
    }
    std::int32_t word = asks ? *(std::int32_t const volatile*)cancel : 0;  // for the next exchange
    __syncthreads();
    if (threadIdx.x == 0) {
      fence();  // what this block wrote is seen before it has arrived
      asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
      unsigned int seen;
      do asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
      while (seen < turn * blocks);
      fence();  // what the others wrote before they arrived is seen from here on
    }
    __syncthreads();
    if (asks) s.cancel = word;
    for (int k = warp; k <= count; k += warps) {
      double const* row = set + k * blocks;
      double a = 0, v[max_blocks / 32];
#pragma unroll
      for (int j = 0; j < max_blocks / 32; ++j)
        v[j] = lane + 32 * j < blocks ? __ldcg(row + lane + 32 * j) : 0.0;
#pragma unroll
      for (int j = 0; j < max_blocks / 32; ++j) a += v[j];
      for (int offset = 16; offset > 0; offset /= 2) a += __shfl_down_sync(~0u, a, offset);
      if (lane != 0) continue;
      if (k < count)
        s.total[k] = a;
      else
        state->cancel = static_cast<std::int32_t>(a);
    }
    __syncthreads();
  }
};

__device__ double warp_sum(double a) {
  for (int offset = 16; offset > 0; offset /= 2) a += __shfl_down_sync(~0u, a, offset);
  return a;
}

/// Block b's stretch of n elements: whole warps of 32, so that slices stay together.
__device__ void stretch(std::int64_t n, std::int64_t& begin, std::int64_t& end) {
  std::int64_t each = ((n + gridDim.x - 1) / gridDim.x + 31) / 32 * 32;
  begin = blockIdx.x * each;
  end = begin + each < n ? begin + each : n;
}

extern __shared__ __align__(16) std::byte dynamic[];

template <class T>
__device__ T* at(int position) {
  return reinterpret_cast<T*>(dynamic + position);
}

template <class V>
__device__ void run(V const& verb, Instruction const&, Frame f, bool stopped, Team& team,
                    Shared& s) {
  using Traits = VerbTraits<V>;
  typename CoefficientsOf<V>::type c{};
  bool go = !stopped || Traits::always;
  if constexpr (Traits::prepares) go = go && verb.prepare(f, c);
  if (go) {
    double sum[Traits::sums > 0 ? Traits::sums : 1] = {};
    std::int64_t begin, end;
    stretch(verb.n, begin, end);
    for (std::int64_t i = begin + threadIdx.x; i < end; i += block_size) verb.element(i, c, sum);
    if constexpr (Traits::sums > 0) {
      for (int k = 0; k < Traits::sums; ++k) {
        double a = warp_sum(sum[k]);
        if (threadIdx.x % 32 == 0) s.part[k][threadIdx.x / 32] = a;
      }
      team.exchange(s, Traits::sums);
    }
    if constexpr (Traits::finishes) {
      if constexpr (Traits::prepares && Traits::sums == 0)
        __syncthreads();  // coefficients are read
      if (f.lead) verb.finish(f, s.total);
    }
  }
  if constexpr (Traits::afters)
    if (f.lead) verb.after(f);
  __syncthreads();
}

/// `lanes` threads a row, a tree within them. The first rows of the stretch may lie in shared
/// memory.
template <class S, class T>
__device__ void run(CsrMultiply<S, T> const& verb, Instruction const& in, Frame f, bool stopped,
                    Team& team, Shared& s) {
  if (stopped) return;
  CsrView<S> const& a = verb.a;
  int lanes = in.lanes, lane = threadIdx.x % lanes, rows = block_size / lanes;
  std::int64_t begin, end;
  stretch(verb.n, begin, end);
  Cache const& cache = in.cache;
  for (std::int64_t first = begin; first < end; first += rows) {
    std::int64_t i = first + threadIdx.x / lanes;
    T sum = T(0);
    if (i < end) {
      if (cache.capacity > 0 && i - begin < s.cached_rows) {
        int const* offsets = at<int>(cache.offsets) + (i - begin);
        int const* columns = at<int>(cache.columns);
        S const* values = at<S>(cache.values);
        int last = offsets[1];
#pragma unroll 4
        for (int e = offsets[0] + lane; e < last; e += lanes)
          sum += T(values[e]) * verb.x[columns[e]];
      } else {
        Offset last = a.offsets[i + 1];
#pragma unroll 4
        for (Offset e = a.offsets[i] + lane; e < last; e += lanes)
          sum += T(__ldg(a.values + e)) * verb.x[__ldg(a.columns + e)];
      }
    }
    for (int offset = lanes / 2; offset > 0; offset /= 2)
      sum += __shfl_down_sync(~0u, sum, offset, lanes);
    if (i < end && lane == 0)
      verb.y[i] = verb.beta == T(0) ? verb.alpha * sum : verb.alpha * sum + verb.beta * verb.y[i];
  }
  if (verb.sigma != nullptr) {  // added in the order of Dot
    __syncthreads();
    double sigma = 0;
    for (std::int64_t i = begin + threadIdx.x; i < end; i += block_size)
      sigma += double(verb.x[i]) * double(verb.y[i]);
    sigma = warp_sum(sigma);
    if (threadIdx.x % 32 == 0) s.part[0][threadIdx.x / 32] = sigma;
    team.exchange(s, 1);
    if (f.lead) *verb.sigma = s.total[0];
  }
  __syncthreads();
}

/// The block's first rows, as many as there is room for.
template <class S, class T>
__device__ void load(CsrMultiply<S, T> const& verb, Cache const& cache, Shared& s) {
  std::int64_t begin, end;
  stretch(verb.n, begin, end);
  if (begin >= end) return;
  Offset first = verb.a.offsets[begin];
  int* offsets = at<int>(cache.offsets);
  for (std::int64_t i = begin + threadIdx.x; i <= end; i += block_size) {
    Offset here = verb.a.offsets[i] - first;
    if (here > cache.capacity) continue;
    offsets[i - begin] = static_cast<int>(here);
    atomicMax(&s.cached_rows, static_cast<int>(i - begin));
  }
  __syncthreads();
  int entries = offsets[s.cached_rows];
  for (int e = threadIdx.x; e < entries; e += block_size) {
    at<int>(cache.columns)[e] = verb.a.columns[first + e];
    at<S>(cache.values)[e] = verb.a.values[first + e];
  }
  __syncthreads();
}

/// h = V^T w, eight columns in flight.
template <class T>
__device__ void run(Gram<T> const& verb, Instruction const&, Frame f, bool stopped, Team& team,
                    Shared& s) {
  if (stopped) return;
  constexpr int group = 8;
  int columns = f.step() + 1;
  std::int64_t begin, end;
  stretch(verb.n, begin, end);
  for (int j0 = 0; j0 < columns; j0 += group) {
    double sum[group] = {};
    for (std::int64_t i = begin + threadIdx.x; i < end; i += block_size) {
      double wi = double(verb.w[i]);
#pragma unroll
      for (int j = 0; j < group; ++j)
        if (j0 + j < columns) sum[j] += double(verb.V[(j0 + j) * verb.n + i]) * wi;
    }
#pragma unroll
    for (int j = 0; j < group; ++j) {
      double a = warp_sum(sum[j]);
      if (threadIdx.x % 32 == 0 && j0 + j < columns) s.part[j0 + j][threadIdx.x / 32] = a;
    }
  }
  team.exchange(s, columns);
  for (int j = threadIdx.x; j < columns; j += block_size) verb.h[j] = s.total[j];
  __syncthreads();
}

template <class... V>
__device__ void dispatch(List<V...>, Instruction const& in, Frame f, bool stopped, Team& team,
                         Shared& s) {
  int k = 0;
  ((in.verb == k++ ? run(*reinterpret_cast<V const*>(in.operands), in, f, stopped, team, s)
                   : void()),
   ...);
}

constexpr int max_kept = 16;  // vectors

/// The layout of the dynamic shared memory, the same in every block.
struct SharedLayout {
  int length;         // instructions
  int scalar_bytes;   // at 0
  int program;        // position of the instructions
  std::int64_t n;     // of the kept vectors
  int kept, written;  // how many there are; the first of them are copied back
  double* vectors[max_kept];
  int positions[max_kept];
};

/// One block a multiprocessor.
template <class T>
__global__ void __launch_bounds__(block_size, 1)
    persistent_kernel(SharedLayout layout, Instruction const* program, LoopState* state,
                      std::byte* scalars, double* posts, unsigned int* arrived) {
  __shared__ Shared s;
  LoopState& mine = *reinterpret_cast<LoopState*>(s.state);
  Instruction* list = at<Instruction>(layout.program);
  auto copy = [](void* to, void const* from, std::int64_t bytes) {
    for (std::int64_t i = threadIdx.x; i < bytes / 8; i += block_size)
      static_cast<double*>(to)[i] = static_cast<double const*>(from)[i];
  };
  static_assert(sizeof(LoopState) % 8 == 0 && sizeof(Instruction) % 8 == 0);
  std::int64_t begin, end;
  stretch(layout.n, begin, end);
  copy(dynamic, scalars, layout.scalar_bytes);
  copy(list, program, layout.length * sizeof(Instruction));
  copy(&mine, state, sizeof(LoopState));
  for (int k = 0; k < layout.kept; ++k)
    if (begin < end)
      copy(at<double>(layout.positions[k]), layout.vectors[k] + begin, (end - begin) * 8);
  if (threadIdx.x == 0) s.cancel = s.cached_rows = 0;
  __syncthreads();
  // Pointers to what is kept become pointers to this block's copy of it. A vector's is moved back,
  // so that element i of the stretch has the address it should.
  constexpr int words = max_operands / 8;
  for (int i = threadIdx.x; i < layout.length * words; i += block_size) {
    auto& word = reinterpret_cast<std::uintptr_t*>(list[i / words].operands)[i % words];
    auto low = reinterpret_cast<std::uintptr_t>(scalars);
    if (word >= low && word < low + layout.scalar_bytes)
      word = reinterpret_cast<std::uintptr_t>(dynamic) + (word - low);
    for (int k = 0; k < layout.kept; ++k)
      if (word == reinterpret_cast<std::uintptr_t>(layout.vectors[k]))
        word = reinterpret_cast<std::uintptr_t>(at<double>(layout.positions[k])) - begin * 8;
  }
  __syncthreads();
  for (int k = 0; k < layout.length; ++k)
    if (list[k].cache.capacity > 0) {
      load(*reinterpret_cast<CsrMultiply<T, T> const*>(list[k].operands), list[k].cache, s);
      break;  // one matrix
    }

  Team team{arrived, posts, &state->cancel, &mine};
  Frame f{&mine, threadIdx.x == 0, blockIdx.x == 0};
  for (int k = 0;; k = k + 1 < layout.length ? k + 1 : 0) {
    bool stopped = mine.stop != 0;
    __syncthreads();  // all have read it before this verb may raise it
    if (stopped && k == 0) break;
    if (list[k].barrier && !stopped) team.exchange(s, 0);
    dispatch(Verbs<T>{}, list[k], f, stopped, team, s);
  }
  for (int k = 0; k < layout.written; ++k)
    if (begin < end)
      copy(layout.vectors[k] + begin, at<double>(layout.positions[k]), (end - begin) * 8);
  if (blockIdx.x == 0) {
    copy(scalars, dynamic, layout.scalar_bytes);
    copy(state, &mine, sizeof(LoopState));
  }
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
  Array<double> posts;
  Array<unsigned int> arrived;
  void const* kernel = reinterpret_cast<void const*>(persistent_kernel<double>);
};

std::shared_ptr<PersistentLoop> make_persistent(Device& on, Recording const& body, LoopState* state,
                                                KeptOperands const& kept, std::string& why) {
  if (kept.scalars.empty() || kept.scalars.size() % 8 != 0) {
    why = "the method does not name its scalars";
    return nullptr;
  }
  auto loop = std::make_shared<PersistentLoop>();
  loop->blocks = std::min(on.properties.multiProcessorCount, max_blocks);
  Assembly assembly = assemble(body, loop->blocks);
  if (!assembly.why.empty()) {
    why = assembly.why;
    return nullptr;
  }
  auto& program = assembly.program;
  SharedLayout& layout = loop->layout;
  layout.length = static_cast<int>(program.size());
  layout.scalar_bytes = static_cast<int>(kept.scalars.size());
  layout.program = round16(layout.scalar_bytes);
  layout.n = assembly.n;
  std::int64_t room = static_cast<std::int64_t>(on.properties.sharedMemPerBlockOptin) -
                      static_cast<std::int64_t>(sizeof(Shared)) - 1024;
  std::int64_t used = round16(layout.program + layout.length * sizeof(Instruction));
  if (static_cast<std::int64_t>(kept.scalars.size()) > room || used > room) {
    why = "its scalars exceed the shared memory";
    return nullptr;
  }
  std::int64_t rows = (assembly.n + loop->blocks - 1) / loop->blocks;
  rows = (rows + 31) / 32 * 32;
  auto keep = [&](double const* v) {
    bool shared_out =
        std::find(assembly.gathered.begin(), assembly.gathered.end(), v) != assembly.gathered.end();
    if (v == nullptr || shared_out || layout.kept == max_kept || used + 8 * rows > room) return;
    layout.vectors[layout.kept] = const_cast<double*>(v);
    layout.positions[layout.kept++] = static_cast<int>(used);
    used = round16(used + 8 * rows);
  };
  for (double* v : kept.vectors) keep(v);
  layout.written = layout.kept;
  for (double const* v : kept.constants) keep(v);
  // The rest of the room for the matrix, when a fair part of it fits.
  Cache cache{};
  if (assembly.matrix >= 0) {
    auto const& a =
        reinterpret_cast<CsrMultiply<double, double> const*>(program[assembly.matrix].operands)->a;
    cache.offsets = static_cast<int>(used);
    std::int64_t after = round16(used + 4 * (rows + 1)), entries = (room - after - 32) / 12;
    std::int64_t wanted = assembly.n > 0 ? 2 * a.entries / assembly.n * rows + 64 : 0;
    entries = std::min(entries, wanted);  // twice the average stretch is room enough
    if (entries > 0 && entries * loop->blocks * 8 >= a.entries) {
      cache.columns = static_cast<int>(after);
      cache.values = round16(after + 4 * entries);
      cache.capacity = static_cast<int>(entries);
      used = cache.values + 8 * entries;
    }
  }
  for (Instruction& in : program) in.cache = in.cache.capacity != 0 ? cache : Cache{};
  loop->shared = round16(used);
  check(cudaFuncSetAttribute(loop->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             loop->shared));
  loop->state = state;
  loop->scalars = kept.scalars.data();
  loop->program = Array<Instruction>(Space::cuda, program.size());
  copy(on, loop->program.data(), program.data(), loop->program.bytes());
  loop->posts = Array<double>(Space::cuda, std::size_t{2} * max_sums * loop->blocks);
  loop->arrived = Array<unsigned int>(Space::cuda, 1);
  return loop;
}

void launch(Device& on, PersistentLoop& loop) {
  check(cudaMemsetAsync(loop.arrived.data(), 0, loop.arrived.bytes(), on.stream));
  auto* program = loop.program.data();
  auto* posts = loop.posts.data();
  auto* arrived = loop.arrived.data();
  void* arguments[] = {&loop.layout, &program, &loop.state, &loop.scalars, &posts, &arrived};
  check(cudaLaunchCooperativeKernel(loop.kernel, dim3(loop.blocks), dim3(block_size), arguments,
                                    loop.shared, on.stream));
}

}  // namespace tcsolve::cuda
