// SPDX-License-Identifier: Apache-2.0
/// Passes over blocks of vectors on the host (kernels/blocks.hpp).
#include <tcsolve/kernels/blocks.hpp>

#include <algorithm>
#include <vector>

#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/host/small_op.hpp>

namespace tcsolve::host {

namespace {

constexpr std::int64_t rows_each = 1024;  // of a partial sum, at least
constexpr std::int64_t most_parts = 64;

std::int64_t parts_of(std::int64_t n) {
  return std::clamp<std::int64_t>(n / rows_each, 1, most_parts);
}

/// Columns are taken eight at a time: what is added to zeros is not used.
constexpr Index eight = 8;
Index padded(Index q) { return (q + eight - 1) / eight * eight; }

/// to += a v, `width` elements, a multiple of eight.
void add_product(double a, double const* v, double* to, Index width) {
  for (Index j = 0; j < width; j += eight) {
    double sum[eight];
    for (Index l = 0; l < eight; ++l) sum[l] = to[j + l] + a * v[j + l];
    for (Index l = 0; l < eight; ++l) to[j + l] = sum[l];
  }
}

bool idle(LoopState* state, double const* wanted) {
  return Frame{state, true}.stopped() || (wanted != nullptr && *wanted == 0);
}

}  // namespace

std::int64_t gram_partials(Host&, std::int64_t n, Index p, Index q) {
  return parts_of(n) * p * padded(q);
}

namespace {

template <class T>
void multiply(Host const& on, BlockGram<T> const& op, T const* X, T const* Y, double* C) {
  Index const width = padded(op.q);
  std::int64_t const parts = parts_of(op.n), size = std::int64_t{op.p} * width;
  parallel(parts, 2, [&](std::int64_t part) {
    double* const sum = op.partials + part * size;
    std::fill_n(sum, size, 0.0);
    std::int64_t const end = op.n * (part + 1) / parts;
    double y[most_block_columns] = {};
    for (std::int64_t r = op.n * part / parts; r < end; ++r) {
      T const* const x = X + r * op.ldx;
      std::copy_n(Y + r * op.ldy, op.q, y);
      for (Index i = 0; i < op.p; ++i) add_product(x[i], y, sum + i * width, width);
    }
  });
  end_sums<Add>(on, op.partials + size, parts - 1, size, op.partials);
  for (Index i = 0; i < op.p; ++i) std::copy_n(op.partials + i * width, op.q, C + i * op.q);
}

template <class T>
void run(Host& on, LoopState* state, BlockGram<T> const& op) {
  if (idle(state, op.wanted)) return;
  for (Index b = 0; b < op.blocks && op.has(b); ++b)
    multiply(on, op, op.X + b * op.stride, op.Y, op.C + std::int64_t{b} * op.p * op.q);
  if (op.D != nullptr) multiply(on, op, op.X, op.Z, op.D);
}

template <class T>
void run(Host& on, LoopState* state, BlockCombine<T> const& op) {
  if (idle(state, op.wanted)) return;
  Index const width = padded(op.q);
  std::int64_t const all = std::int64_t{op.present()} * op.p;  // rows of C
  std::vector<double> C(static_cast<std::size_t>(all * width));
  for (std::int64_t i = 0; i < all; ++i) std::copy_n(op.C + i * op.q, op.q, C.data() + i * width);
  std::int64_t const parts = (op.n + rows_each - 1) / rows_each;
  parallel(parts, 2, [&](std::int64_t part) {
    double sum[most_block_columns];
    std::int64_t const end = std::min(op.n, (part + 1) * rows_each);
    for (std::int64_t r = part * rows_each; r < end; ++r) {
      std::fill_n(sum, width, 0.0);
      for (Index b = 0; b < op.present(); ++b) {
        T const* const x = op.X + b * op.stride + r * op.ldx;
        double const* const c = C.data() + std::int64_t{b} * op.p * width;
        for (Index i = 0; i < op.p; ++i) add_product(x[i], c + i * width, sum, width);
      }
      T* const y = op.Y + r * op.ldy;
      for (Index j = 0; j < op.q; ++j)
        y[j] = static_cast<T>((op.S != nullptr ? op.S[r * op.ldy + j] : 0.0) + op.alpha * sum[j]);
    }
  });
  if (op.D == nullptr) return;
  BlockCombine<T> other = op;
  other.C = op.D, other.S = op.U, other.Y = op.V, other.D = nullptr;
  run(on, state, other);
}

}  // namespace

void execute(Host& on, LoopState* state, BlockGram<double> const& op) { run(on, state, op); }
void execute(Host& on, LoopState* state, BlockGram<float> const& op) { run(on, state, op); }
void execute(Host& on, LoopState* state, BlockCombine<double> const& op) { run(on, state, op); }
void execute(Host& on, LoopState* state, BlockCombine<float> const& op) { run(on, state, op); }

void execute(Host&, LoopState* state, OrthonormaliseRound const& op) { run_small(state, op); }

}  // namespace tcsolve::host
