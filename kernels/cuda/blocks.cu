// SPDX-License-Identifier: Apache-2.0
/// Passes over blocks of vectors on the device (kernels/blocks.hpp), by m8n8k4.f64 (PTX ISA,
/// "Matrix Fragments for mma"). Lane l holds row l / 4, column l % 4 of the left operand, row l %
/// 4, column l / 4 of the right one, and of the sums row l / 4, columns 2 (l % 4) and one more.
///
///   gram      left: X^T, 8 columns of X by 4 rows; right: 4 rows of Y by 8 columns. A warp keeps
///             TP x TQ tiles of sums and goes through its 4 rows at a time; the warps of a block
///             are added in shared memory, the blocks by sum_kernel, both in order
///   combine   left: 8 rows of X by 4 columns; right: C from shared memory, zeros beyond p and q.
///             A warp has read its rows before it writes them, so Y may be X
///   loads     those of several fours (gram) or eights (combine) of rows are on their way at once:
///             what a multiprocessor has to have asked for to keep the memory busy
///   FP32      vectors of at most 16 columns; their numbers are FP64 from the load on
///   bytes     sizeof(T) n (p + q), and sizeof(T) n q written by combine
#include <algorithm>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/cuda/rank_sums.cuh>
#include <tcsolve/kernels/cuda/small_op.cuh>
#include <tcsolve/kernels/cuda/sums.cuh>

