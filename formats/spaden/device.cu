// SPDX-License-Identifier: Apache-2.0
/// y = alpha A x + beta y, A in bitBSR (Chen and Yu 2024, Algorithms 2 and 3).
///
///   lanes   eight lanes are a group, its lane r has row r of a block; 1, 2 or 4 groups share a
///           block row, so a warp has 4, 2 or 1 of them
///   shared  the blocks (16 bytes each) and packed values of a warp's block rows, which lie one
///           after the other, come by 16-byte copies, as many blocks at a time as fit
///   zeros   of the eight slots of a row, those with a bit set: the value of the first is popcount
///           (bits of the rows above) further than the block's first; no other is multiplied
///   long    rows of more than `long_row` blocks or side entries are added piece by piece by a
///           kernel of their own before this one, which then adds the pieces in order
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/spaden/ops.hpp>
#include <tcsolve/formats/spaden/spaden.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/range.cuh>
#include <tcsolve/kernels/cuda/warp_sums.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

#include <algorithm>
#include <type_traits>

namespace tcsolve::cuda {

namespace {

constexpr int warps = 4;            ///< of a block
constexpr int staged_blocks = 64;   ///< of a warp at a time
constexpr int staged_bytes = 4096;  ///< of its values at a time

template <class T>
struct Domain {
  T const* x;
  std::int64_t stride;
  /// Block columns before this one are read by 16-byte loads: all whole ones where x is adjacent
  /// and aligned, else none.
  Index whole_blocks;
  __device__ T operator[](Index j) const { return __ldg(x + j * stride); }
};

__device__ void eight(float const* x, float (&v)[8]) {
  float4 a = __ldg(reinterpret_cast<float4 const*>(x)),
         b = __ldg(reinterpret_cast<float4 const*>(x) + 1);
  v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w, v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
}
__device__ void eight(double const* x, double (&v)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    double2 a = __ldg(reinterpret_cast<double2 const*>(x) + i);
    v[2 * i] = a.x, v[2 * i + 1] = a.y;
  }
}

__device__ void copy_16(void* shared, void const* global) {
  unsigned int to = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
__device__ void copies_done() { asm volatile("cp.async.wait_all;" ::: "memory"); }

__device__ unsigned int shared_address(void const* p) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(p));
}

/// One slot: where its bit is set, sum += value x, and on to the next value. Written out, since the
/// compiler makes twice as many instructions of it, and instructions are what bounds this kernel.
/// Lanes without the bit must not load either: their bank conflicts were measured to cost a third.
#define TCSOLVE_SLOT(load, widen, fma)                                    \
  "{ .reg .pred q; .reg .b32 t; .reg .b16 h; .reg .f32 f; .reg .f64 d;\n" \
  "and.b32 t, %2, %4; setp.ne.b32 q, t, 0;\n"                             \
  "mov.b16 h, 0; mov.f32 f, 0f00000000; mov.f64 d, 0d0000000000000000;\n" \
  "@q " load ", [%1];\n" widen "@q " fma ", %3, %0;\n@q add.u32 %1, %1, %5; }"
