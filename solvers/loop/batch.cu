// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/shared_memory.hpp>
#include <tcsolve/loop_teams.cuh>
#include <tcsolve/solvers/loop/batch.hpp>

#include <algorithm>

#include <cooperative_groups.h>

namespace tcsolve::cuda {

namespace {

namespace cg = cooperative_groups;

constexpr int max_ranks = 8;  // blocks of a cluster

/// A block, or a cluster of blocks; the rows are those that this block has of the system in hand.
template <int size, bool clustered>
struct BatchTeam {
  static constexpr int threads = size;
  static constexpr bool over_ranks = false;
  std::int64_t begin, end;
  TeamMemory<threads>& memory;
  struct Slots {  // sums received from the blocks of the team, two sets in turn
    double sums[clustered ? 2 : 1][clustered ? max_sums : 1][max_ranks];
    std::int32_t word[2];
  };
  Slots& slots;
  std::int32_t const* cancel;
  LoopState* state;  // this block's
  int rank, ranks;
  unsigned int turn = 0;
  std::int32_t word =
      0;  // the cancel word of the host, as last read by the first thread of the team

  /// Everybody of the team, and what they have written.
  __device__ void meet() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (clustered) return cg::this_cluster().sync();
#endif
    __syncthreads();
  }
  template <class V, class Meanwhile = Nothing>
  __device__ void exchange(int count, bool /*a meeting publishes*/,
                           Meanwhile const& meanwhile = {}) {
    constexpr int warps = threads / 32;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // All threads must read the same cancel word in the same exchange. It was loaded one exchange
    // ago, so that its latency is hidden.
    bool asks = rank == 0 && threadIdx.x == 0;
    ++turn;
    __syncthreads();
    if (threadIdx.x == threads - 1) meanwhile();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (clustered) {
      cg::cluster_group team = cg::this_cluster();
      auto& set = slots.sums[turn % 2];
      for (int k = warp; k < count; k += warps) {
        double a = warp_combine<V, warps>(lane < warps ? memory.part[k][lane] : 0.0);
        a = __shfl_sync(~0u, a, 0);
        if (lane < ranks) *team.map_shared_rank(&set[k][rank], lane) = a;
      }
      if (asks)
        for (int r = 0; r < ranks; ++r) *team.map_shared_rank(&slots.word[turn % 2], r) = word;
      if (asks) word = *static_cast<std::int32_t const volatile*>(cancel);
      meet();
      for (int k = threadIdx.x; k < count; k += threads) {
        double a = set[k][0];
        add_parts<V>([&](int r, int) { return set[k][r]; }, 1, ranks, 1, &a);
        memory.total[k] = a;
      }
      if (threadIdx.x == 0) state->cancel = slots.word[turn % 2];
      __syncthreads();
      return;
    }
#endif
    if (asks) state->cancel = word;
    if (asks) word = *static_cast<std::int32_t const volatile*>(cancel);
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
  int constants;        // vectors that a solve only reads
  double const* constant[4];
  int constant_position[4];
};

template <int threads, bool clustered>
__global__ void __launch_bounds__(threads, threads == 512 ? 1 : 512 / threads)
    batch_kernel(Layout layout, Instruction const* program, Redirection const* redirections,
                 Index const* starts, SystemState* results, int* next, std::int32_t const* cancel) {
  __shared__ TeamMemory<threads> memory;
  using Team = BatchTeam<threads, clustered>;
  __shared__ typename Team::Slots slots;
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
  for (int i = threadIdx.x; i < layout.fixed; i += threads)
    words[redirections[i].word] =
        reinterpret_cast<std::uintptr_t>(dynamic) + redirections[i].position;
  SystemState& system = *at<SystemState>(layout.system);
  Team team{0, 0, memory, slots, cancel, &loop, 0, 1};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (clustered) {
    team.rank = static_cast<int>(cg::this_cluster().block_rank());
    team.ranks = static_cast<int>(cg::this_cluster().num_blocks());
  }
#endif
  Frame f{&loop, threadIdx.x == 0, false};
  team.meet();  // all blocks are there
  for (;;) {
    // The first block of a team draws the next system.
    if (team.rank == 0 && threadIdx.x == 0) {
      int drawn = atomicAdd(next, 1);
      current = drawn;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
      if constexpr (clustered)
        for (int r = 1; r < team.ranks; ++r)
          *cg::this_cluster().map_shared_rank(&current, r) = drawn;
#endif
    }
    team.meet();
    int k = current;
    if (k >= layout.count) break;
    std::int64_t first = starts[k], last = starts[k + 1];
    std::int64_t each = (last - first + team.ranks - 1) / team.ranks;
    team.begin = first + team.rank * each < last ? first + team.rank * each : last;
    team.end = team.begin + each < last ? team.begin + each : last;
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
      system.first = first;
      system.rows = last - first;
    }
    __syncthreads();
    if (layout.cache.capacity > 0)
      load(*reinterpret_cast<CsrMultiply<double, double> const*>(list[layout.matrix].operands),
           layout.cache, team);
    // One place runs operations: the kernel holds each of them once.
    BatchProgram::Part part = layout.first;
    bool looping = false;
    for (int at = part.begin;; ++at) {
      if (at == part.end) {
        bool judged = !system.running(), stopped = loop.stop != 0;
        bool inner = part.begin == layout.begin.begin || looping;  // in a cycle
        if (looping && !stopped) {
          __syncthreads();
        } else {
          team.meet();
          if (!inner && judged) break;
          looping = inner && !stopped;
          part = !inner ? layout.begin : stopped ? layout.end : layout.step;
        }
        at = part.begin;
      }
      bool stopped = looping && loop.stop != 0;
      __syncthreads();  // all have read it before this operation may raise it
      if (clustered && list[at].barrier && !stopped) team.meet();
      pick<BatchOps>(list[at].op, [&]<class V>() {
        run(*reinterpret_cast<V const*>(list[at].operands), list[at], f, stopped, team);
      });
    }
    if (team.rank == 0) copy(results + k, &system, sizeof(SystemState));
    team.meet();
  }
  team.meet();  // no block exits while another one may still write to its shared memory
}

int round16(std::int64_t bytes) { return static_cast<int>((bytes + 15) / 16 * 16); }

using Kernel = decltype(&batch_kernel<512, false>);
/// A form of the kernel.
struct Form {
  int threads;
  int ranks;  // blocks of a team
  Kernel kernel;
  int blocks;  // of a multiprocessor that its registers and shared memory are for
};

}  // namespace

