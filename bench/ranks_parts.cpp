// SPDX-License-Identifier: Apache-2.0
/// bench_ranks_parts [REPETITIONS = 50]: what a step of a recorded loop over two devices consists
/// of, each as a node of a CUDA graph of 100, beside NCCL's (loaded where there is one), in
/// microseconds a node, medians.
///
///   sum    <x, y> of 256 entries, by one device and over both: what is above the one is the
///   link's;
///          ncclAllReduce of one double
///   halo   so many values each way: sent by one node, and read and stored by the next one, beside
///          the two nodes that do the same within a device; ncclSend and ncclRecv in one group
///
/// Ranks are threads, with a device each. Each sum and each halo is checked first.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include <tcsolve/comm/threads.hpp>
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/distributed/halo.hpp>
#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/kernels/reductions.hpp>

#include "measure.hpp"

using namespace tcsolve;

namespace {

constexpr int nodes = 100;

/// The functions of NCCL 2 that are timed.
struct Nccl {
  struct Id {
    char bytes[128];
  };
  using Comm = void*;
  static constexpr int float64 = 8, sum = 0;
  int (*id)(Id*);
  int (*init)(Comm*, int ranks, Id, int rank);
  int (*all_reduce)(void const*, void*, std::size_t, int type, int op, Comm, cudaStream_t);
  int (*send)(void const*, std::size_t, int type, int peer, Comm, cudaStream_t);
  int (*receive)(void*, std::size_t, int type, int peer, Comm, cudaStream_t);
  int (*begin)();
  int (*end)();
  int (*version)(int*);

  bool load() {
    setenv("NCCL_NVLS_ENABLE", "0", 1);  // no multicast over NVLink
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    bool all = true;
    auto const find = [&](auto& function, char const* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      all = all && function != nullptr;
    };
    find(id, "ncclGetUniqueId"), find(init, "ncclCommInitRank");
    find(all_reduce, "ncclAllReduce"), find(send, "ncclSend"), find(receive, "ncclRecv");
    find(begin, "ncclGroupStart"), find(end, "ncclGroupEnd"), find(version, "ncclGetVersion");
    return all;
  }
};

void require(bool holds, char const* what) {
  if (!holds) throw Error(std::string("bench_ranks_parts: ") + what);
}

/// Of one of `nodes` nodes f(), the median in us. Both ranks call it, and their graphs wait for
/// each other where f does.
double node(Context& ctx, Ranks& ranks, int repetitions, std::function<void()> const& f) {
  auto const stream = static_cast<cudaStream_t>(ctx.stream());
  f();
  ctx.synchronize();
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int k = 0; k < nodes; ++k) f();
  cuda::check(cudaStreamEndCapture(stream, &graph));
  cuda::check(cudaGraphInstantiate(&executable, graph, 0));
  cudaEvent_t begin, end;
  cuda::check(cudaEventCreate(&begin));
  cuda::check(cudaEventCreate(&end));
  std::vector<float> times;
  for (int k = -3; k < repetitions; ++k) {
    double meet = 0;
    ranks.gather(&meet, 1, std::vector<double>(2).data());
    cuda::check(cudaEventRecord(begin, stream));
    cuda::check(cudaGraphLaunch(executable, stream));
    cuda::check(cudaEventRecord(end, stream));
    cuda::check(cudaEventSynchronize(end));
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, begin, end));
    if (k >= 0) times.push_back(1e3f * ms / nodes);
  }
  cudaEventDestroy(begin), cudaEventDestroy(end);
  cudaGraphExecDestroy(executable), cudaGraphDestroy(graph);
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// Of a rank: entries 0, 1, .. after those of the ranks before it.
Array<double> numbers(Context& ctx, int rank, std::size_t n) {
  std::vector<double> v(n);
  std::iota(v.begin(), v.end(), double(n) * rank);
  return to_space(ctx, v.data(), n);
}

