// SPDX-License-Identifier: Apache-2.0
/// The two passes over the basis of an Arnoldi step (solvers/gmres/ops.hpp).
///
///   V        n x j, column after column, in the vectors' type or a narrower one; j is read on the
///            device
///   gram     each column of [V u] with u and with w, and <w, w>. The warps of a block stand
///            side by side over the same rows, up to four columns each, so that V comes once from
///            memory and u and w, which they share, too:
///
///                columns  0 1 2 3 | 4 5 6 7 | 8 9 ..         rows  32 at a time, two such parts
///                warp        0    |    1    |    2                 of them on their way, four of
///                                                                  V narrower than FP64
///
///   update   v_j and the next u, a row a thread, two rows (four) at a time, four columns on their
///            way
///   sum      FP64; partials (sum, block), added in block order by the last block
///   bytes    (j + 2) n values each, and 2 n written by the update
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/rank_sums.cuh>
#include <tcsolve/kernels/cuda/sums.cuh>
#include <tcsolve/solvers/gmres/ops.hpp>

namespace tcsolve::cuda {

namespace {

constexpr int parts_ahead = 8;  // of a lane that ends a sum

namespace gram_shape {
constexpr int block = 512, warps = block / 32;
constexpr int blocks_each = 2;  // a multiprocessor
constexpr int width = 4;        // columns of a warp
constexpr int most = 8;         // warps side by side: 32 columns a pass
}  // namespace gram_shape

/// The columns of [V u] that a lane reads. Where there is one too many another one is read again,
/// whose sums are not used.
template <class T, class S>
struct GramColumns {
  using Value = T;
  T const* a[gram_shape::width];
  __device__ void set(Gram<T, S> const& op, int k, int j, int column, bool used) {
    a[k] = used ? op.column(j, column) : op.w;
  }
  __device__ Value at(Gram<T, S> const&, int k, std::int64_t i) const { return __ldg(a[k] + i); }
  __device__ double of(int k, Value v, T) const { return double(v); }
};
/// u lies in another type than V: its column reads another one and takes the u that is at hand.
template <class T, class S>
requires Gram<T, S>::narrow struct GramColumns<T, S> {
  using Value = typename Basis<S>::Value;
  int column[gram_shape::width];
  bool own[gram_shape::width];
  __device__ void set(Gram<T, S> const&, int k, int j, int c, bool used) {
    own[k] = !used || c == j;
    column[k] = own[k] ? 0 : c;
  }
  __device__ Value at(Gram<T, S> const& op, int k, std::int64_t i) const {
    return op.V.at(column[k], i);
  }
  __device__ double of(int k, Value v, T u) const { return own[k] ? double(u) : double(v); }
};
/// Rows of a lane that are on their way: as many bytes of V in FP32 as in FP64.
template <class S>
constexpr int rows_ahead = sizeof(S) < sizeof(double) && Basis<S>::together == 1 ? 4 : 2;

template <class T, class S>
__global__ void __launch_bounds__(gram_shape::block, gram_shape::blocks_each)
    gram_kernel(Gram<T, S> op, LoopState* state, Scratch scratch) {
  using namespace gram_shape;
  // The last thread of the last block leads: the first ones are busy with the column of H.
  Frame frame{state, threadIdx.x == block - 1};
  if (frame.stopped()) return;
  __shared__ double part[most][2 * width][warps];
  __shared__ double part_ww[warps];
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int const j = frame.step(), columns = j + 1;
  for (int k0 = 0; k0 < columns; k0 += width * most) {
    int const here = min(columns - k0, width * most);
    int beside = 1;
    while (beside * width < here) beside *= 2;
    int const abreast = warps / beside, each = (here + beside - 1) / beside;
    int const mine = warp % beside, row = warp / beside;
    GramColumns<T, S> a;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      int column = mine * each + k;
      a.set(op, k, j, k0 + column, k < each && column < here);
    }
    double sum[2 * width] = {}, ww[1] = {};
    using Value = typename GramColumns<T, S>::Value;
    auto add = [&](Value const(&v)[width], T u, T w) {
#pragma unroll
      for (int k = 0; k < width; ++k) {
        double const x = a.of(k, v[k], u);
        sum[2 * k] += x * double(u);
        sum[2 * k + 1] += x * double(w);
      }
      ww[0] += double(w) * double(w);
    };
    constexpr int rows = rows_ahead<S>;
    std::int64_t const step = std::int64_t{gridDim.x} * abreast * 32;
    std::int64_t i = (std::int64_t{blockIdx.x} * abreast + row) * 32 + lane;
    for (; i + (rows - 1) * step < op.n; i += rows * step) {
      Value v[rows][width];
      T u[rows], w[rows];
#pragma unroll
      for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int k = 0; k < width; ++k) v[r][k] = a.at(op, k, i + r * step);
        u[r] = __ldg(op.u + i + r * step), w[r] = __ldg(op.w + i + r * step);
      }
#pragma unroll
      for (int r = 0; r < rows; ++r) add(v[r], u[r], w[r]);
    }
    for (; i < op.n; i += step) {
      Value v[width];
#pragma unroll
      for (int k = 0; k < width; ++k) v[k] = a.at(op, k, i);
      add(v, __ldg(op.u + i), __ldg(op.w + i));
    }
    __syncthreads();  // the arrays may still be read
    double const total = warp_sums(sum), norm2 = warp_sums(ww);
    constexpr int lanes_each = 32 / (2 * width);
    if (lane % lanes_each == 0) part[mine][lane / lanes_each][row] = total;
    if (mine == 0 && lane == 0) part_ww[row] = norm2;
    __syncthreads();
    // Thread k adds up sum k; <w, w> goes with the last pass.
    int const k = threadIdx.x, last = k0 + here == columns ? 1 : 0;
    if (k < 2 * here + last) {
      double const* from = k < 2 * here ? part[k / 2 / each][k - k / 2 / each * 2 * each] : part_ww;
      double s = 0;
      for (int r = 0; r < abreast; ++r) s += from[r];
      op.partials[std::int64_t{2 * k0 + k} * gridDim.x + blockIdx.x] = s;
    }
  }
  if (!last_block(scratch.ticket)) return;
  for (int k = warp; k < op.sums(j); k += warps) {
    double const total =
        end_sum_by_warp<parts_ahead>(op.partials + std::int64_t{k} * gridDim.x, gridDim.x);
    if (lane == 0) op.H.sums[k] = total;
  }
  __syncthreads();
  if (frame.lead) *scratch.ticket = 0;
  if (!sum_over_ranks<Add>(scratch, state, op.H.sums, op.sums(j), [](int) { return true; })) return;
  for (int k = threadIdx.x; k < columns; k += block) op.entry(j, k);
  if (frame.lead) op.finish(frame);
}

