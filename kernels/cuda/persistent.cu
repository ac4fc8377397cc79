// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/persistent.hpp>
#include <tcsolve/kernels/verb_list.hpp>
#include <tcsolve/kernels/verbs/csr.hpp>

#include <algorithm>
#include <cstring>
#include <typeindex>

namespace tcsolve::cuda {

namespace {

constexpr int block_size = 512;
constexpr int warps = block_size / 32;
constexpr int max_sums = 64;       // of one exchange
constexpr int max_blocks = 160;    // each lane of a warp reads up to five posts
constexpr int max_operands = 256;  // bytes

struct Instruction {
  int verb;     // position in Verbs
  int barrier;  // the grid waits before it
  int lanes;    // threads that share a row of a CSR product
  alignas(16) std::byte operands[max_operands];
};

template <class... V>
struct List {};
/// What the kernel can do.
template <class T>
using Verbs = List<Extend<T>, Descend<T>, Dot<T>, Dot2<T>, Multiply<T>, MultiplyDot<T>, Axpby<T, T>,
                   CsrMultiply<T, T>, SellMultiply<T, T>, SellMultiplyDot<T, T>, BlockMultiply<T>,
                   BicgDirection<T>, BicgHalf<T>, BicgFull<T>, Gram<T>, Orthogonalize<T>,
                   ArnoldiNext<T>, RotateHessenberg, Observe>;

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

/// The posts of the blocks: three sets in turn. A set is cleared two exchanges before it is used
/// again, when every block is known to have read it.
constexpr unsigned long long nothing = ~0ull;  // a NaN that no sum is

struct Team {
  unsigned long long* posts;  // (3, max_sums, blocks)
  std::int32_t const* cancel;
  LoopState* state;  // this block's
  int turn = 0;

  __device__ unsigned long long* set(int t) const {
    return posts + std::size_t(t % 3) * max_sums * gridDim.x;
  }