class BatchKernel {
 public:
  Layout layout{};
  Array<Instruction> program;
  Array<Redirection> redirections;
  Array<Index> starts;
  Array<SystemState> results;
  Array<int> words;  // the next system; the Stop that the host requests
  Kernel kernel = nullptr;
  int threads = 0, ranks = 1, teams = 0, shared = 0;

  cudaLaunchConfig_t launch(Device& on, cudaLaunchAttribute& cluster, int blocks) const {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(ranks), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = on.stream;
    config.attrs = &cluster;
    config.numAttrs = ranks > 1 ? 1 : 0;
    return config;
  }
};

std::shared_ptr<BatchKernel> make_batch(Device& on, BatchProgram const& batch,
                                        BatchExtents const& extents) {
  Current const current(on);
  auto out = std::make_shared<BatchKernel>();
  Layout& layout = out->layout;
  layout.first = batch.first, layout.begin = batch.begin;
  layout.step = batch.step, layout.end = batch.end;
  layout.count = extents.count();
  layout.length = static_cast<int>(batch.list.size());
  layout.matrix = -1;
  std::vector<Instruction> list = batch.list;
  for (int k = 0; k < layout.length && layout.matrix < 0; ++k)
    pick<BatchOps>(list[k].op, [&]<class V>() {
      if constexpr (std::is_same_v<V, CsrMultiply<double, double>>) layout.matrix = k;
    });

  // What every team needs, then what it would like to have.
  layout.scalars = static_cast<int>(batch.kept.scalars.size() / 8);
  layout.system = round16(batch.kept.scalars.size());
  layout.program = round16(layout.system + sizeof(SystemState));
  std::int64_t needed = round16(layout.program + layout.length * sizeof(Instruction));
  // Several small teams on a multiprocessor hide each other's waits. A cluster holds a larger
  // matrix on the chip and is faster for its system, but three blocks solve more than one team of
  // three (docs/results/batch-h200.md): only where multiprocessors would idle.
  std::vector<Form> forms{{128, 1, batch_kernel<128, false>, 4},
                          {256, 1, batch_kernel<256, false>, 2},
                          {512, 1, batch_kernel<512, false>, 1}};
  // Compiled for less, the kernel has no clusters in it, whatever the device.
  cudaFuncAttributes clustered;
  check(cudaFuncGetAttributes(&clustered, batch_kernel<512, true>));
  bool const clusters = on.properties.major >= 9 && clustered.ptxVersion >= 90;
  for (int ranks : {2, 3, 4, 6, max_ranks})
    if (clusters && layout.count * ranks <= on.properties.multiProcessorCount)
      forms.push_back({512, ranks, batch_kernel<512, true>, 1});
  std::int64_t room = 0, rows = 0;
  auto gathered = [&](void const* v) {  // by other blocks of the team
    return out->ranks > 1 &&
           std::find(batch.gathered.begin(), batch.gathered.end(), v) != batch.gathered.end();
  };
  auto try_form = [&](Form const& form) {
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, form.kernel));
    std::int64_t all = static_cast<std::int64_t>(on.properties.sharedMemPerMultiprocessor),
                 most = static_cast<std::int64_t>(on.properties.sharedMemPerBlockOptin);
    room = std::min(all / form.blocks - 1024, most) -
           static_cast<std::int64_t>(attributes.sharedSizeBytes);
    out->kernel = form.kernel;
    out->threads = form.threads;
    out->ranks = form.ranks;
    rows = (extents.largest + form.ranks - 1) / form.ranks;
    std::int64_t entries = extents.most_entries / form.ranks * (form.ranks > 1 ? 11 : 10) / 10;
    std::int64_t wanted = needed + round16(4 * (rows + 1)) + round16(12 * entries + 32);
    for (void const* v : batch.kept.vectors)
      wanted += v != nullptr && !gathered(v) ? round16(8 * rows) : 0;
    for (void const* v : batch.kept.constants) wanted += v != nullptr ? round16(8 * rows) : 0;
    return wanted <= room && (rows <= 4 * form.threads || form.threads == 512);
  };
  // Where nothing is large enough, a block on its own: more systems at a time.
  if (std::none_of(forms.begin(), forms.end(), try_form)) try_form(forms[2]);
  if (needed > room) throw Unsupported("a batch: the method's scalars exceed the shared memory");

  std::vector<Redirection> fixed, movable;
  auto redirect = [&](void const* from, std::size_t bytes, int position,
                      std::vector<Redirection>& to) {
    auto low = reinterpret_cast<std::uintptr_t>(from);
    for (int k = 0; k < layout.length; ++k)
      for (int w = 0; w < Instruction::max_operands / 8; ++w) {
        auto word = reinterpret_cast<std::uintptr_t const*>(list[k].operands)[w];
        if (!list[k].points(w) || word < low || word >= low + bytes) continue;
        int at =
            static_cast<int>((k * sizeof(Instruction) + offsetof(Instruction, operands)) / 8) + w;
        to.push_back({at, position + static_cast<int>(word - low)});
      }
  };
  redirect(batch.kept.scalars.data(), batch.kept.scalars.size(), 0, fixed);
  redirect(batch.system, sizeof(SystemState), layout.system, fixed);
  std::int64_t used = needed;
  auto keep = [&](void const* v) {
    if (v == nullptr || gathered(v) || used + 8 * rows > room) return -1;
    int position = static_cast<int>(used);
    redirect(v, 1, position, movable);
    used = round16(used + 8 * rows);
    return position;
  };
  for (void const* v : batch.kept.vectors) keep(v);
  for (void const* v : batch.kept.constants) {
    if (layout.constants == 4) break;
    int position = keep(v);
    if (position < 0) continue;
    layout.constant[layout.constants] = static_cast<double const*>(v);
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
    in.lanes = lanes_for(extents.largest, extents.most_entries, out->ranks, out->threads);
  }
  out->shared = round16(used);
  layout.fixed = static_cast<int>(fixed.size());
  layout.movable = static_cast<int>(movable.size());
  fixed.insert(fixed.end(), movable.begin(), movable.end());

  set_shared(out->kernel, static_cast<int>(room));
  int resident = 0;
  if (out->ranks == 1) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, out->kernel, out->threads,
                                                        out->shared));
    resident *= on.properties.multiProcessorCount;
  } else {
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = out->launch(on, attribute, out->ranks);
    check(cudaOccupancyMaxActiveClusters(&resident, out->kernel, &config));
  }
  out->teams = std::max(1, std::min(layout.count, resident));
  auto upload = [&](auto& to, auto const& from) {
    to = std::decay_t<decltype(to)>(on.space(), from.size());
    copy(on, to.data(), from.data(), to.bytes());
  };
  upload(out->program, list);
  upload(out->redirections, fixed);
  upload(out->starts, extents.starts);
  out->results = Array<SystemState>(on.space(), layout.count);
  out->words = Array<int>(on.space(), 2);
  return out;
}

void launch(Device& on, BatchKernel& batch) {
  Current const current(on);
  check(cudaMemsetAsync(batch.words.data(), 0, batch.words.bytes(), on.stream));
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config = batch.launch(on, attribute, batch.teams * batch.ranks);
  check(cudaLaunchKernelEx(&config, batch.kernel, batch.layout, batch.program.data(),
                           batch.redirections.data(), batch.starts.data(), batch.results.data(),
                           batch.words.data(), batch.words.data() + 1));
}

SystemState const* results(BatchKernel& batch) { return batch.results.data(); }

void ask(Device& on, BatchKernel& batch, std::int32_t stop) {
  copy_aside(on, batch.words.data() + 1, &stop, sizeof stop);
}

int resident(BatchKernel& batch) { return batch.teams; }

}  // namespace tcsolve::cuda