/// The second half of a gram that is cut in two, of which as many sums were gathered as there are
/// in the last step of a cycle. One block.
template <class T, class S>
__global__ void __launch_bounds__(gram_shape::block)
    finish_gram_kernel(Gram<T, S> op, LoopState* state, Scratch scratch) {
  Frame const frame{state, threadIdx.x == gram_shape::block - 1};
  int const j = frame.step();
  if (!take_over_ranks<Add>(scratch, state, op.H.sums, op.sums(j), op.sum_count(),
                            [](int) { return true; }))
    return;
  for (int k = threadIdx.x; k <= j; k += gram_shape::block) op.entry(j, k);
  if (frame.lead) op.finish(frame);
}

namespace update_shape {
constexpr int block = 256, warps = block / 32;
constexpr int blocks_each = 4;
constexpr int ahead = 4;  // columns on their way
}  // namespace update_shape

/// Row i of v_j and the next u of a warp whose 32 rows share an exponent; all lanes call it, those
/// beyond the last row with `there` false. The square of the next u.
template <class T, class S>
__device__ double write_together(ArnoldiUpdate<T, S> const& op,
                                 typename ArnoldiUpdate<T, S>::Coefficients const& c,
                                 std::int64_t i, bool there, double a, double b) {
  double const v = there ? a * c.to_v : 0.0;
  double largest = fabs(v);
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2)
    largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
  if (!there) return 0;
  int const e = Basis<S>::exponent(largest);
  return op.write_next(i, c, double(op.V.put(c.j, i, v, e)), b);
}

