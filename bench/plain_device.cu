// SPDX-License-Identifier: Apache-2.0
#include "plain_device.hpp"

#include <algorithm>
#include <vector>

#include <tcsolve/core/cuda/device.hpp>
#include "cublas.hpp"

namespace tcsolve::bench {

using cuda::check;

namespace {

constexpr int block_size = 256;

__global__ void dot_kernel(std::int64_t n, double const* x, double const* y, double* sigma) {
  __shared__ double warps[block_size / 32];
  double sum = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block_size)
    sum += x[i] * y[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < block_size / 32; ++w) sum += warps[w];
  atomicAdd(sigma, sum);
}

__global__ void read_kernel(double2 const* p, std::size_t n, double* sink) {
  double sum = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    sum += p[i].x + p[i].y;
  if (sum == 1.2345e300) *sink = sum;  // never; the compiler does not know
}

__global__ void copy_kernel(double2* to, double2 const* from, std::size_t n) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = from[i];
}

constexpr int blocks_of_a_multiprocessor = 8, threads = 512;

}  // namespace

void read_all(cuda::Device& on, std::byte const* data, std::size_t bytes) {
  read_kernel<<<on.properties.multiProcessorCount * blocks_of_a_multiprocessor, threads, 0,
                on.stream>>>(reinterpret_cast<double2 const*>(data), bytes / sizeof(double2),
                             const_cast<double*>(reinterpret_cast<double const*>(data)));
  check(cudaGetLastError());
}

void atomic_dot(Context& ctx, std::int64_t n, double const* x, double const* y, double* sigma) {
  cuda::Device& on = *ctx.device();
  check(cudaMemsetAsync(sigma, 0, sizeof(double), on.stream));
  auto blocks = std::min<std::int64_t>((n + block_size - 1) / block_size, on.max_blocks);
  dot_kernel<<<static_cast<int>(blocks), block_size, 0, on.stream>>>(n, x, y, sigma);
  check(cudaGetLastError());
}

void cublas_dot(Context& ctx, std::int64_t n, double const* x, double const* y, double* sigma) {
  cuda::Device& on = *ctx.device();
  check(cublasSetPointerMode(cuda::cublas(on), CUBLAS_POINTER_MODE_DEVICE));
  check(cublasDdot(cuda::cublas(on), static_cast<int>(n), x, 1, y, 1, sigma));
}

double graph_microseconds(Context& ctx, int count, int repetitions, void (*f)(void*),
                          void* argument) {
  cudaStream_t stream = ctx.device()->stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < count; ++i) f(argument);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i <= repetitions; ++i) {
    check(cudaEventRecord(begin, stream));
    check(cudaGraphLaunch(executable, stream));
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i > 0) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return 1e3 * times[times.size() / 2] / count;
}

double copy_bandwidth(Context& ctx) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  Array<std::byte> from(Space::cuda, bytes), to(Space::cuda, bytes);
  struct Both {
    double2 *to, *from;
    cuda::Device& on;
  } both{reinterpret_cast<double2*>(to.data()), reinterpret_cast<double2*>(from.data()),
         *ctx.device()};
  // A kernel: cudaMemcpyAsync as a node of a graph reached 2760 of 4290 GB/s on an H200.
  double us = graph_microseconds(
      ctx, 1, 20,
      [](void* p) {
        auto* b = static_cast<Both*>(p);
        int blocks = b->on.properties.multiProcessorCount * blocks_of_a_multiprocessor;
        copy_kernel<<<blocks, threads, 0, b->on.stream>>>(b->to, b->from, bytes / sizeof(double2));
        check(cudaGetLastError());
      },
      &both);
  return 2.0 * bytes / (us * 1e-6);
}

double cache_bandwidth(Context& ctx) {
  constexpr std::size_t most = std::size_t{24} << 20;
  Array<std::byte> const data(Space::cuda, most);
  check(cudaMemset(const_cast<std::byte*>(data.data()), 0, most));
  auto const us = [&](std::size_t bytes) {
    struct Read {
      std::byte const* data;
      std::size_t bytes;
      cuda::Device& on;
    } read{data.data(), bytes, *ctx.device()};
    return graph_microseconds(
        ctx, 40, 20,
        [](void* p) {
          auto* r = static_cast<Read*>(p);
          read_all(r->on, r->data, r->bytes);
        },
        &read);
  };
  return most / 2 / ((us(most) - us(most / 2)) * 1e-6);
}

}  // namespace tcsolve::bench
