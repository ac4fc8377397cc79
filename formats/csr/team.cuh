// SPDX-License-Identifier: Apache-2.0
/// The product with CSR by the threads of a team.
#pragma once

#include <tcsolve/formats/csr/ops.hpp>
#include <tcsolve/kernels/loop/team.cuh>
#include <tcsolve/kernels/read_only.hpp>

namespace tcsolve::cuda {

/// The first `count` rows of the team, which lie in shared memory; returns this thread's part of
/// <x, y>. Here instructions are what costs.
template <class S, class T, class X, class Team>
__device__ double multiply_cached(CsrMultiply<S, T> const& op, X x, RowCache const& cache,
                                  RowShare<Team> const& share, std::int64_t begin, int count) {
  constexpr int group = RowShare<Team>::group, wide = RowShare<Team>::wide;
  int const *offsets = at<int>(cache.offsets), *columns = at<int>(cache.columns);
  S const* values = at<S>(cache.values);
  bool dots = op.sigma != nullptr && share.lane == 0;
  auto any = static_cast<Index>(begin);
  double dot = 0;
  for (int base = share.first_of_warp(); base < count; base += group * share.stride) {
    int at[group], last[group];
    T sum[group] = {}, own[group];
#pragma unroll
    for (int k = 0; k < group; ++k) {
      int i = base + k * share.stride + share.in_warp();
      at[k] = i < count ? offsets[i] + share.lane : 0;
      last[k] = i < count ? offsets[i + 1] : 0;
      own[k] = dots && i < count ? x[begin + i] : T(0);
    }
    for (bool more = true; more;) {
      // Past the end of a row an entry of x that exists is loaded and not used: under a condition
      // the compiler would have each load wait for the one before.
      Index column[group][wide];
      T xj[group][wide];
#pragma unroll
      for (int k = 0; k < group; ++k)
#pragma unroll
        for (int u = 0; u < wide; ++u) {
          int p = at[k] + u * share.lanes;
          column[k][u] = p < last[k] ? columns[p] : any;
        }
#pragma unroll
      for (int k = 0; k < group; ++k)
#pragma unroll
        for (int u = 0; u < wide; ++u) xj[k][u] = x[column[k][u]];
      more = false;
#pragma unroll
      for (int k = 0; k < group; ++k) {
#pragma unroll
        for (int u = 0; u < wide; ++u) {
          int p = at[k] + u * share.lanes;
          if (p < last[k]) sum[k] += T(values[p]) * xj[k][u];
        }
        at[k] += wide * share.lanes;
        more = more || at[k] < last[k];
      }
    }
#pragma unroll
    for (int k = 0; k < group; ++k) {
      int i = base + k * share.stride + share.in_warp();
      share.store(op, begin + i, i < count, sum[k], own[k], dot);
    }
  }
  return dot;
}

/// Rows [begin, begin + count) from the second-level cache or beyond. A lone block is limited by
/// how many loads it has in flight: while x is gathered for two rows, the entries of the next two
/// and the positions of those after them are on their way.
template <class S, class T, class X, class Team>
__device__ double multiply_streamed(CsrMultiply<S, T> const& op, X x, RowShare<Team> const& share,
                                    std::int64_t begin, int count) {
  constexpr int group = RowShare<Team>::group, wide = RowShare<Team>::wide;
  CsrView<S> const& a = op.a;
  bool dots = op.sigma != nullptr && share.lane == 0;
  struct Extent {
    Offset at, last;
  };
  auto any = static_cast<Index>(begin);  // see multiply_cached()
  struct Entries {
    Index column[wide];
    S value[wide];
  };
  auto extent = [&](int i) {
    return i < count ? Extent{a.offsets[begin + i] + share.lane, a.offsets[begin + i + 1]}
                     : Extent{0, 0};
  };
  auto fetch = [&](Offset at, Offset last) {
    Entries e;
#pragma unroll
    for (int u = 0; u < wide; ++u) {
      Offset p = at + u * share.lanes;
      e.column[u] = p < last ? __ldg(a.columns + p) : any;
      e.value[u] = p < last ? read_only(a.values + p) : S{};
    }
    return e;
  };
  // Only stored entries: a zero loaded beyond `last` times an Inf of x would be a NaN.
  auto add = [&](Entries const& e, T const(&xj)[wide], Offset at, Offset last, T& sum) {
#pragma unroll
    for (int u = 0; u < wide; ++u)
      if (at + u * share.lanes < last) sum += T(e.value[u]) * xj[u];
  };

  double dot = 0;
  int base = share.first_of_warp();
  Extent row[group], next[group];
  Entries entries[group];
#pragma unroll
  for (int k = 0; k < group; ++k) {
    row[k] = extent(base + k * share.stride + share.in_warp());
    next[k] = extent(base + (group + k) * share.stride + share.in_warp());
  }
#pragma unroll
  for (int k = 0; k < group; ++k) entries[k] = fetch(row[k].at, row[k].last);
  for (; base < count; base += group * share.stride) {
    T xj[group][wide], own[group], sum[group] = {};
    Entries later[group];
#pragma unroll
    for (int k = 0; k < group; ++k)
#pragma unroll
      for (int u = 0; u < wide; ++u) xj[k][u] = x[entries[k].column[u]];
#pragma unroll
    for (int k = 0; k < group; ++k) {
      int i = base + k * share.stride + share.in_warp();
      own[k] = dots && i < count ? x[begin + i] : T(0);
      later[k] = fetch(next[k].at, next[k].last);
    }
#pragma unroll
    for (int k = 0; k < group; ++k) {
      add(entries[k], xj[k], row[k].at, row[k].last, sum[k]);
      for (Offset at = row[k].at + wide * share.lanes; at < row[k].last; at += wide * share.lanes) {
        Entries more = fetch(at, row[k].last);
#pragma unroll
        for (int u = 0; u < wide; ++u) xj[k][u] = x[more.column[u]];
        add(more, xj[k], at, row[k].last, sum[k]);
      }
      entries[k] = later[k];
      row[k] = next[k];
      next[k] = extent(base + (2 * group + k) * share.stride + share.in_warp());
    }
#pragma unroll
    for (int k = 0; k < group; ++k) {
      int i = base + k * share.stride + share.in_warp();
      share.store(op, begin + i, i < count, sum[k], own[k], dot);
    }
  }
  return dot;
}

/// The first rows of the team may lie in shared memory.
template <class S, class T, class Team>
__device__ void run(CsrMultiply<S, T> const op, Instruction const& in, Frame f, bool stopped,
                    Team& team) {
  if (stopped) return;
  RowShare<Team> share(in.lanes);
  int rows = static_cast<int>(team.end - team.begin);
  int cached = in.cache.capacity > 0 ? team.memory.cached_rows : 0;
  double sigma[1] = {};
  with_gathered(in, op.x, [&](auto x) {
    if (cached > 0) sigma[0] = multiply_cached(op, x, in.cache, share, team.begin, cached);
    if (cached < rows)
      sigma[0] += multiply_streamed(op, x, share, team.begin + cached, rows - cached);
  });
  if (op.sigma != nullptr) {
    add_up<Add>(sigma, in, team);
    if (f.lead) *op.sigma = team.memory.total[0];
  }
  __syncthreads();
}

/// The team's first rows move to shared memory, as many as there is room for.
template <class S, class T, class Team>
__device__ void load(CsrMultiply<S, T> const& op, RowCache const& cache, Team& team) {
  if (threadIdx.x == 0) team.memory.cached_rows = 0;
  __syncthreads();
  if (team.begin >= team.end) return;
  Offset first = op.a.offsets[team.begin];
  int* offsets = at<int>(cache.offsets);
  for (std::int64_t i = team.begin + threadIdx.x; i <= team.end; i += Team::threads) {
    Offset here = op.a.offsets[i] - first;
    if (here > cache.capacity) continue;
    offsets[i - team.begin] = static_cast<int>(here);
    atomicMax(&team.memory.cached_rows, static_cast<int>(i - team.begin));
  }
  __syncthreads();
  int entries = offsets[team.memory.cached_rows];
  for (int e = threadIdx.x; e < entries; e += Team::threads) {
    at<int>(cache.columns)[e] = op.a.columns[first + e];
    at<S>(cache.values)[e] = op.a.values[first + e];
  }
  __syncthreads();
}

}  // namespace tcsolve::cuda