namespace tcsolve::cuda {

namespace {

constexpr int block = 256, warps = block / 32;
constexpr int side = 4;  // tiles of a warp's sums in a row or column, at most

/// Blocks of gram_kernel on a multiprocessor, by the tiles of a warp's sums.
constexpr int blocks_each(int tiles) { return tiles <= 4 ? 3 : 2; }

__device__ void mma(double (&sum)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
               : "+d"(sum[0]), "+d"(sum[1])
               : "d"(a), "d"(b));
}

__device__ bool idle(LoopState const* state, double const* wanted) {
  return (state != nullptr && state->stop != 0) || (wanted != nullptr && *wanted == 0);
}

/// Sums of the tiles from column i0 of X and j0 of Y on, 8 TP x 8 TQ of them, for Y and, with
/// `right` = 2, for Z; `right` = 0: Y is X, whose tiles are all of it.
template <class T, int TP, int TQ, int right>
__global__ void __launch_bounds__(block, blocks_each(TP* TQ))
    gram_kernel(BlockGram<T> op, LoopState const* state) {
  if (idle(state, op.wanted)) return;
  constexpr int size = 64 * TP * TQ;
  __shared__ double total[size];
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane % 4, column = lane / 4;
  int const parts = (op.p + 8 * TP - 1) / (8 * TP), b = static_cast<int>(blockIdx.y) / parts;
  if (!op.has(b)) return;
  T const* const X = op.X + b * op.stride;
  int const i0 = static_cast<int>(blockIdx.y) % parts * 8 * TP;
  int const j0 = static_cast<int>(blockIdx.z) * 8 * TQ;
  constexpr int sides = right == 0 ? 1 : right;
  static_assert(right > 0 || TP == TQ);
  double sum[sides][TP][TQ][2] = {};
  constexpr int loads = TP + right * TQ, ahead = loads < 8 ? 16 / loads : 1;  // fours of rows
  std::int64_t const step = std::int64_t{gridDim.x} * warps * 4;
  for (std::int64_t r0 = (std::int64_t{blockIdx.x} * warps + warp) * 4; r0 < op.n;
       r0 += ahead * step) {
    double x[ahead][TP], y[ahead][sides][TQ];
#pragma unroll
    for (int a = 0; a < ahead; ++a) {
      std::int64_t const r = r0 + a * step + row;
      bool const here = r < op.n;
#pragma unroll
      for (int t = 0; t < TP; ++t) {
        int const i = i0 + 8 * t + column;
        x[a][t] = here && i < op.p ? double{__ldg(X + r * op.ldx + i)} : 0.0;
      }
#pragma unroll
      for (int z = 0; z < sides; ++z)
#pragma unroll
        for (int t = 0; t < TQ; ++t) {
          if constexpr (right == 0) {
            y[a][z][t] = x[a][t];
            continue;
          }
          int const j = j0 + 8 * t + column;
          T const* const Y = z == 0 ? op.Y : op.Z;
          y[a][z][t] = here && j < op.q ? double{__ldg(Y + r * op.ldy + j)} : 0.0;
        }
    }
#pragma unroll
    for (int a = 0; a < ahead; ++a)
#pragma unroll
      for (int z = 0; z < sides; ++z)
#pragma unroll
        for (int s = 0; s < TP; ++s)
#pragma unroll
          for (int t = 0; t < TQ; ++t) mma(sum[z][s][t], x[a][s], y[a][z][t]);
  }
#pragma unroll
  for (int z = 0; z < sides; ++z) {
    for (int w = 0; w < warps; ++w) {
      if (warp == w)
        for (int s = 0; s < TP; ++s)
          for (int t = 0; t < TQ; ++t)
            for (int e = 0; e < 2; ++e) {
              double& to = total[(8 * s + lane / 4) * 8 * TQ + 8 * t + 2 * (lane % 4) + e];
              to = w == 0 ? sum[z][s][t][e] : to + sum[z][s][t][e];
            }
      __syncthreads();
    }
    for (int e = threadIdx.x; e < size; e += block) {
      int const i = i0 + e / (8 * TQ), j = j0 + e % (8 * TQ);
      if (i < op.p && j < op.q)
        op.partials[(((std::int64_t{z} * op.blocks + b) * op.p + i) * op.q + j) * gridDim.x +
                    blockIdx.x] = total[e];
    }
    __syncthreads();
  }
}

/// C_e, and behind all of C D_e, is the sum of the blocks' parts, in order. A warp each.
template <class T>
__global__ void __launch_bounds__(block)
    sum_kernel(BlockGram<T> op, LoopState const* state, unsigned int parts) {
  if (idle(state, op.wanted)) return;
  int const all = op.blocks * op.p * op.q;
  int const e = static_cast<int>(blockIdx.x) * warps + threadIdx.x / 32;
  bool const of_Z = e >= all;
  if (e >= (op.D == nullptr ? all : 2 * all) || !(of_Z || op.has(e / (op.p * op.q)))) return;
  double const sum = end_sum_by_warp(op.partials + std::int64_t{e} * parts, parts);
  if (threadIdx.x % 32 == 0) (of_Z ? op.D[e - all] : op.C[e]) = sum;
}

/// A stretch of the entries of C, or of D, in which some are summed.
template <class T>
struct Entries {
  bool of_D;
  int first, count;
  __device__ double* sums(BlockGram<T> const& op) const { return (of_D ? op.D : op.C) + first; }
  __device__ auto there(BlockGram<T> const& op) const {
    return [of_D = of_D, first = first, &op](int e) {
      return of_D || op.has((first + e) / (op.p * op.q));
    };
  }
};

/// These of all ranks. One block.
template <class T>
__global__ void __launch_bounds__(block)
    ranks_kernel(BlockGram<T> op, Entries<T> of, LoopState* state, Scratch scratch) {
  if (idle(state, op.wanted)) return;
  sum_over_ranks<Add>(scratch, state, of.sums(op), of.count, of.there(op));
}
/// The second half, where that is cut in two. One block.
template <class T>
__global__ void __launch_bounds__(block)
    take_kernel(BlockGram<T> op, Entries<T> of, LoopState* state, Scratch scratch) {
  take_over_ranks<Add>(scratch, state, of.sums(op), of.count, of.count, of.there(op));
}

template <class T>
void over_ranks(Device& on, LoopState* state, BlockGram<T> const& op) {
  bool const cut = on.scratch.apart.cut();
  if (on.scratch.mail == nullptr && !cut) return;
  int const all = op.blocks * op.p * op.q, most = cut ? SumsApart::room : all;
  for (bool const of_D : {false, true}) {
    if (of_D && op.D == nullptr) return;
    for (int first = 0; first < all; first += most) {
      Entries<T> const of{of_D, first, std::min(most, all - first)};
      ranks_kernel<<<1, block, 0, on.stream>>>(op, of, state, on.scratch);
      check(cudaGetLastError());
      if (!cut) continue;
      gather_sums(on, of.count);
      take_kernel<<<1, block, 0, on.stream>>>(op, of, state, on.scratch);
      check(cudaGetLastError());
    }
  }
}

/// Several blocks of X: their products are added one after the other, C from the first-level cache.
/// As combine_kernel otherwise, but that Y may not be X; 16 columns at most.
template <class T>
__global__ void __launch_bounds__(block)
    combine_blocks_kernel(BlockCombine<T> op, LoopState const* state) {
  if (idle(state, op.wanted)) return;
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32, present = op.present();
  for (std::int64_t r0 = (std::int64_t{blockIdx.x} * warps + warp) * 8; r0 < op.n;
       r0 += std::int64_t{gridDim.x} * warps * 8) {
    std::int64_t const r = r0 + lane / 4;
    double sum[2][2] = {};
    for (int b = 0; b < present; ++b) {
      T const* const X = op.X + b * op.stride;
      double const* const C = op.C + std::int64_t{b} * op.p * op.q;
      double x[4], c[2][4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        int const i = 4 * k + lane % 4;
        x[k] = r < op.n && i < op.p ? double{__ldg(X + r * op.ldx + i)} : 0.0;
#pragma unroll
        for (int t = 0; t < 2; ++t) {
          int const j = 8 * t + lane / 4;
          c[t][k] = i < op.p && j < op.q ? __ldg(C + i * op.q + j) : 0.0;
        }
      }
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int t = 0; t < 2; ++t) mma(sum[t], x[k], c[t][k]);
    }
    for (int t = 0; t < 2; ++t)
      for (int e = 0; e < 2; ++e) {
        int const j = 8 * t + 2 * (lane % 4) + e;
        if (r >= op.n || j >= op.q) continue;
        double const before = op.S == nullptr ? 0.0 : op.S[r * op.ldy + j];
        op.Y[r * op.ldy + j] = static_cast<T>(before + op.alpha * sum[t][e]);
      }
  }
}