template <int bit>
__device__ void slot(double const*, unsigned int bits, double x, unsigned int& at, double& sum) {
  asm volatile(TCSOLVE_SLOT("ld.shared.f64 d", "", "fma.rn.f64 %0, d")
               : "+d"(sum), "+r"(at)
               : "r"(bits), "d"(x), "n"(1 << bit), "n"(8));
}
template <int bit>
__device__ void slot(float const*, unsigned int bits, double x, unsigned int& at, double& sum) {
  asm volatile(TCSOLVE_SLOT("ld.shared.f32 f", "cvt.f64.f32 d, f;\n", "fma.rn.f64 %0, d")
               : "+d"(sum), "+r"(at)
               : "r"(bits), "d"(x), "n"(1 << bit), "n"(4));
}
template <int bit>
__device__ void slot(half const*, unsigned int bits, double x, unsigned int& at, double& sum) {
  asm volatile(TCSOLVE_SLOT("ld.shared.b16 h", "cvt.f64.f16 d, h;\n", "fma.rn.f64 %0, d")
               : "+d"(sum), "+r"(at)
               : "r"(bits), "d"(x), "n"(1 << bit), "n"(2));
}
/// A bfloat16 is the upper half of a float. t is free: its bits have been tested.
template <int bit>
__device__ void slot(bfloat16 const*, unsigned int bits, double x, unsigned int& at, double& sum) {
  asm volatile(
      TCSOLVE_SLOT("ld.shared.u16 t", "shl.b32 t, t, 16; mov.b32 f, t; cvt.f64.f32 d, f;\n",
                   "fma.rn.f64 %0, d")
      : "+d"(sum), "+r"(at)
      : "r"(bits), "d"(x), "n"(1 << bit), "n"(2));
}
template <int bit>
__device__ void slot(float const*, unsigned int bits, float x, unsigned int& at, float& sum) {
  asm volatile(TCSOLVE_SLOT("ld.shared.f32 f", "", "fma.rn.f32 %0, f")
               : "+f"(sum), "+r"(at)
               : "r"(bits), "f"(x), "n"(1 << bit), "n"(4));
}
template <int bit>
__device__ void slot(half const*, unsigned int bits, float x, unsigned int& at, float& sum) {
  asm volatile(TCSOLVE_SLOT("ld.shared.b16 h", "cvt.f32.f16 f, h;\n", "fma.rn.f32 %0, f")
               : "+f"(sum), "+r"(at)
               : "r"(bits), "f"(x), "n"(1 << bit), "n"(2));
}
template <int bit>
__device__ void slot(bfloat16 const*, unsigned int bits, float x, unsigned int& at, float& sum) {
  asm volatile(
      TCSOLVE_SLOT("ld.shared.u16 t", "shl.b32 t, t, 16; mov.b32 f, t;\n", "fma.rn.f32 %0, f")
      : "+f"(sum), "+r"(at)
      : "r"(bits), "f"(x), "n"(1 << bit), "n"(2));
}
#undef TCSOLVE_SLOT

/// Row `line` of any block: where its eight bits are, and the bits of the rows above it.
struct Line {
  unsigned int low_above, high_above, shift;
  bool in_low;
  __device__ explicit Line(int line) {
    shift = 8 * (line & 3);
    in_low = line < 4;
    unsigned int above = (1u << shift) - 1;
    low_above = in_low ? above : 0xffffffffu;
    high_above = in_low ? 0 : above;
  }
  /// Its bits in the lowest eight; there are others behind them.
  __device__ unsigned int bits(unsigned int low, unsigned int high) const {
    return (in_low ? low : high) >> shift;
  }
  __device__ int before(unsigned int low, unsigned int high) const {
    return __popc(low & low_above) + __popc(high & high_above);
  }
};

/// sum += row `line` of a block in device memory times x. values: the block's first.
template <class S, class T>
__device__ T multiply_row(SpadenBlock const& block, Line const& line, S const* values,
                          Domain<T> const& x, T sum) {
  unsigned int low = static_cast<unsigned int>(block.bitmap),
               high = static_cast<unsigned int>(block.bitmap >> 32);
  S const* value = values + line.before(low, high);
  for (unsigned int left = line.bits(low, high) & 0xff; left != 0; left &= left - 1)
    sum = fma(T(*value++), x[8 * block.column + __ffs(left) - 1], sum);
  return sum;
}

/// The same of the staged block at `block`, values from `values` on, both shared addresses.
template <class S, class T>
__device__ T multiply_row(unsigned int block, unsigned int values, Line const& line,
                          Domain<T> const& x, T sum) {
  unsigned int low, high, column, offset;
  asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
               : "=r"(low), "=r"(high), "=r"(column), "=r"(offset)
               : "r"(block)
               : "memory");  // what was staged is read
  unsigned int bits = line.bits(low, high);
  unsigned int at =
      values + (offset + line.before(low, high)) * static_cast<unsigned int>(sizeof(S));
  T v[8];
  if (static_cast<int>(column) < x.whole_blocks) {
    eight(x.x + 8 * static_cast<int>(column), v);
  } else {
#pragma unroll
    for (int c = 0; c < 8; ++c) v[c] = bits >> c & 1 ? x[8 * static_cast<int>(column) + c] : T(0);
  }
  constexpr S const* type = nullptr;
  slot<0>(type, bits, v[0], at, sum);
  slot<1>(type, bits, v[1], at, sum);
  slot<2>(type, bits, v[2], at, sum);
  slot<3>(type, bits, v[3], at, sum);
  slot<4>(type, bits, v[4], at, sum);
  slot<5>(type, bits, v[5], at, sum);
  slot<6>(type, bits, v[6], at, sum);
  slot<7>(type, bits, v[7], at, sum);
  return sum;
}