  /// part[k][warp] -> total[k] for k < count, in every block; and the cancel word. Also a barrier
  /// of the grid. The caller has synchronised its block after writing the parts.
  __device__ void exchange(double (*part)[warps], double* total, int count) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, blocks = gridDim.x;
    unsigned long long* mine = set(turn);
    unsigned long long* old = set(turn + 1);
    for (int k = threadIdx.x; k < max_sums; k += block_size)
      *(volatile unsigned long long*)(old + std::size_t(k) * blocks + blockIdx.x) = nothing;
    __syncthreads();
    for (int k = warp; k <= count; k += warps) {
      double a = 0;
      if (k < count) {
        a = lane < warps ? part[k][lane] : 0.0;
        for (int offset = 8; offset > 0; offset /= 2) a += __shfl_down_sync(~0u, a, offset);
      } else if (blockIdx.x == 0) {
        a = *(volatile std::int32_t const*)cancel;
      }
      if (lane == 0) {
        unsigned long long bits = a == a ? __double_as_longlong(a) : 0x7ff8000000000000ull;
        __threadfence();  // what this block wrote, and cleared, is seen before its post
        *(volatile unsigned long long*)(mine + std::size_t(k) * blocks + blockIdx.x) = bits;
      }
    }
    for (int k = warp; k <= count; k += warps) {
      unsigned long long const* row = mine + std::size_t(k) * blocks;
      unsigned long long v[max_blocks / 32];
      for (bool missing = true; missing;) {
        missing = false;
#pragma unroll
        for (int j = 0; j < max_blocks / 32; ++j) {
          int b = lane + 32 * j;
          v[j] = b < blocks ? *(volatile unsigned long long const*)(row + b) : 0ull;
        }
#pragma unroll
        for (int j = 0; j < max_blocks / 32; ++j) missing = missing || v[j] == nothing;
      }
      double a = 0;
#pragma unroll
      for (int j = 0; j < max_blocks / 32; ++j) a += __longlong_as_double(v[j]);
      for (int offset = 16; offset > 0; offset /= 2) a += __shfl_down_sync(~0u, a, offset);
      if (lane == 0) {
        if (k < count)
          total[k] = a;
        else
          state->cancel = static_cast<std::int32_t>(a);
      }
    }
    __threadfence();  // what the others wrote before their posts is seen from here on
    __syncthreads();
    ++turn;
  }
};

struct Shared {
  double part[max_sums][warps];
  double total[max_sums];
  alignas(16) std::byte state[sizeof(LoopState)];  // shared memory has no constructors
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

template <class V>
__device__ void run(V const& verb, Instruction const&, Frame f, Team& team, Shared& s) {
  using Traits = VerbTraits<V>;
  typename CoefficientsOf<V>::type c{};
  bool go = !f.stopped() || Traits::always;
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
      team.exchange(s.part, s.total, Traits::sums);
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

/// `lanes` threads a row, a tree within them.
template <class S, class T>
__device__ void run(CsrMultiply<S, T> const& verb, Instruction const& in, Frame f, Team&, Shared&) {
  if (f.stopped()) return;
  CsrView<S> const& a = verb.a;
  int lanes = in.lanes, lane = threadIdx.x % lanes, rows = block_size / lanes;
  std::int64_t begin, end;
  stretch(verb.n, begin, end);
  for (std::int64_t first = begin; first < end; first += rows) {
    std::int64_t i = first + threadIdx.x / lanes;
    T sum = T(0);
    if (i < end) {
      Offset last = a.offsets[i + 1];
#pragma unroll 4
      for (Offset e = a.offsets[i] + lane; e < last; e += lanes)
        sum += T(__ldg(a.values + e)) * verb.x[__ldg(a.columns + e)];
    }
    for (int offset = lanes / 2; offset > 0; offset /= 2)
      sum += __shfl_down_sync(~0u, sum, offset, lanes);
    if (i < end && lane == 0)
      verb.y[i] = verb.beta == T(0) ? verb.alpha * sum : verb.alpha * sum + verb.beta * verb.y[i];
  }
  __syncthreads();
}

/// h = V^T w, eight columns in flight.
template <class T>
__device__ void run(Gram<T> const& verb, Instruction const&, Frame f, Team& team, Shared& s) {
  if (f.stopped()) return;
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
  team.exchange(s.part, s.total, columns);
  for (int j = threadIdx.x; j < columns; j += block_size) verb.h[j] = s.total[j];
  __syncthreads();
}

template <class... V>
__device__ void dispatch(List<V...>, Instruction const& in, Frame f, Team& team, Shared& s) {
  int k = 0;
  ((in.verb == k++ ? run(*reinterpret_cast<V const*>(in.operands), in, f, team, s) : void()), ...);
}

/// One block a multiprocessor. Dynamic shared memory: scalars, then the program.
template <class T>
__global__ void __launch_bounds__(block_size, 1)
    persistent_kernel(Instruction const* program, int length, LoopState* state, std::byte* scalars,
                      int scalar_bytes, unsigned long long* posts) {
  extern __shared__ __align__(16) std::byte dynamic[];
  __shared__ Shared s;
  std::byte* own = dynamic;
  LoopState& mine = *reinterpret_cast<LoopState*>(s.state);
  Instruction* list = reinterpret_cast<Instruction*>(dynamic + (scalar_bytes + 15) / 16 * 16);
  auto copy = [](void* to, void const* from, int bytes) {
    for (int i = threadIdx.x; i < bytes / 8; i += block_size)
      static_cast<double*>(to)[i] = static_cast<double const*>(from)[i];
  };
  static_assert(sizeof(LoopState) % 8 == 0);
  copy(own, scalars, scalar_bytes);
  copy(list, program, length * static_cast<int>(sizeof(Instruction)));
  copy(&mine, state, sizeof(LoopState));
  __syncthreads();
  // Pointers to the scalars become pointers to this block's copy of them.
  auto low = reinterpret_cast<std::uintptr_t>(scalars);
  for (int i = threadIdx.x; i < length * (max_operands / 8); i += block_size) {
    auto& word = reinterpret_cast<std::uintptr_t*>(
        list[i / (max_operands / 8)].operands)[i % (max_operands / 8)];
    if (word >= low && word < low + scalar_bytes)
      word = reinterpret_cast<std::uintptr_t>(own + (word - low));
  }
  __syncthreads();

  Team team{posts, &state->cancel, &mine};
  Frame f{&mine, threadIdx.x == 0, blockIdx.x == 0};
  while (mine.stop == 0) {
    for (int k = 0; k < length; ++k) {
      if (list[k].barrier && mine.stop == 0) team.exchange(s.part, s.total, 0);
      dispatch(Verbs<T>{}, list[k], f, team, s);
    }
  }
  if (blockIdx.x == 0) {
    copy(scalars, own, scalar_bytes);
    copy(state, &mine, sizeof(LoopState));
  }
}

struct Facts {
  int position;
  bool gathers, only_sums, exchanges;
  std::size_t bytes;
};

template <class... V>
bool find(List<V...>, std::type_index type, Facts& facts) {
  int k = 0;
  bool found = false;
  (
      [&] {
        static_assert(sizeof(V) <= max_operands && std::is_trivially_copyable_v<V>);
        if (type == typeid(V)) {
          facts = {k, gathers<V>, only_sums<V>, exchanges<V>, sizeof(V)};
          found = true;
        }
        ++k;
      }(),
      ...);
  return found;
}

/// Threads that share a row: enough to use the block, no more than a row has entries.
int lanes_for(std::int64_t n, std::int64_t entries, int blocks) {
  std::int64_t rows = std::max<std::int64_t>(1, (n + blocks - 1) / blocks);
  std::int64_t length = n > 0 ? entries / n : 0;
  int lanes = 2;
  while (lanes < 32 && lanes < length && (lanes < 4 || lanes * rows < block_size)) lanes *= 2;
  return lanes;
}

template <class T>
bool assemble(Recording const& body, int blocks, std::vector<Instruction>& program,
              std::string& why) {
  bool written = true;    // since the last barrier: a gather must wait
  bool gathered = false;  // since the last barrier: a write must wait
  std::int64_t size = 0;  // of every vector
  for (Command const& command : body.commands) {
    Facts facts{};
    if (!find(Verbs<T>{}, command.type, facts)) {
      why = command.name;
      return false;
    }
    Instruction in{};
    in.verb = facts.position;
    std::memcpy(in.operands, command.operands.data(), facts.bytes);
    std::int64_t n;
    std::memcpy(&n, in.operands, sizeof n);  // the first operand of every verb
    if (n != 0 && size != 0 && n != size) {
      why = cat(command.name, " of ", n, " beside ", size, " elements");
      return false;
    }
    size = std::max(size, n);
    if (command.type == typeid(CsrMultiply<T, T>)) {
      auto const& product = *reinterpret_cast<CsrMultiply<T, T> const*>(in.operands);
      in.lanes = lanes_for(n, product.a.entries, blocks);
    }
    if (command.type == typeid(RotateHessenberg) &&
        reinterpret_cast<RotateHessenberg const*>(in.operands)->H.m >= max_sums) {
      why = "more columns than sums fit an exchange";
      return false;
    }
    in.barrier = n > 0 && ((facts.gathers && written) || (gathered && !facts.only_sums));
    if (in.barrier) written = gathered = false;
    if (facts.gathers) gathered = true;
    if (!facts.only_sums && n > 0) written = true;
    if (facts.exchanges) written = gathered = false;
    program.push_back(in);
  }
  if (gathered && !program.empty()) program.front().barrier = 1;  // the list goes round
  return true;
}

}  // namespace

class PersistentLoop {
 public:
  Array<Instruction> program;
  int length = 0, blocks = 0, scalar_bytes = 0, shared = 0;
  LoopState* state = nullptr;
  std::byte* scalars = nullptr;
  Array<unsigned long long> posts;
  void const* kernel = nullptr;
};

std::shared_ptr<PersistentLoop> make_persistent(Device& on, Recording const& body, LoopState* state,
                                                std::span<std::byte> scalars, std::string& why) {
  if (scalars.empty() || scalars.size() % 8 != 0) {
    why = "the method does not name its scalars";
    return nullptr;
  }
  auto loop = std::make_shared<PersistentLoop>();
  loop->blocks = std::min(on.properties.multiProcessorCount, max_blocks);
  std::vector<Instruction> program;
  if (!assemble<double>(body, loop->blocks, program, why)) return nullptr;
  loop->kernel = reinterpret_cast<void const*>(persistent_kernel<double>);
  loop->length = static_cast<int>(program.size());
  std::size_t shared = (scalars.size() + 15) / 16 * 16 + program.size() * sizeof(Instruction);
  if (shared + sizeof(Shared) + 1024 > on.properties.sharedMemPerBlockOptin) {
    why = "its scalars exceed the shared memory";
    return nullptr;
  }
  loop->scalar_bytes = static_cast<int>(scalars.size());
  loop->shared = static_cast<int>(shared);
  check(cudaFuncSetAttribute(loop->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             loop->shared));
  loop->state = state;
  loop->scalars = scalars.data();
  loop->program = Array<Instruction>(Space::cuda, program.size());
  copy(on, loop->program.data(), program.data(), loop->program.bytes());
  loop->posts = Array<unsigned long long>(Space::cuda, std::size_t{3} * max_sums * loop->blocks);
  return loop;
}

void launch(Device& on, PersistentLoop& loop) {
  check(cudaMemsetAsync(loop.posts.data(), 0xff, loop.posts.bytes(), on.stream));
  auto* program = loop.program.data();
  auto* posts = loop.posts.data();
  void* arguments[] = {&program,      &loop.length,       &loop.state,
                       &loop.scalars, &loop.scalar_bytes, &posts};
  check(cudaLaunchCooperativeKernel(loop.kernel, dim3(loop.blocks), dim3(block_size), arguments,
                                    loop.shared, on.stream));
}

}  // namespace tcsolve::cuda
