// SPDX-License-Identifier: Apache-2.0
/// Rows of FSAI on the device, a warp to a row: the lower triangle of A_PP is gathered, by rows and
/// packed, factorised and solved with in shared memory.
///
///     for k:  l_kk = sqrt(t_kk);  t_rk /= l_kk;  t_rc -= t_rk t_ck       lanes over r > k
///     y = e_last / l_mm;  for k down:  y_k /= l_kk;  y_c -= l_kc y_k     lanes over c < k
///
///     sizes   rows of up to 16, 32, 64, 128 and `room` entries by a launch each: short ones
///             share a multiprocessor; longer ones in global memory
///     bytes   the rows of A that P names, from the second-level cache
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/shared_memory.hpp>
#include <tcsolve/factors/make/find.cuh>
#include <tcsolve/precond/fsai/rows.hpp>

#include <algorithm>

namespace tcsolve::cuda {
namespace {

__host__ __device__ constexpr std::int64_t packed(std::int64_t r) { return r * (r + 1) / 2; }

/// Bytes of a warp for rows of m entries.
constexpr std::size_t bytes_for(std::int64_t m) {
  return static_cast<std::size_t>(packed(m) + m) * sizeof(double);
}

/// Row i of G; t (packed(m)) and y (m) are memory of the warp. False: not positive definite.
__device__ bool solve_row(CsrView<double> const& a, Index const* P, int m, double* t, double* y,
                          double* out, int lane) {
  for (std::int64_t e = lane; e < packed(m); e += 32) t[e] = 0;
  __syncwarp();
  for (int r = 0; r < m; ++r) {
    Index const row = P[r];
    Offset const end = a.offsets[row + 1];
    for (Offset k = a.offsets[row] + lane; k < end; k += 32) {
      Index const j = a.columns[k];
      if (j > row) break;  // they ascend
      if (int const c = find(P, 0, r + 1, j); c >= 0) t[packed(r) + c] = a.values[k];
    }
  }
  __syncwarp();
  for (int k = 0; k < m; ++k) {
    double const pivot = t[packed(k) + k];
    if (!(pivot > 0) || !isfinite(pivot)) return false;  // the same in all lanes
    double const root = sqrt(pivot);
    __syncwarp();
    for (int r = k + 1 + lane; r < m; r += 32) t[packed(r) + k] /= root;
    if (lane == 0) t[packed(k) + k] = root;
    __syncwarp();
    for (int r = k + 1 + lane; r < m; r += 32) {
      double const v = t[packed(r) + k];
      for (int c = k + 1; c <= r; ++c) t[packed(r) + c] -= v * t[packed(c) + k];
    }
    __syncwarp();
  }
  for (int c = lane; c < m; c += 32) y[c] = 0;
  __syncwarp();
  if (lane == 0) y[m - 1] = 1 / t[packed(m) - 1];
  __syncwarp();
  for (int k = m - 1; k >= 0; --k) {
    double const v = y[k] / t[packed(k) + k];
    __syncwarp();
    for (int c = lane; c < k; c += 32) y[c] -= t[packed(k) + c] * v;
    if (lane == 0) y[k] = v;
    __syncwarp();
  }
  double const scale = 1 / sqrt(y[m - 1]);
  for (int c = lane; c < m; c += 32) out[c] = y[c] * scale;
  return true;
}

/// Of the rows [first, last) those of more than `above` and at most `most` entries; `memory`: of
/// every warp, null: shared.
__global__ void rows_kernel(CsrView<double> a, CsrView<double> pattern, std::int64_t first,
                            std::int64_t last, int above, int most, double* memory, double* values,
                            Index* bad) {
  extern __shared__ double shared[];
  int const lane = threadIdx.x % 32, warps = blockDim.x / 32;
  std::int64_t const warp = std::int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  std::int64_t const each = packed(most) + most;
  double* const t = memory != nullptr ? memory + warp * each : shared + threadIdx.x / 32 * each;
  for (std::int64_t i = first + warp; i < last; i += std::int64_t{gridDim.x} * warps) {
    Offset const begin = pattern.offsets[i];
    int const m = static_cast<int>(pattern.offsets[i + 1] - begin);
    if (m <= above || m > most) continue;
    bool const made =
        solve_row(a, pattern.columns + begin, m, t, t + packed(most), values + begin, lane);
    if (!made && lane == 0) atomicMin(bad, static_cast<Index>(i));
    __syncwarp();
  }
}

__global__ void transpose_kernel(CsrView<double> pattern, CsrView<double> transposed,
                                 double const* values, double* to) {
  std::int64_t const warp = std::int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  if (warp >= transposed.rows) return;
  auto const j = static_cast<Index>(warp);
  Offset const end = transposed.offsets[j + 1];
  for (Offset e = transposed.offsets[j] + threadIdx.x % 32; e < end; e += 32) {
    Index const i = transposed.columns[e];
    Offset const begin = pattern.offsets[i];
    to[e] = values[begin + find(pattern.columns + begin, 0,
                                static_cast<int>(pattern.offsets[i + 1] - begin), j)];
  }
}

/// f(first, last) for stretches of all rows. Where there are several, the device is waited for
/// between two, so that the host can be asked to end.
template <class F>
void stretches(Device& on, CancelFlag cancel, std::int64_t rows, std::int64_t each, F const& f) {
  for (std::int64_t first = 0; first < rows; first += each) {
    if (first > 0) check(cudaStreamSynchronize(on.stream));
    cancel.check();
    f(first, std::min(rows, first + each));
  }
}

void launch(Device& on, CancelFlag cancel, CsrView<double> const& a, CsrView<double> const& pattern,
            Index above, Index most, double* values, Index* bad) {
  int const warps = most <= 32 ? 8 : most <= 64 ? 4 : 1;
  std::size_t const bytes = static_cast<std::size_t>(warps) * bytes_for(most);
  allow_shared(on, rows_kernel, bytes);
  // Some 1e10 multiplications in a launch, or a tenth of a second.
  std::int64_t const each =
      std::max<std::int64_t>(4096, 60'000'000'000 / (std::int64_t{most} * most * most));
  stretches(on, cancel, pattern.rows, each, [&](std::int64_t first, std::int64_t last) {
    auto const blocks = static_cast<unsigned>((last - first + warps - 1) / warps);
    rows_kernel<<<blocks, warps * 32, bytes, on.stream>>>(a, pattern, first, last, above, most,
                                                          nullptr, values, bad);
    check(cudaGetLastError());
  });
}

}  // namespace

Index fsai_rows(Device& on, Arena& arena, CancelFlag cancel, CsrView<double> const& a,
                CsrView<double> const& pattern, Index longest, double* values) {
  if (pattern.rows == 0) return -1;
  auto scope = arena.scope();
  Index* const bad = scope.take<Index>(1);
  copy(on, bad, &pattern.rows, sizeof(Index));
  Index room = 128;  // the longest row whose triangle fits the shared memory
  while (bytes_for(room + 8) <= on.properties.sharedMemPerBlockOptin) room += 8;
  Index above = 0;
  for (Index const most : {16, 32, 64, 128, room}) {
    if (above >= longest) break;
    launch(on, cancel, a, pattern, above, most, values, bad);
    above = most;
  }
  if (longest > room) {
    std::int64_t const each = packed(longest) + longest;
    auto const warps =
        static_cast<unsigned>(std::clamp<std::int64_t>((std::int64_t{1} << 25) / each, 1, 1024));
    auto* const memory = scope.take<double>(static_cast<std::size_t>(warps * each));
    stretches(on, cancel, pattern.rows, warps, [&](std::int64_t first, std::int64_t last) {
      rows_kernel<<<warps, 32, 0, on.stream>>>(a, pattern, first, last, room, longest, memory,
                                               values, bad);
      check(cudaGetLastError());
    });
  }
  Index first = 0;
  copy(on, &first, bad, sizeof first);
  return first < pattern.rows ? first : -1;
}

void transposed_values(Device& on, CsrView<double> const& pattern,
                       CsrView<double> const& transposed, double const* values, double* to) {
  if (transposed.rows == 0) return;
  constexpr int warps = 4;
  transpose_kernel<<<(transposed.rows + warps - 1) / warps, warps * 32, 0, on.stream>>>(
      pattern, transposed, values, to);
  check(cudaGetLastError());
}

}  // namespace tcsolve::cuda