template <class T>
__device__ T add_groups(T sum, int groups) {
  if (groups > 1) sum += __shfl_xor_sync(all, sum, 8);
  if (groups > 2) sum += __shfl_xor_sync(all, sum, 16);
  return sum;
}

/// What a warp has of the matrix in shared memory.
template <class S>
struct alignas(16) Stage {
  static constexpr int capacity = staged_bytes / sizeof(S), line = 16 / sizeof(S);
  SpadenBlock blocks[staged_blocks];
  S values[capacity];

  /// Blocks from `first` on, at most to `last`; returns how many there are. values[0] is value
  /// `origin` of the matrix.
  __device__ int fill(SpadenView<S> const& a, std::uint32_t first, std::uint32_t last, int lane,
                      std::uint32_t& origin) {
    int fits = 0;
    std::uint32_t ends[staged_blocks / 32];
#pragma unroll
    for (int h = 0; h < staged_blocks / 32; ++h) {
      std::uint32_t b = min(first + 32 * h + lane, last);  // block `last` exists: the closing one
      int4 words = __ldcs(reinterpret_cast<int4 const*>(a.blocks + b));
      std::uint32_t offset = static_cast<std::uint32_t>(words.w);
      if (h == 0) origin = __shfl_sync(all, offset, 0) / line * line;
      ends[h] = offset + __popc(words.x) + __popc(words.y);
      *reinterpret_cast<int4*>(blocks + 32 * h + lane) = words;
      fits +=
          __popc(__ballot_sync(all, first + 32 * h + lane < last && ends[h] - origin <= capacity));
    }
    std::uint32_t end = 0;
#pragma unroll
    for (int h = 0; h < staged_blocks / 32; ++h) {
      std::uint32_t here = __shfl_sync(all, ends[h], (fits - 1) & 31);
      if ((fits - 1) / 32 == h) end = here;
    }
    for (std::uint32_t at = lane * line; origin + at < end; at += 32 * line)
      copy_16(values + at, a.values + origin + at);
    return fits;
  }
};

/// One warp, 4 / groups block rows from I0 on.
template <int groups, class S, class T>
__device__ void block_rows(SpadenView<S> const& a, SpadenWork<T> const& work, Domain<T> const& x,
                           Range<T> const& y, Index I0, int lane, Stage<S>& stage) {
  int group = lane / 8 % groups, line = lane % 8;
  Line row_line(line);
  Index I = I0 + lane / 8 / groups;
  Index here = min(I, a.block_rows - 1);
  std::uint32_t begin = __ldg(a.start + here), end = __ldg(a.start + here + 1);
  if (I >= a.block_rows) begin = end;
  std::uint32_t from = __shfl_sync(all, begin, 0), to = __shfl_sync(all, end, 31);
  Index row = 8 * I + line;
  bool exists = row < a.rows;
  std::uint32_t side = 0, side_end = 0;
  if (a.side_start != nullptr && exists)
    side = __ldg(a.side_start + row), side_end = __ldg(a.side_start + row + 1);
  T sum = 0;
  if (a.pieces > 0) {  // then groups is 4: all lanes have the same block row
    std::uint32_t p = __ldg(a.piece_start + here), p_end = __ldg(a.piece_start + here + 1);
    if (p < p_end) from = to;
    if (group == 0)
      for (; p < p_end; ++p) sum += work.parts[8 * std::size_t(p) + line];
  }
  if (a.side_pieces > 0 && exists) {
    std::uint32_t p = __ldg(a.side_piece_start + row), p_end = __ldg(a.side_piece_start + row + 1);
    if (p < p_end) side = side_end;
    if (group == 0)
      for (; p < p_end; ++p) sum += work.parts[8 * std::size_t(a.pieces) + p];
  }
  side += group;
  bool first = true;
  do {
    std::uint32_t origin = 0;
    int count = from < to ? stage.fill(a, from, to, lane, origin) : 0;
    if (first)  // while the copies are on their way
      for (; side < side_end; side += groups)
        sum = fma(T(a.side_values[side]), x[__ldcs(a.side_columns + side)], sum);
    first = false;
    copies_done();
    __syncwarp();
    std::uint32_t last = min(end, from + count), b = begin;
    if (b < from) b += (from - b + groups - 1) / groups * groups;
    unsigned int block = shared_address(stage.blocks + (b + group - from)),
                 values =
                     shared_address(stage.values) - origin * static_cast<unsigned int>(sizeof(S)),
                 end_block = shared_address(stage.blocks + (last > from ? last - from : 0));
    for (; block < end_block; block += 16 * groups)
      sum = multiply_row<S>(block, values, row_line, x, sum);
    __syncwarp();
    begin = max(begin, last);
    from += count;
  } while (from < to);
  sum = add_groups(sum, groups);
  if (exists && group == 0) y.write(row, sum);
}

