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

#include "warp_sums.cuh"

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

/// From the sums of each thread to those of the team.
template <class V, int sums, class Team>
__device__ void add_up(double const (&sum)[sums], Instruction const& in, Team& team) {
#pragma unroll
  for (int k = 0; k < sums; ++k) {
    double a = warp_combine<V>(sum[k]);
    if (threadIdx.x % 32 == 0) team.memory.part[k][threadIdx.x / 32] = a;
  }
  team.template exchange<V>(sums, in.publish);
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
    if constexpr (Traits::sums > 0) add_up<V>(sum, in, team);
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

/// f(x), x as the product reads it.
template <class T, class F>
__device__ auto with_gathered(Instruction const& in, T const* x, F const& f) {
  if constexpr (std::is_same_v<T, double>)
    if (in.through.d != nullptr) return f(ThroughDiagonal<T>{x, in.through.d, in.through.alpha});
  return f(x);
}

__device__ inline int exponent_of(int power_of_two) { return __ffs(power_of_two) - 1; }

/// How a block shares out the rows of a product: `lanes` threads a row, each with `wide` of its
/// entries in flight and `group` rows at a time; a tree within the lanes. Which row a warp begins
/// with is the same for all its threads, so that they shuffle together.
template <class Team>
struct RowShare {
  static constexpr int group = 2, wide = 4;
  int lanes, shift;  // lanes = 2^shift: the device divides slowly
  int lane, stride;  // rows that the block does at once
  __device__ explicit RowShare(int lanes_)
      : lanes(lanes_),
        shift(exponent_of(lanes_)),
        lane(threadIdx.x & (lanes_ - 1)),
        stride(Team::threads >> shift) {}
  __device__ int first_of_warp() const { return static_cast<int>(threadIdx.x / 32 * 32) >> shift; }
  __device__ int in_warp() const { return static_cast<int>(threadIdx.x % 32) >> shift; }

  /// y_i from the sums of its lanes; adds <x_i, y_i> where x_i is given.
  template <class V, class T>
  __device__ void store(V const& verb, std::int64_t i, bool inside, T sum, T own,
                        double& dot) const {
    for (int offset = lanes >> 1; offset > 0; offset >>= 1)
      sum += __shfl_down_sync(~0u, sum, offset, lanes);
    if (!inside || lane != 0) return;
    T y = verb.beta == T(0) ? verb.alpha * sum : verb.alpha * sum + verb.beta * verb.y[i];
    verb.y[i] = y;
    dot += double(own) * double(y);
  }
};

/// The first `count` rows of the team, which lie in shared memory; returns this thread's part of
/// <x, y>. Here instructions are what costs.
template <class S, class T, class X, class Team>
__device__ double multiply_cached(CsrMultiply<S, T> const& verb, X x, RowCache const& cache,
                                  RowShare<Team> const& share, std::int64_t begin, int count) {
  constexpr int group = RowShare<Team>::group, wide = RowShare<Team>::wide;
  int const *offsets = at<int>(cache.offsets), *columns = at<int>(cache.columns);
  S const* values = at<S>(cache.values);
  bool dots = verb.sigma != nullptr && share.lane == 0;
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
      share.store(verb, begin + i, i < count, sum[k], own[k], dot);
    }
  }
  return dot;
}

/// Rows [begin, begin + count) from the second-level cache or beyond. A lone block is limited by
/// how many loads it has in flight: while x is gathered for two rows, the entries of the next two
/// and the positions of those after them are on their way.
template <class S, class T, class X, class Team>
__device__ double multiply_streamed(CsrMultiply<S, T> const& verb, X x, RowShare<Team> const& share,
                                    std::int64_t begin, int count) {
  constexpr int group = RowShare<Team>::group, wide = RowShare<Team>::wide;
  CsrView<S> const& a = verb.a;
  bool dots = verb.sigma != nullptr && share.lane == 0;
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
      e.value[u] = p < last ? __ldg(a.values + p) : S(0);
    }
    return e;
  };
  // Only the entries there are: the zeros behind them must not meet an Inf.
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
      share.store(verb, begin + i, i < count, sum[k], own[k], dot);
    }
  }
  return dot;
}