template <class T, class S>
__global__ void __launch_bounds__(update_shape::block, update_shape::blocks_each)
    update_kernel(ArnoldiUpdate<T, S> op, LoopState* state, Scratch scratch) {
  using namespace update_shape;
  Frame frame{state, blockIdx.x == 0 && threadIdx.x == 0};
  if (frame.stopped()) {
    if (frame.lead) op.after(frame);
    return;
  }
  __shared__ double part[warps];
  typename ArnoldiUpdate<T, S>::Coefficients c;
  op.prepare(frame, c);
  auto const* st = reinterpret_cast<double2 const*>(op.H.sums);  // (s_k, t_k)
  double sum = 0;
  constexpr bool together = Basis<S>::together > 1;
  using Value = std::conditional_t<Gram<T, S>::narrow, float, T>;
  // Rows i and i + step. The last columns are the last one again, times zero.
  auto rows = [&]<int count>(std::integral_constant<int, count>, std::int64_t i, std::int64_t step,
                             bool there = true) {
    T u[count], w[count];
    double a[count], b[count];
#pragma unroll
    for (int r = 0; r < count; ++r) u[r] = op.u[i + r * step], w[r] = __ldg(op.w + i + r * step);
#pragma unroll
    for (int r = 0; r < count; ++r) a[r] = double(u[r]), b[r] = double(w[r]);
    for (Index k0 = 0; k0 < c.j; k0 += ahead) {
      Value v[ahead][count];
      double2 f[ahead];
#pragma unroll
      for (int l = 0; l < ahead; ++l) {
        Index const k = min(k0 + l, c.j - 1);
#pragma unroll
        for (int r = 0; r < count; ++r) v[l][r] = op.V.at(k, i + r * step);
        f[l] = __ldg(st + k);
      }
#pragma unroll
      for (int l = 0; l < ahead; ++l) {
        if (k0 + l >= c.j) f[l] = {0, 0};
#pragma unroll
        for (int r = 0; r < count; ++r) {
          a[r] -= double(v[l][r]) * f[l].x;
          b[r] -= double(v[l][r]) * f[l].y;
        }
      }
    }
#pragma unroll
    for (int r = 0; r < count; ++r) {
      if constexpr (together)
        sum += write_together(op, c, i + r * step, there, a[r], b[r]);
      else
        sum += op.write(i + r * step, c, a[r], b[r]);
    }
  };
  std::int64_t const step = std::int64_t{gridDim.x} * block;
  std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if constexpr (together) {
    // A warp stays together: a lane beyond the last row reads that row and writes nothing.
    std::int64_t const lane = threadIdx.x % 32;
    for (; i - lane < op.n; i += step) {
      bool const there = i < op.n;
      rows(std::integral_constant<int, 1>{}, there ? i : op.n - 1, step, there);
    }
  } else {
    constexpr int most = rows_ahead<S>;
    for (; i + (most - 1) * step < op.n; i += most * step)
      rows(std::integral_constant<int, most>{}, i, step);
    for (; i < op.n; i += step) rows(std::integral_constant<int, 1>{}, i, step);
  }

  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    double s = 0;
    for (int l = 0; l < warps; ++l) s += part[l];
    scratch.partials[blockIdx.x] = s;
  }
  if (!last_block(scratch.ticket) || threadIdx.x >= 32) return;
  double total[1] = {end_sum_by_warp<parts_ahead>(scratch.partials, gridDim.x)};
  if (threadIdx.x != 0) return;
  *scratch.ticket = 0;
  if (!sum_over_ranks<Add>(scratch, state, total)) return;
  frame.lead = true;
  op.finish(frame, total);
  op.after(frame);
}

/// The second half of an update that is cut in two. One thread.
template <class T, class S>
__global__ void finish_update_kernel(ArnoldiUpdate<T, S> op, LoopState* state, Scratch scratch) {
  double total[1];
  if (!take_over_ranks<Add>(scratch, state, total)) return;
  Frame const frame{state, true};
  op.finish(frame, total);
  op.after(frame);
}

int blocks_for(std::int64_t n, int block, int most) {
  std::int64_t wanted = (n + block - 1) / block;
  return static_cast<int>(wanted < 1 ? 1 : wanted > most ? most : wanted);
}

}  // namespace

int gram_blocks(Device& on) { return gram_shape::blocks_each * on.properties.multiProcessorCount; }

template <class T, class S>
void gram(Device& on, LoopState* state, Gram<T, S> const& op) {
  int blocks = blocks_for(op.n, gram_shape::block, gram_blocks(on));
  gram_kernel<<<blocks, gram_shape::block, 0, on.stream>>>(op, state, on.scratch);
  check(cudaGetLastError());
  if (!on.scratch.apart.cut()) return;
  gather_sums(on, op.sum_count());
  finish_gram_kernel<<<1, gram_shape::block, 0, on.stream>>>(op, state, on.scratch);
  check(cudaGetLastError());
}

template <class T, class S>
void execute(Device& on, LoopState* state, ArnoldiUpdate<T, S> const& op) {
  int most = update_shape::blocks_each * on.properties.multiProcessorCount;
  int blocks = blocks_for(op.n, update_shape::block, most);
  update_kernel<<<blocks, update_shape::block, 0, on.stream>>>(op, state, on.scratch);
  check(cudaGetLastError());
  if (!on.scratch.apart.cut()) return;
  gather_sums(on, 1);
  finish_update_kernel<<<1, 1, 0, on.stream>>>(op, state, on.scratch);
  check(cudaGetLastError());
}

template struct Executes<GmresOps<double>>;
template struct Executes<GmresOps<float>>;
template struct Executes<OpList<BackSubstitute>>;
#define TCSOLVE_BASIS(T, S)                                                     \
  template void gram<T, S>(Device&, LoopState*, Gram<T, S> const&);             \
  template void execute<T, S>(Device&, LoopState*, ArnoldiUpdate<T, S> const&); \
  template struct Executes<OpList<CombineBasis<T, S>>>;
TCSOLVE_EACH_BASIS(TCSOLVE_BASIS)
#undef TCSOLVE_BASIS

}  // namespace tcsolve::cuda
