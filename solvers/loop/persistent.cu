// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/rank_link.hpp>
#include <tcsolve/core/cuda/shared_memory.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/solvers/loop/persistent_kernel.cuh>

#include <algorithm>

namespace tcsolve::cuda {

namespace {

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
  RankMail const* mail = nullptr;
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
  auto loop = std::make_shared<PersistentLoop>();
  loop->blocks = std::min(on.properties.multiProcessorCount, max_blocks);
  bool const over_ranks = on.link && on.link->ranks.extends_sums();
  if (over_ranks && on.link->mail() == nullptr) {
    why = "its ranks do not store into each other's memory";
    return nullptr;
  }
  if (over_ranks) {  // as many blocks on every rank
    loop->blocks = max_blocks - on.link->ranks.agree(max_blocks - loop->blocks);
    loop->mail = on.link->mail();
  }
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
  LoopProgram assembly = loop_program(body, loop->blocks, block_size, kept.vectors);
  if (auto few = static_cast<int>((assembly.n + 31) / 32); few < loop->blocks && !over_ranks) {
    loop->blocks = std::max(1, few);  // a block has a warp's rows at least
    assembly = loop_program(body, loop->blocks, block_size, kept.vectors);
  }
  if (!assembly.why.empty()) {
    why = assembly.why;
    return nullptr;
  }
  bool const floats = assembly.vectors == Real::f32;
  if (over_ranks && (floats || assembly.sums * loop->blocks > RankMail::capacity)) {
    why = floats ? "ranks sum in FP64" : "more sums than ranks exchange at once";
    return nullptr;
  }
  loop->kernel = over_ranks ? persistent_over_ranks()
                 : floats   ? reinterpret_cast<void const*>(persistent_kernel<float, GridTeam>)
                            : reinterpret_cast<void const*>(persistent_kernel<double, GridTeam>);
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
        std::find(assembly.gathered.begin(), assembly.gathered.end(), v) !=
            assembly.gathered.end() ||
        std::ranges::any_of(program, [&](Instruction const& in) {  // in other stretches
          return in.n != 0 && in.n != assembly.n && uses({in}, v) > 0;
        });
    if (v == nullptr || shared_out || uses(program, v) == 0 || layout.kept == most_kept_vectors ||
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
    std::int64_t const length = program[assembly.matrix].n;
    rows = program[assembly.matrix].each;
    Offset const all =
        floats ? reinterpret_cast<CsrMultiply<float, float> const*>(product)->a.entries
               : reinterpret_cast<CsrMultiply<double, double> const*>(product)->a.entries;
    cache.offsets = static_cast<int>(used);
    std::int64_t after = round16(used + 4 * (rows + 1)), entries = (room - after - 32) / (4 + each);
    std::int64_t wanted = length > 0 ? 2 * all / length * rows + 64 : 0;
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

bool launch(Device& on, PersistentLoop& loop, OpenLoop const* opens, std::string& why) {
  Current const current(on);
  auto* program = loop.program.data();
  auto* posts = loop.posts.data();
  auto* turn = loop.turn.data();
  OpenLoop open = opens != nullptr ? *opens : OpenLoop{0, nullptr, {}, {}, nullptr};
  void* arguments[] = {&loop.layout, &program, &loop.state, &loop.scalars,
                       &posts,       &turn,    &loop.mail,  &open};
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