/// The first rows of the team may lie in shared memory.
template <class S, class T, class Team>
__device__ void run(CsrMultiply<S, T> const verb, Instruction const& in, Frame f, bool stopped,
                    Team& team) {
  if (stopped) return;
  RowShare<Team> share(in.lanes);
  int rows = static_cast<int>(team.end - team.begin);
  int cached = in.cache.capacity > 0 ? team.memory.cached_rows : 0;
  double sigma[1] = {};
  with_gathered(in, verb.x, [&](auto x) {
    if (cached > 0) sigma[0] = multiply_cached(verb, x, in.cache, share, team.begin, cached);
    if (cached < rows)
      sigma[0] += multiply_streamed(verb, x, share, team.begin + cached, rows - cached);
  });
  if (verb.sigma != nullptr) {
    add_up<Add>(sigma, in, team);
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

template <class S, class T, class Team>
__device__ void run(SellMultiply<S, T> const verb, Instruction const& in, Frame, bool stopped,
                    Team& team) {
  if (stopped) return;
  with_gathered(in, verb.x.data, [&](auto x) {
    for (std::int64_t i = team.begin + threadIdx.x; i < team.end; i += Team::threads) {
      T const sum = sell_row(verb.a, i, x, verb.x.row_stride);
      verb.y[i] = verb.beta == T(0) ? verb.alpha * sum : verb.alpha * sum + verb.beta * verb.y[i];
    }
  });
  __syncthreads();
}

/// write(i, x_i, sum over row i of a_ij x_j), `lanes` threads a row.
template <class S, class X, class Team, class Write>
__device__ void each_row(DiaView<S> const& a, X x, std::int64_t stride, int lanes, Team const& team,
                         Write const& write) {
  RowShare<Team> const share(lanes);
  for (std::int64_t base = team.begin + share.first_of_warp(); base < team.end;
       base += share.stride) {
    std::int64_t const row = base + share.in_warp(), i = row < team.end ? row : team.begin;
    auto const own = x[i * stride];
    auto sum = dia_row(a, i, x, stride, share.lane, lanes);
    for (int offset = lanes >> 1; offset > 0; offset >>= 1)
      sum += __shfl_down_sync(~0u, sum, offset, lanes);
    if (row < team.end && share.lane == 0) write(i, own, sum);
  }
}
template <class S, class T, class Team>
__device__ void run(DiaMultiply<S, T> const verb, Instruction const& in, Frame, bool stopped,
                    Team& team) {
  if (stopped) return;
  with_gathered(in, verb.x.data, [&](auto x) {
    each_row(verb.a, x, verb.x.row_stride, in.lanes, team, [&](std::int64_t i, T, T sum) {
      verb.y[i] = verb.beta == T(0) ? verb.alpha * sum : verb.alpha * sum + verb.beta * verb.y[i];
    });
  });
  __syncthreads();
}
template <class S, class T, class Team>
__device__ void run(DiaMultiplyDot<S, T> const verb, Instruction const& in, Frame f, bool stopped,
                    Team& team) {
  if (stopped) return;
  double sigma[1] = {};
  each_row(verb.a, verb.x, 1, in.lanes, team, [&](std::int64_t i, T own, T sum) {
    T const yi = verb.alpha * sum;
    verb.y[i] = yi;
    sigma[0] += double(own) * double(yi);
  });
  add_up<Add>(sigma, in, team);
  if (f.lead) verb.finish(f, team.memory.total);
  __syncthreads();
}

/// Warps side by side over the columns of [V u], four each, and over the rows: a team has few rows,
/// and one column after another would wait for memory as often. A sum has a place for each warp;
/// those of other columns leave nothing in it.
template <class T, class Team>
__device__ void run(Gram<T> const verb, Instruction const& in, Frame f, bool stopped, Team& team) {
  if (stopped) return;
  constexpr int width = 4, warps = Team::threads / 32;
  int const j = f.step(), columns = j + 1;
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int beside = 1;
  while (beside < warps && beside * width < columns) beside *= 2;
  int const abreast = warps / beside, mine = warp % beside, row = warp / beside;
  auto const leave = [&](int k, double total) {
    for (int q = 0; q < beside; ++q) team.memory.part[k][row + q * abreast] = q == 0 ? total : 0;
  };
  for (int k0 = 0; k0 < columns; k0 += width * beside) {
    int const first = k0 + mine * width;
    T const* a[width];  // a column too many is w again, whose sums are not used
#pragma unroll
    for (int k = 0; k < width; ++k) a[k] = first + k < columns ? verb.column(j, first + k) : verb.w;
    double sum[2 * width] = {}, ww[1] = {};
#pragma unroll 2
    for (std::int64_t i = team.begin + 32 * row + lane; i < team.end; i += 32 * abreast) {
      double const ui = double(verb.u[i]), wi = double(verb.w[i]);
#pragma unroll
      for (int k = 0; k < width; ++k) {
        double const v = double(a[k][i]);
        sum[2 * k] += v * ui;
        sum[2 * k + 1] += v * wi;
      }
      ww[0] += wi * wi;
    }
    double const total = warp_sums(sum), norm2 = warp_sums(ww);
    if (lane % 4 == 0 && first + lane / 8 < columns) leave(2 * first + lane / 4, total);
    if (first == 0 && lane == 0) leave(2 * columns, norm2);
  }
  team.template exchange<Add>(verb.sums(j), in.publish);
  for (int k = threadIdx.x; k < verb.sums(j); k += Team::threads)
    verb.H.sums[k] = team.memory.total[k];
  __syncthreads();
  // Another warp than the leader's makes the column of H.
  for (int k = static_cast<int>(threadIdx.x) - 32; k <= j; k += Team::threads)
    if (k >= 0) verb.entry(j, k);
  if (f.lead) verb.finish(f);
  __syncthreads();
}

}  // namespace tcsolve::cuda
