// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/batch.hpp>

#include <algorithm>

#include "team.hpp"

namespace tcsolve::cuda {

namespace {

/// A block of threads; the rows are those of the system it is at.
template <int size>
struct BlockTeam {
  static constexpr int threads = size;
  std::int64_t begin, end;
  TeamMemory<threads>& memory;

  template <class V>
  __device__ void exchange(int count) {
    constexpr int warps = threads / 32;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    __syncthreads();
    for (int k = warp; k < count; k += warps) {
      double a = warp_combine<V, warps>(lane < warps ? memory.part[k][lane] : 0.0);
      if (lane == 0) memory.total[k] = a;
    }
    __syncthreads();
  }
};

/// A word of the program that points to something a team has for itself.
struct Redirection {
  int word;      // of the program, counted in 8 bytes
  int position;  // in dynamic shared memory
};

/// Dynamic shared memory of a block, and which words of the program point into it.
struct Layout {
  BatchProgram::Part first, begin, step, end;
  int count;            // systems
  int program, length;  // bytes, where the program lies; instructions
  int scalars;          // doubles at 0
  int system;           // position of the SystemState
  int fixed, movable;   // redirections: of scalars, and of vectors, whose rows differ
  RowCache cache;       // of the system's matrix
  int matrix;           // first instruction that reads it; -1: none
  int constants;        // vectors that a solve reads and nobody writes
  double const* constant[4];
  int constant_position[4];
};

template <int threads>
__global__ void __launch_bounds__(threads, threads == 512 ? 1 : 512 / threads)
    batch_kernel(Layout layout, Instruction const* program, Redirection const* redirections,
                 Index const* starts, SystemState* results, int* next, std::int32_t const* cancel) {
  __shared__ TeamMemory<threads> memory;
  __shared__ int current;
  LoopState& loop = *reinterpret_cast<LoopState*>(memory.state);
  Instruction* list = at<Instruction>(layout.program);
  auto* words = at<std::uintptr_t>(layout.program);
  auto copy = [](void* to, void const* from, std::int64_t bytes) {
    for (std::int64_t i = threadIdx.x; i < bytes / 8; i += threads)
      static_cast<double*>(to)[i] = static_cast<double const*>(from)[i];
  };
  static_assert(sizeof(SystemState) % 8 == 0 && sizeof(Instruction) % 8 == 0);
  copy(list, program, layout.length * sizeof(Instruction));
  __syncthreads();
  // The high part of a word is the offset into what it pointed to (see redirect()).
  for (int i = threadIdx.x; i < layout.fixed; i += threads)
    words[redirections[i].word] =
        reinterpret_cast<std::uintptr_t>(dynamic) + redirections[i].position;
  SystemState& system = *at<SystemState>(layout.system);
  BlockTeam<threads> team{0, 0, memory};
  Frame f{&loop, threadIdx.x == 0, false};

  for (;;) {
    if (threadIdx.x == 0) current = atomicAdd(next, 1);
    __syncthreads();
    int k = current;
    if (k >= layout.count) return;
    team.begin = starts[k];
    team.end = starts[k + 1];
    // Element i of the rows has the address it should: a vector's start is moved back.
    for (int i = layout.fixed + threadIdx.x; i < layout.fixed + layout.movable; i += threads)
      words[redirections[i].word] = reinterpret_cast<std::uintptr_t>(dynamic) +
                                    redirections[i].position - team.begin * sizeof(double);
    for (int i = threadIdx.x; i < layout.scalars; i += threads) at<double>(0)[i] = 0;
    for (int c = 0; c < layout.constants; ++c)
      copy(at<double>(layout.constant_position[c]), layout.constant[c] + team.begin,
           (team.end - team.begin) * 8);
    if (threadIdx.x == 0) {
      loop = LoopState{};
      system = SystemState{};
      system.first = team.begin;
      system.rows = team.end - team.begin;
    }
    __syncthreads();
    if (layout.cache.capacity > 0)
      load(*reinterpret_cast<CsrMultiply<double, double> const*>(list[layout.matrix].operands),
           layout.cache, team);
    // One place runs verbs: the kernel holds each of them once.
    BatchProgram::Part part = layout.first;
    bool looping = false;
    std::int32_t word = 0;
    for (int at = part.begin;; ++at) {
      if (at == part.end) {
        if (looping && threadIdx.x == 0) loop.cancel = word;
        bool judged = !system.running(), stopped = loop.stop != 0;
        __syncthreads();
        bool inner = part.begin == layout.begin.begin || looping;  // in a cycle
        if (!inner && judged) break;
        looping = inner && !stopped;
        part = !inner ? layout.begin : stopped ? layout.end : layout.step;
        at = part.begin;
        // Read early, used after the step, so that nobody waits for it.
        if (looping && threadIdx.x == 0) word = *static_cast<std::int32_t const volatile*>(cancel);
      }
      bool stopped = looping && loop.stop != 0;
      __syncthreads();  // all have read it before this verb may raise it
      pick<BatchVerbs>(list[at].verb, [&]<class V>() {
        run(*reinterpret_cast<V const*>(list[at].operands), list[at], f, stopped, team);
      });
    }
    copy(results + k, &system, sizeof(SystemState));
    __syncthreads();
  }
}

int round16(std::int64_t bytes) { return static_cast<int>((bytes + 15) / 16 * 16); }

using Kernel = decltype(&batch_kernel<512>);
struct Size {
  int threads;
  Kernel kernel;
  int teams;  // of a multiprocessor that its registers and shared memory are for
};

}  // namespace

class BatchKernel {
 public:
  Layout layout{};
  Array<Instruction> program;
  Array<Redirection> redirections;
  Array<Index> starts;
  Array<SystemState> results;
  Array<int> words;  // the next system; what the host asks for
  Kernel kernel = nullptr;
  int threads = 0, blocks = 0, shared = 0;
};

std::shared_ptr<BatchKernel> make_batch(Device& on, BatchProgram const& batch,
                                        BatchExtents const& extents) {
  auto out = std::make_shared<BatchKernel>();
  Layout& layout = out->layout;
  layout.first = batch.first, layout.begin = batch.begin;
  layout.step = batch.step, layout.end = batch.end;
  layout.count = extents.count();
  layout.length = static_cast<int>(batch.list.size());
  layout.matrix = -1;
  std::vector<Instruction> list = batch.list;
  for (int k = 0; k < layout.length && layout.matrix < 0; ++k)
    pick<BatchVerbs>(list[k].verb, [&]<class V>() {
      if constexpr (std::is_same_v<V, CsrMultiply<double, double>>) layout.matrix = k;
    });

  // What every team needs, then what it would like to have.
  std::int64_t const rows = extents.largest;
  layout.scalars = static_cast<int>(batch.kept.scalars.size() / 8);
  layout.system = round16(batch.kept.scalars.size());
  layout.program = round16(layout.system + sizeof(SystemState));
  std::int64_t needed = round16(layout.program + layout.length * sizeof(Instruction));
  std::int64_t wanted = needed + round16(4 * (rows + 1)) + round16(12 * extents.most_entries + 32);
  for (double* v : batch.kept.vectors) wanted += v != nullptr ? round16(8 * rows) : 0;
  for (double const* v : batch.kept.constants) wanted += v != nullptr ? round16(8 * rows) : 0;
  // Several small teams on a multiprocessor hide each other's waits; one large one has the room.
  Size const sizes[] = {
      {128, batch_kernel<128>, 4}, {256, batch_kernel<256>, 2}, {512, batch_kernel<512>, 1}};
  std::int64_t room = 0;
  for (Size const& size : sizes) {
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, size.kernel));
    std::int64_t all = static_cast<std::int64_t>(on.properties.sharedMemPerMultiprocessor),
                 most = static_cast<std::int64_t>(on.properties.sharedMemPerBlockOptin);
    room = std::min(all / size.teams - 1024, most) -
           static_cast<std::int64_t>(attributes.sharedSizeBytes);
    out->kernel = size.kernel;
    out->threads = size.threads;
    if (wanted <= room && rows <= 4 * size.threads) break;
  }
  if (needed > room) throw Unsupported("a batch: the method's scalars exceed the shared memory");

  std::vector<Redirection> fixed, movable;
  auto redirect = [&](void const* from, std::size_t bytes, int position,
                      std::vector<Redirection>& to) {
    auto low = reinterpret_cast<std::uintptr_t>(from);
    for (int k = 0; k < layout.length; ++k)
      for (int w = 0; w < Instruction::max_operands / 8; ++w) {
        auto word = reinterpret_cast<std::uintptr_t const*>(list[k].operands)[w];
        if (word < low || word >= low + bytes) continue;
        int at =
            static_cast<int>((k * sizeof(Instruction) + offsetof(Instruction, operands)) / 8) + w;
        to.push_back({at, position + static_cast<int>(word - low)});
      }
  };
  redirect(batch.kept.scalars.data(), batch.kept.scalars.size(), 0, fixed);
  redirect(batch.system, sizeof(SystemState), layout.system, fixed);
  std::int64_t used = needed;
  auto keep = [&](double const* v) {
    if (v == nullptr || used + 8 * rows > room) return -1;
    int position = static_cast<int>(used);
    redirect(v, 1, position, movable);
    used = round16(used + 8 * rows);
    return position;
  };
  for (double* v : batch.kept.vectors) keep(v);
  for (double const* v : batch.kept.constants) {
    if (layout.constants == 4) break;
    int position = keep(v);
    if (position < 0) continue;
    layout.constant[layout.constants] = v;
    layout.constant_position[layout.constants++] = position;
  }
  if (layout.matrix >= 0) {
    RowCache& cache = layout.cache;
    cache.offsets = static_cast<int>(used);
    std::int64_t after = round16(used + 4 * (rows + 1)), entries = (room - after - 32) / 12;
    entries = std::min<std::int64_t>(entries, extents.most_entries);
    if (entries > 0) {
      cache.columns = static_cast<int>(after);
      cache.values = round16(after + 4 * entries);
      cache.capacity = static_cast<int>(entries);
      used = cache.values + 8 * entries;
    }
  }
  for (Instruction& in : list) {
    in.cache = layout.cache;
    in.lanes = lanes_for(rows, extents.most_entries, 1, out->threads);
  }
  out->shared = round16(used);
  layout.fixed = static_cast<int>(fixed.size());
  layout.movable = static_cast<int>(movable.size());
  fixed.insert(fixed.end(), movable.begin(), movable.end());

  check(
      cudaFuncSetAttribute(out->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, out->shared));
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, out->kernel, out->threads,
                                                      out->shared));
  out->blocks = std::max(1, std::min(layout.count, resident * on.properties.multiProcessorCount));
  auto upload = [&](auto& to, auto const& from) {
    to = std::decay_t<decltype(to)>(Space::cuda, from.size());
    copy(on, to.data(), from.data(), to.bytes());
  };
  upload(out->program, list);
  upload(out->redirections, fixed);
  upload(out->starts, extents.starts);
  out->results = Array<SystemState>(Space::cuda, layout.count);
  out->words = Array<int>(Space::cuda, 2);
  return out;
}

void launch(Device& on, BatchKernel& batch) {
  check(cudaMemsetAsync(batch.words.data(), 0, batch.words.bytes(), on.stream));
  batch.kernel<<<batch.blocks, batch.threads, batch.shared, on.stream>>>(
      batch.layout, batch.program.data(), batch.redirections.data(), batch.starts.data(),
      batch.results.data(), batch.words.data(), batch.words.data() + 1);
  check(cudaGetLastError());
}

SystemState const* results(BatchKernel& batch) { return batch.results.data(); }

void ask(Device& on, BatchKernel& batch, std::int32_t stop) {
  copy_aside(on, batch.words.data() + 1, &stop, sizeof stop);
}

int resident(BatchKernel& batch) { return batch.blocks; }

}  // namespace tcsolve::cuda
