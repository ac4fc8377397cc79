// SPDX-License-Identifier: Apache-2.0
/// How the threads of a block run a verb of a program: the part that the persistent loop
/// (persistent.cu), whose team is the whole grid, and the batch (batch.cu), whose team is a block,
/// have in common. A Team has
///
///     threads      of the block
///     begin, end   the rows of the block
///     memory       its TeamMemory
///     exchange<V>(count, publish)   memory.part[k][warp] -> memory.total[k], k < count, over the
///                  whole team; with `publish` it sees what was written before
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/program.hpp>

namespace tcsolve::cuda {

template <int threads>
struct TeamMemory {
  double part[max_sums][threads / 32];
  double total[max_sums];
  int cached_rows;                                 // of the matrix in shared memory
  std::int32_t cancel;                             // the word of the host, as of the last exchange
  alignas(16) std::byte state[sizeof(LoopState)];  // shared memory has no constructors
};

extern __shared__ __align__(16) std::byte dynamic[];

template <class T>
__device__ T* at(int position) {
  return reinterpret_cast<T*>(dynamic + position);
}

struct Add {};  ///< stands for a verb whose sums are sums

/// Sum, or maximum, over the first `width` lanes; in lane 0.
template <class V, int width = 32>
__device__ double warp_combine(double a) {
#pragma unroll
  for (int offset = width / 2; offset > 0; offset /= 2)
    a = combine<V>(a, __shfl_down_sync(~0u, a, offset));
  return a;
}

/// The operands by value: in registers they need not be read again after every store.
template <class V, class Team>
__device__ void run(V const verb, Instruction const& in, Frame f, bool stopped, Team& team) {
  using Traits = VerbTraits<V>;
  typename CoefficientsOf<V>::type c{};
  bool go = !stopped || Traits::always;
  if constexpr (Traits::prepares) go = go && verb.prepare(f, c);
  if (go) {
    double sum[Traits::sums > 0 ? Traits::sums : 1] = {};
    if (verb.n > 0)
      for (std::int64_t i = team.begin + threadIdx.x; i < team.end; i += Team::threads)
        verb.element(i, c, sum);
    if constexpr (Traits::sums > 0) {
      for (int k = 0; k < Traits::sums; ++k) {
        double a = warp_combine<V>(sum[k]);
        if (threadIdx.x % 32 == 0) team.memory.part[k][threadIdx.x / 32] = a;
      }
      team.template exchange<V>(Traits::sums, in.publish);
    }
    if constexpr (Traits::finishes) {
      if constexpr (Traits::prepares && Traits::sums == 0)
        __syncthreads();  // coefficients are read
      if (f.lead) verb.finish(f, team.memory.total);
    }
  }
  if constexpr (Traits::afters)
    if (f.lead) verb.after(f);
  __syncthreads();
}

/// Where the rows of a CSR matrix are read from: the caller's arrays, or shared memory.
template <class S>
struct GlobalRows {
  CsrView<S> const& a;
  using Position = Offset;
  __device__ Position start(std::int64_t i) const { return a.offsets[i]; }
  __device__ Index column(Position p) const { return __ldg(a.columns + p); }
  __device__ S value(Position p) const { return __ldg(a.values + p); }
};
template <class S>
struct CachedRows {
  RowCache const& cache;
  std::int64_t begin;
  using Position = int;
  __device__ Position start(std::int64_t i) const { return at<int>(cache.offsets)[i - begin]; }
  __device__ Index column(Position p) const { return at<int>(cache.columns)[p]; }
  __device__ S value(Position p) const { return at<S>(cache.values)[p]; }
};

/// Rows [first, end) of y = alpha A x + beta y: `lanes` threads a row, a tree within them. Returns
/// this thread's part of <x, y>. A lone block is limited by how many loads it has in flight, so a
/// thread has two rows of four entries under way, and while it gathers their x it already loads the
/// entries of the next two rows and the positions of those after them.
template <class Rows, class S, class T, class Team>
__device__ double multiply_rows(CsrMultiply<S, T> const& verb, int lanes, std::int64_t first,
                                std::int64_t end, Rows const& rows, Team const&) {
  constexpr int group = 2, wide = 4;
  using Position = typename Rows::Position;
  struct Extent {
    Position at, last;
  };
  struct Entries {
    Index column[wide];  // -1: none
    S value[wide];
  };
  T const* x = verb.x;
  int lane = threadIdx.x % lanes, stride = Team::threads / lanes;
  bool dots = verb.sigma != nullptr;
  auto extent = [&](std::int64_t i) {
    return i < end ? Extent{rows.start(i) + lane, rows.start(i + 1)} : Extent{0, 0};
  };
  auto fetch = [&](Extent const& row, int block) {
    Entries e;
#pragma unroll
    for (int u = 0; u < wide; ++u) {
      Position p = row.at + (block * wide + u) * lanes;
      e.column[u] = p < row.last ? rows.column(p) : -1;
      e.value[u] = p < row.last ? rows.value(p) : S(0);
    }
    return e;
  };
  auto gather = [&](Entries const& e, int u) {
    return e.column[u] >= 0 ? T(e.value[u]) * x[e.column[u]] : T(0);
  };

  double dot = 0;
  first += threadIdx.x / lanes;
  Extent row[group], next[group];
  Entries entries[group];
#pragma unroll
  for (int k = 0; k < group; ++k) row[k] = extent(first + k * stride);
#pragma unroll
  for (int k = 0; k < group; ++k) next[k] = extent(first + (group + k) * stride);
#pragma unroll
  for (int k = 0; k < group; ++k) entries[k] = fetch(row[k], 0);
  for (; __any_sync(~0u, first < end); first += group * stride) {
    T product[group][wide], own[group], sum[group] = {};
#pragma unroll
    for (int k = 0; k < group; ++k)
#pragma unroll
      for (int u = 0; u < wide; ++u) product[k][u] = gather(entries[k], u);
#pragma unroll
    for (int k = 0; k < group; ++k) {
      std::int64_t i = first + k * stride;
      own[k] = dots && lane == 0 && i < end ? x[i] : T(0);
      entries[k] = fetch(next[k], 0);
    }
#pragma unroll
    for (int k = 0; k < group; ++k) {
#pragma unroll
      for (int u = 0; u < wide; ++u) sum[k] += product[k][u];
      for (int block = 1; row[k].at + block * wide * lanes < row[k].last; ++block) {
        Entries more = fetch(row[k], block);
#pragma unroll
        for (int u = 0; u < wide; ++u) product[k][u] = gather(more, u);
#pragma unroll
        for (int u = 0; u < wide; ++u) sum[k] += product[k][u];
      }
    }
#pragma unroll
    for (int k = 0; k < group; ++k) {
      row[k] = next[k];
      next[k] = extent(first + (2 * group + k) * stride);
    }
#pragma unroll
    for (int k = 0; k < group; ++k) {
      for (int offset = lanes / 2; offset > 0; offset /= 2)
        sum[k] += __shfl_down_sync(~0u, sum[k], offset, lanes);
      std::int64_t i = first + k * stride;
      if (i >= end || lane != 0) continue;
      T y = verb.beta == T(0) ? verb.alpha * sum[k] : verb.alpha * sum[k] + verb.beta * verb.y[i];
      verb.y[i] = y;
      dot += double(own[k]) * double(y);
    }
  }
  return dot;
}

/// The first rows of the team may lie in shared memory.
template <class S, class T, class Team>
__device__ void run(CsrMultiply<S, T> const verb, Instruction const& in, Frame f, bool stopped,
                    Team& team) {
  if (stopped) return;
  std::int64_t cached = team.begin;
  double sigma = 0;
  if (in.cache.capacity > 0) {
    cached += team.memory.cached_rows;
    sigma = multiply_rows(verb, in.lanes, team.begin, cached, CachedRows<S>{in.cache, team.begin},
                          team);
  }
  sigma += multiply_rows(verb, in.lanes, cached, team.end, GlobalRows<S>{verb.a}, team);
  if (verb.sigma != nullptr) {
    sigma = warp_combine<Add>(sigma);
    if (threadIdx.x % 32 == 0) team.memory.part[0][threadIdx.x / 32] = sigma;
    team.template exchange<Add>(1, in.publish);
    if (f.lead) *verb.sigma = team.memory.total[0];
  }
  __syncthreads();
}

/// The team's first rows move to shared memory, as many as there is room for.
template <class S, class T, class Team>
__device__ void load(CsrMultiply<S, T> const& verb, RowCache const& cache, Team& team) {
  if (threadIdx.x == 0) team.memory.cached_rows = 0;
  __syncthreads();
  if (team.begin >= team.end) return;
  Offset first = verb.a.offsets[team.begin];
  int* offsets = at<int>(cache.offsets);
  for (std::int64_t i = team.begin + threadIdx.x; i <= team.end; i += Team::threads) {
    Offset here = verb.a.offsets[i] - first;
    if (here > cache.capacity) continue;
    offsets[i - team.begin] = static_cast<int>(here);
    atomicMax(&team.memory.cached_rows, static_cast<int>(i - team.begin));
  }
  __syncthreads();
  int entries = offsets[team.memory.cached_rows];
  for (int e = threadIdx.x; e < entries; e += Team::threads) {
    at<int>(cache.columns)[e] = verb.a.columns[first + e];
    at<S>(cache.values)[e] = verb.a.values[first + e];
  }
  __syncthreads();
}

/// h = V^T w, eight columns in flight.
template <class T, class Team>
__device__ void run(Gram<T> const verb, Instruction const& in, Frame f, bool stopped, Team& team) {
  if (stopped) return;
  constexpr int group = 8;
  int columns = f.step() + 1;
  for (int j0 = 0; j0 < columns; j0 += group) {
    double sum[group] = {};
    for (std::int64_t i = team.begin + threadIdx.x; i < team.end; i += Team::threads) {
      double wi = double(verb.w[i]);
#pragma unroll
      for (int j = 0; j < group; ++j)
        if (j0 + j < columns) sum[j] += double(verb.V[(j0 + j) * verb.n + i]) * wi;
    }
#pragma unroll
    for (int j = 0; j < group; ++j) {
      double a = warp_combine<Add>(sum[j]);
      if (threadIdx.x % 32 == 0 && j0 + j < columns) team.memory.part[j0 + j][threadIdx.x / 32] = a;
    }
  }
  team.template exchange<Add>(columns, in.publish);
  for (int j = threadIdx.x; j < columns; j += Team::threads) verb.h[j] = team.memory.total[j];
  __syncthreads();
}

}  // namespace tcsolve::cuda
