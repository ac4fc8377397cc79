// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/shared_memory.hpp>
#include <tcsolve/solvers/loop/passage.hpp>
#include <tcsolve/solvers/loop/persistent_kernel.cuh>

#include <algorithm>

namespace tcsolve::cuda {

class Passage {
 public:
  Array<Instruction> program;
  int blocks = 0, length = 0;
  void const* kernel = nullptr;
  Array<Post> posts;
  Array<std::uint32_t> turn;
};

namespace {

/// Of all passages, so that the kernel's attribute never changes.
constexpr int most_instructions = 96;
constexpr int passage_shared = most_instructions * static_cast<int>(sizeof(Instruction));

template <class T>
__global__ void __launch_bounds__(block_size, 1)
    passage_kernel(Instruction const* program, int length, LoopState const* state, Post* posts,
                   std::uint32_t* turn) {
  if (state != nullptr && state->stop != 0) return;
  __shared__ TeamMemory<block_size> s;
  LoopState& mine = *reinterpret_cast<LoopState*>(s.state);
  Instruction* const list = at<Instruction>(0);
  static_assert(sizeof(Instruction) % 16 == 0);
  for (int i = static_cast<int>(threadIdx.x);
       i < length * static_cast<int>(sizeof(Instruction) / 16); i += block_size)
    reinterpret_cast<uint4*>(list)[i] = reinterpret_cast<uint4 const*>(program)[i];
  if (threadIdx.x == 0) s.cancel = 0;
  __syncthreads();
  GridTeam team{0, 0, s, posts, &s.cancel, &mine, *turn};
  Frame const f{&mine, threadIdx.x == 0, blockIdx.x == 0};
  for (int k = 0; k < length; ++k) {
    if (list[k].barrier) team.template exchange<Add>(0, true);
    team.take(list[k]);
    pick<PassageOps<T>>(list[k].op, [&]<class V>() {
      run(*reinterpret_cast<V const*>(list[k].operands), list[k], f, false, team);
    });
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *turn = team.turn;
}

bool under_mps([[maybe_unused]] Device const& on) {
  int mps = 0;
#if CUDART_VERSION >= 13000
  check(cudaDeviceGetAttribute(&mps, cudaDevAttrMpsEnabled, on.ordinal));
#endif
  return mps != 0;
}

}  // namespace

std::shared_ptr<Passage> make_passage(Device& on, std::span<Command const> commands,
                                      std::string& why) {
  Current const current(on);
  auto out = std::make_shared<Passage>();
  int cooperative = 0;
  check(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, on.ordinal));
  if (cooperative == 0 || under_mps(on)) {
    why = "the device has no cooperative launches within graphs";
    return nullptr;
  }
  out->blocks = std::min(on.properties.multiProcessorCount, max_blocks);
  LoopProgram const program = passage_program(commands, out->blocks, block_size);
  why = program.why;
  if (!why.empty()) return nullptr;
  out->length = static_cast<int>(program.list.size());
  if (out->length > most_instructions) {
    why = "more operations than shared memory holds";
    return nullptr;
  }
  out->kernel = program.vectors == Real::f64 ? reinterpret_cast<void const*>(passage_kernel<double>)
                                             : reinterpret_cast<void const*>(passage_kernel<float>);
  set_shared(out->kernel, passage_shared);
  int each = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, out->kernel, block_size,
                                                      out->length * sizeof(Instruction)));
  if (each * on.properties.multiProcessorCount < out->blocks) {
    why = "the device does not run its blocks at once";
    return nullptr;
  }
  out->program = Array<Instruction>(on.space(), program.list.size());
  copy(on, out->program.data(), program.list.data(), out->program.bytes());
  out->posts = Array<Post>(on.space(), std::size_t{2} * max_sums * out->blocks);
  out->turn = Array<std::uint32_t>(on.space(), 1);
  check(cudaMemsetAsync(out->posts.data(), 0, out->posts.bytes(), on.stream));
  check(cudaMemsetAsync(out->turn.data(), 0, out->turn.bytes(), on.stream));
  return out;
}

void launch(Device& on, Passage& passage, LoopState const* state) {
  Current const current(on);
  auto* program = passage.program.data();
  auto* posts = passage.posts.data();
  auto* turn = passage.turn.data();
  void* arguments[] = {&program, &passage.length, &state, &posts, &turn};
  check(cudaLaunchCooperativeKernel(passage.kernel, dim3(passage.blocks), dim3(block_size),
                                    arguments, passage.length * sizeof(Instruction), on.stream));
}

}  // namespace tcsolve::cuda