/// KP fours of X's columns, all of q in eights, TQ of them at a time; `groups` of 8 rows at once;
/// Y and, with `results` = 2, V.
template <int KP, int TQ, int groups, int results>
__global__ void __launch_bounds__(block)
    combine_kernel(BlockCombine<double> op, LoopState const* state) {
  if (idle(state, op.wanted)) return;
  // (results, 4 KP, width): zeros beyond p and q; + 4: rows begin in other banks
  extern __shared__ double sC[];
  int const tiles = (op.q + 7) / 8, width = 8 * tiles + 4, size = 4 * KP * width;
  for (int e = threadIdx.x; e < results * size; e += block) {
    int const i = e % size / width, j = e % width;
    double const* const C = e < size ? op.C : op.D;
    sC[e] = i < op.p && j < op.q ? C[i * op.q + j] : 0.0;
  }
  __syncthreads();
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  auto const even = [](void const* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  bool const paired = op.ldy % 2 == 0 && even(op.Y) && even(op.S) && even(op.U) && even(op.V);
  for (std::int64_t r0 = (std::int64_t{blockIdx.x} * warps + warp) * 8 * groups; r0 < op.n;
       r0 += std::int64_t{gridDim.x} * warps * 8 * groups) {
    std::int64_t const r = r0 + lane / 4;
    double x[groups][KP];
#pragma unroll
    for (int g = 0; g < groups; ++g)
#pragma unroll
      for (int k = 0; k < KP; ++k) {
        int const i = 4 * k + lane % 4;
        x[g][k] = r + 8 * g < op.n && i < op.p ? op.X[(r + 8 * g) * op.ldx + i] : 0.0;
      }
    for (int t0 = 0; t0 < tiles; t0 += TQ) {
      // All of S and U before the first store, which may be to one of them.
      double2 before[results][groups][TQ];
#pragma unroll
      for (int z = 0; z < results; ++z)
#pragma unroll
        for (int g = 0; g < groups; ++g)
#pragma unroll
          for (int t = 0; t < TQ; ++t) {
            double const* const S = z == 0 ? op.S : op.U;
            int const j = 8 * (t0 + t) + 2 * (lane % 4);
            before[z][g][t] = {0, 0};
            if (S == nullptr || r + 8 * g >= op.n || j >= op.q) continue;
            double const* const s = S + (r + 8 * g) * op.ldy + j;
            if (paired && j + 1 < op.q)
              before[z][g][t] = *reinterpret_cast<double2 const*>(s);
            else
              before[z][g][t] = {s[0], j + 1 < op.q ? s[1] : 0.0};
          }
      __syncwarp();  // the rows of X are read: they may be those of Y
#pragma unroll
      for (int z = 0; z < results; ++z)
#pragma unroll
        for (int t = 0; t < TQ; ++t) {
          if (t0 + t >= tiles) break;
          double sum[groups][2] = {};
#pragma unroll
          for (int k = 0; k < KP; ++k) {
            double const c = sC[z * size + (4 * k + lane % 4) * width + 8 * (t0 + t) + lane / 4];
#pragma unroll
            for (int g = 0; g < groups; ++g) mma(sum[g], x[g][k], c);
          }
          int const j = 8 * (t0 + t) + 2 * (lane % 4);
#pragma unroll
          for (int g = 0; g < groups; ++g) {
            if (r + 8 * g >= op.n || j >= op.q) continue;
            double* const y = (z == 0 ? op.Y : op.V) + (r + 8 * g) * op.ldy + j;
            double2 const out{before[z][g][t].x + op.alpha * sum[g][0],
                              before[z][g][t].y + op.alpha * sum[g][1]};
            if (paired && j + 1 < op.q) {
              *reinterpret_cast<double2*>(y) = out;
            } else {
              y[0] = out.x;
              if (j + 1 < op.q) y[1] = out.y;
            }
          }
        }
    }
  }
}

int tiles_of(Index k) { return k > 16 ? side : k > 8 ? 2 : 1; }

unsigned int gram_blocks(Device& on, std::int64_t n, Index p, Index q) {
  int const each = blocks_each(tiles_of(p) * tiles_of(q));
  std::int64_t const wanted = (n + 4 * warps - 1) / (4 * warps),
                     most = std::int64_t{each} * on.properties.multiProcessorCount;
  return static_cast<unsigned int>(wanted < 1 ? 1 : wanted > most ? most : wanted);
}

template <int TP, int TQ, class T>
void launch_gram(Device& on, LoopState* state, BlockGram<T> const& op, unsigned int blocks) {
  auto const parts = [](Index k, int tiles) {
    return static_cast<unsigned int>((k + 8 * tiles - 1) / (8 * tiles));
  };
  dim3 const grid(blocks, op.blocks * parts(op.p, TP), parts(op.q, TQ));
  bool const of_itself = op.X == op.Y && op.ldx == op.ldy && op.blocks == 1 && op.p == op.q &&
                         op.p <= 8 * TP && op.D == nullptr;
  if (of_itself) {
    if constexpr (TP == TQ) gram_kernel<T, TP, TQ, 0><<<grid, block, 0, on.stream>>>(op, state);
  } else if (op.D == nullptr) {
    gram_kernel<T, TP, TQ, 1><<<grid, block, 0, on.stream>>>(op, state);
  } else if constexpr (std::is_same_v<T, float>) {
    throw Unsupported("gram: D of FP32 vectors");
  } else if constexpr (TP * TQ <= 4) {
    gram_kernel<T, TP, TQ, 2><<<grid, block, 0, on.stream>>>(op, state);
  } else {  // the sums of both are more than the registers
    BlockGram<T> other = op;
    other.Y = op.Z;
    other.partials += std::int64_t{blocks} * op.blocks * op.p * op.q;
    gram_kernel<T, TP, TQ, 1><<<grid, block, 0, on.stream>>>(op, state);
    gram_kernel<T, TP, TQ, 1><<<grid, block, 0, on.stream>>>(other, state);
  }
  check(cudaGetLastError());
}

template <int TP, class T>
void launch_gram(Device& on, LoopState* state, BlockGram<T> const& op, unsigned int blocks) {
  switch (tiles_of(op.q)) {
    case 1: return launch_gram<TP, 1>(on, state, op, blocks);
    case 2: return launch_gram<TP, 2>(on, state, op, blocks);
    default:
      if constexpr (std::is_same_v<T, double>) launch_gram<TP, side>(on, state, op, blocks);
  }
}

unsigned int combine_blocks(Device& on, std::int64_t n) {
  std::int64_t const wanted = (n + 8 * warps - 1) / (8 * warps),
                     most = 8ll * on.properties.multiProcessorCount;
  return static_cast<unsigned int>(wanted < most ? wanted : most);
}

template <int KP, int TQ>
void launch_combine(Device& on, LoopState* state, BlockCombine<double> const& op) {
  constexpr int groups = KP <= 4 ? 2 : 1;
  std::size_t const each = 4 * KP * (8 * ((op.q + 7) / 8) + 4) * sizeof(double);
  unsigned int const blocks = combine_blocks(on, (op.n + groups - 1) / groups);
  if (op.D == nullptr) {
    combine_kernel<KP, TQ, groups, 1><<<blocks, block, each, on.stream>>>(op, state);
  } else if constexpr (KP <= 4 && TQ <= 2) {
    combine_kernel<KP, TQ, groups, 2><<<blocks, block, 2 * each, on.stream>>>(op, state);
  } else {  // both have no room
    BlockCombine<double> first = op, second = op;
    first.D = second.D = nullptr;
    second.C = op.D, second.S = op.U, second.Y = op.V;
    combine_kernel<KP, TQ, groups, 1><<<blocks, block, each, on.stream>>>(first, state);
    combine_kernel<KP, TQ, groups, 1><<<blocks, block, each, on.stream>>>(second, state);
  }
  check(cudaGetLastError());
}

template <int KP>
void launch_combine(Device& on, LoopState* state, BlockCombine<double> const& op) {
  if (op.q <= 8) return launch_combine<KP, 1>(on, state, op);
  if (op.q <= 16) return launch_combine<KP, 2>(on, state, op);
  launch_combine<KP, 4>(on, state, op);
}

}  // namespace