template <int groups, class S, class T>
__global__ void __launch_bounds__(32 * warps)
    spaden_kernel(SpadenView<S> a, SpadenWork<T> work, Domain<T> x, Range<T> y) {
  if (Frame{work.loop}.stopped()) return;
  __shared__ Stage<S> stage[warps];
  int warp = threadIdx.x / 32;
  Index I0 = (blockIdx.x * warps + warp) * (4 / groups);
  if (I0 < a.block_rows) block_rows<groups>(a, work, x, y, I0, threadIdx.x % 32, stage[warp]);
}

/// A piece a warp: eight sums of blocks, or one of side entries.
template <class S, class T>
__global__ void __launch_bounds__(32 * warps)
    pieces_kernel(SpadenView<S> a, SpadenWork<T> work, Domain<T> x) {
  if (Frame{work.loop}.stopped()) return;
  int lane = threadIdx.x % 32;
  Index p = blockIdx.x * warps + threadIdx.x / 32;
  if (p >= a.pieces + a.side_pieces) return;
  SpadenPiece piece = a.piece[p];
  T sum = 0;
  if (p < a.pieces) {
    for (std::uint32_t b = lane / 8; b < piece.count; b += 4) {
      SpadenBlock block = a.blocks[piece.first + b];
      sum = multiply_row(block, Line(lane % 8), a.values + block.offset, x, sum);
    }
    sum = add_groups(sum, 4);
    if (lane < 8) work.parts[8 * std::size_t(p) + lane] = sum;
  } else {
    for (std::uint32_t e = lane; e < piece.count; e += 32)
      sum = fma(T(a.side_values[piece.first + e]), x[a.side_columns[piece.first + e]], sum);
    sum = warp_sum(sum);
    if (lane == 0) work.parts[8 * std::size_t(a.pieces) + (p - a.pieces)] = sum;
  }
}

template <int groups, class S, class T>
void launch(Device& on, SpadenView<S> const& a, SpadenWork<T> const& work, Domain<T> const& x,
            Range<T> const& y) {
  std::int64_t of_block = warps * (4 / groups);
  spaden_kernel<groups><<<static_cast<unsigned int>((a.block_rows + of_block - 1) / of_block),
                          32 * warps, 0, on.stream>>>(a, work, x, y);
  check(cudaGetLastError());
}

}  // namespace

template <class S, class T>
void spmm_spaden(Device& on, T alpha, SpadenView<S> const& a, SpadenWork<T> const& work, In<T> x,
                 T beta, Out<T> y) {
  if (a.rows == 0) return;
  auto step = [](auto v) { return v.layout == Layout::row_major ? v.ld : std::int64_t{1}; };
  for (Index j = 0; j < y.cols; ++j) {
    Domain<T> from{x.data + x.offset(0, j), step(x), 0};
    if (from.stride == 1 && reinterpret_cast<std::uintptr_t>(from.x) % 16 == 0)
      from.whole_blocks = x.rows / 8;
    Range<T> to{alpha, beta, y.data + y.offset(0, j), step(y)};
    if (Index pieces = a.pieces + a.side_pieces; pieces > 0) {
      pieces_kernel<<<(pieces + warps - 1) / warps, 32 * warps, 0, on.stream>>>(a, work, from);
      check(cudaGetLastError());
    }
    if (work.groups == 1 && a.pieces == 0)
      launch<1>(on, a, work, from, to);
    else if (work.groups == 2 && a.pieces == 0)
      launch<2>(on, a, work, from, to);
    else
      launch<4>(on, a, work, from, to);
  }
}

#define TCSOLVE_INSTANTIATE(S, T)                                                                \
  template void spmm_spaden<S, T>(Device&, T, SpadenView<S> const&, SpadenWork<T> const&, In<T>, \
                                  T, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct Executes<SpadenExactOps>;

}  // namespace tcsolve::cuda