void time_rank(Ranks& ranks, Nccl const* nccl, Nccl::Id const& id, int repetitions) {
  int const r = ranks.rank();
  Context ctx(Backend::cuda, {.device = r, .communicator = &ranks});
  auto const stream = static_cast<cudaStream_t>(ctx.stream());
  cuda::check(cudaSetDevice(r));
  Nccl::Comm comm = nullptr;
  if (nccl != nullptr) require(nccl->init(&comm, 2, id, r) == 0, "ncclCommInitRank");
  auto const say = [&](auto const&... words) {
    if (r == 0) (std::cout << ... << words) << std::flush;
  };
  auto const timed = [&](auto const& f) { return node(ctx, ranks, repetitions, f); };

  Array<double> const x = numbers(ctx, r, 256);
  Array<double> sigma(ctx.space(), 2);
  auto const view = vector_view(x.data(), 256, ctx.space());
  auto const dotted = [&] { dot<double>(ctx, view, view, sigma.data()); };
  dotted();
  require(to_host(ctx, sigma)[0] == 511.0 * 512 * 1023 / 6, "a sum");
  Recording const own = ctx.record([&](Context&) { ranks.alone(dotted); });
  double const alone = timed([&] { own.run(ctx); });
  double const over = timed(dotted);
  say("node | us\n---|---\nsum, one device | ", alone, "\nsum, both | ", over, "\n");
  if (nccl != nullptr) {
    auto const reduce = [&] {
      nccl->all_reduce(sigma.data(), sigma.data() + 1, 1, Nccl::float64, Nccl::sum, comm, stream);
    };
    double const us = timed(reduce);
    say("ncclAllReduce of 1 double | ", us, "\nthe link's part of a sum over it | ",
        (over - alone) / us, "\n");
  }

  for (Index const n : {1024, 8192, 131072}) {
    Stretches const stretches{{0, n, 2 * std::int64_t{n}}};
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(n));
    std::iota(wanted.begin(), wanted.end(), std::int64_t{n} * (1 - r));
    Halo halo(ctx, HaloPlan(ranks, stretches, wanted));
    Array<double> const mine = numbers(ctx, r, static_cast<std::size_t>(n));
    Array<double> to(ctx.space(), static_cast<std::size_t>(n)), other(ctx.space(), to.size());
    auto const from = vector_view(mine.data(), n, ctx.space());
    auto const exchange = [&] {
      halo.begin(ctx, from);
      halo.end(ctx, KeepHalo{n, {}, to.data()});
    };
    exchange();
    require(to_host(ctx, to) == to_host(ctx, numbers(ctx, 1 - r, to.size())), "a halo");
    double const whole = timed(exchange);
    double const within = timed([&] {
      copy<double, double>(ctx, from, vector_view(other.data(), n, ctx.space()));
      copy<double, double>(ctx, vector_view(other.data(), n, ctx.space()).operator In<double>(),
                           vector_view(to.data(), n, ctx.space()));
    });
    say("halo of ", 8 * n / 1024, " KB | ", whole, "\ntwo copies of it within a device | ", within,
        "\n");
    if (nccl == nullptr) continue;
    double const us = timed([&] {
      nccl->begin();
      nccl->send(mine.data(), static_cast<std::size_t>(n), Nccl::float64, 1 - r, comm, stream);
      nccl->receive(to.data(), static_cast<std::size_t>(n), Nccl::float64, 1 - r, comm, stream);
      nccl->end();
    });
    say("ncclSend and ncclRecv of it | ", us, "\nhalo over it | ", whole / us, "\n");
  }
}

}  // namespace

int main(int count, char** words) try {
  int const repetitions = count > 1 ? std::atoi(words[1]) : 50;
  Nccl nccl{};
  Nccl::Id id{};
  bool const there = nccl.load() && nccl.id(&id) == 0;
  int number = 0;
  if (there) nccl.version(&number);
  {
    Context ctx(Backend::cuda);
    bench::print_device(ctx, repetitions);
  }
  std::cout << "NCCL " << number << "\n\n";
  run_threads(2, [&](Ranks& ranks) { time_rank(ranks, there ? &nccl : nullptr, id, repetitions); });
} catch (std::exception const& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