std::int64_t gram_partials(Device& on, std::int64_t n, Index p, Index q) {
  return std::int64_t{gram_blocks(on, n, p, q)} * p * q;
}

namespace {

template <class T>
void run(Device& on, LoopState* state, BlockGram<T> const& op) {
  if (op.p == 0 || op.q == 0) return;
  unsigned int const blocks = gram_blocks(on, op.n, op.p, op.q);
  switch (tiles_of(op.p)) {
    case 1: launch_gram<1>(on, state, op, blocks); break;
    case 2: launch_gram<2>(on, state, op, blocks); break;
    default:
      if constexpr (std::is_same_v<T, double>) launch_gram<side>(on, state, op, blocks);
  }
  int const entries = op.blocks * op.p * op.q * (op.D == nullptr ? 1 : 2);
  auto const sums = static_cast<unsigned int>((entries + warps - 1) / warps);
  sum_kernel<<<sums, block, 0, on.stream>>>(op, state, blocks);
  check(cudaGetLastError());
  over_ranks(on, state, op);
}

/// Y = S + alpha sum_b X_b C_b.
template <class T>
void combine_basis(Device& on, LoopState* state, BlockCombine<T> const& op) {
  if (op.p > 16 || op.q > 16) throw Unsupported("a basis of blocks of more than 16 columns");
  combine_blocks_kernel<<<combine_blocks(on, op.n), block, 0, on.stream>>>(op, state);
  check(cudaGetLastError());
}

}  // namespace

void execute(Device& on, LoopState* state, BlockGram<double> const& op) { run(on, state, op); }
void execute(Device& on, LoopState* state, BlockGram<float> const& op) { run(on, state, op); }

void execute(Device& on, LoopState* state, BlockCombine<float> const& op) {
  if (op.n > 0 && op.q > 0) combine_basis(on, state, op);
}

void execute(Device& on, LoopState* state, BlockCombine<double> const& op) {
  if (op.n == 0 || op.q == 0) return;
  if (op.count != nullptr || op.blocks > 1) return combine_basis(on, state, op);
  if (op.p <= 8) return launch_combine<2>(on, state, op);
  if (op.p <= 16) return launch_combine<4>(on, state, op);
  if (op.p <= 32) return launch_combine<8>(on, state, op);
  launch_combine<16>(on, state, op);
}

void execute(Device& on, LoopState* state, OrthonormaliseRound const& op) {
  run_small(on, state, op);
}

}  // namespace tcsolve::cuda
