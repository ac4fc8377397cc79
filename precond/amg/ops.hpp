// SPDX-License-Identifier: Apache-2.0
/// The fused operations of smoothed aggregation. T is the type of the cycle's vectors; sums and
/// products are FP64.
#pragma once

#include <array>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// y = alpha s o x + beta y, s = 1 where there is none.
template <class T, class U>
struct ScaleRows {
  static constexpr char const* name = "scale_rows";
  std::int64_t n;
  double alpha;
  double const* s;  // (rows), or null
  Elements<T const> x;
  double beta;
  Elements<U> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    double v = alpha * double(x[e]);
    if (s != nullptr) v *= s[y.cols == 1 ? e : row_of_element(e, y.cols)];
    y[e] = U(beta == 0 ? v : v + beta * double(y[e]));
  }
  Index columns() const { return y.cols; }
};

/// y = alpha G x + beta y, G of full rows and exactly symmetric, so that a device reads it by
/// columns, which are rows: neighbouring threads read neighbours. A row is `parts` sums, of every
/// parts-th entry each, which are on their way at once, and a tree: a warp may make them, too
/// (team.cuh).
template <class T>
struct SymmetricProduct {
  static constexpr char const* name = "symmetric_product";
  static constexpr bool long_elements = true;
  static constexpr int parts = 32;
  std::int64_t n;  ///< of y
  Index rows;
  double alpha;
  T const* G;
  Elements<T const> x;
  double beta;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const i = y.cols == 1 ? e : row_of_element(e, y.cols), c = e - i * y.cols;
#if defined(__CUDA_ARCH__)
    T const* const g = G + i;
    std::int64_t const step = rows;
#else
    T const* const g = G + i * rows;
    std::int64_t const step = 1;
#endif
    double sum[parts] = {};
    for (Index j = 0; j < rows; j += parts) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (Index p = 0; p < parts; ++p)
        if (j + p < rows)
          sum[p] += double(g[(j + p) * step]) * double(x[std::int64_t{j + p} * y.cols + c]);
    }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int half = parts / 2; half > 0; half /= 2)
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int p = 0; p < half; ++p) sum[p] += sum[p + half];
    store(e, sum[0]);
  }
  TCSOLVE_HD void store(std::int64_t e, double sum) const {
    y[e] = T(beta == 0 ? alpha * sum : alpha * sum + beta * double(y[e]));
  }
  void const* gathered() const { return x.data; }
  Index columns() const { return y.cols; }
};

/// Of up to `most` columns z of B, from `first` on: sum_i |sum_j a_ij z_j| and, `most` places
/// further, sum_i sum_j |a_ij z_j|, of n rows i, evenly spread. A row without couplings, of a
/// Dirichlet condition that was kept, says nothing of z and is left out.
struct Cancellation {
  static constexpr char const* name = "cancellation";
  static constexpr int most = 8;
  static constexpr int sums = 2 * most;
  static constexpr bool only_sums = true;
  static constexpr bool long_elements = true;
  std::int64_t n;
  CsrView<double> a;
  double const* B;  // (cols x count), by rows
  Index count, first;
  double* out;  // (2 most)
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double* sum) const {
    std::int64_t const i = n == a.rows ? e : e * a.rows / n;
    Index const left = count - first, columns = left < most ? left : most;
    double row[most] = {}, size[most] = {};
    bool coupled = false;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      double const* const z = B + std::int64_t{a.columns[k]} * count + first;
      coupled = coupled || (a.columns[k] != i && a.values[k] != 0);
      for (Index c = 0; c < columns; ++c) {
        double const term = a.values[k] * z[c];
        row[c] += term, size[c] += magnitude(term);
      }
    }
    if (!coupled) return;
    for (Index c = 0; c < columns; ++c) sum[c] += magnitude(row[c]), sum[most + c] += size[c];
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    for (int k = 0; k < sums; ++k) out[k] = sum[k];
  }
};

/// max_i w_i sum_j |a_ij|
struct WeightedRowSums {
  static constexpr char const* name = "weighted_row_sums";
  static constexpr int sums = 1;
  static constexpr bool maximum = true;
  static constexpr bool long_elements = true;
  std::int64_t n;
  CsrView<double> a;
  double const* w;
  double* out;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double row = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      row += magnitude(a.values[k]);
    row *= w[i];
    sum[0] = (row != row || row > sum[0]) ? row : sum[0];
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *out = sum[0]; }
};

/// Of the rows with other entries than the diagonal: the largest diagonal entry and the largest
/// inverse of one; infinite where one is not positive.
struct DiagonalRange {
  static constexpr char const* name = "diagonal_range";
  static constexpr int sums = 2;
  static constexpr bool maximum = true;
  static constexpr bool long_elements = true;
  std::int64_t n;
  CsrView<double> a;
  double* out;  // (2)
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double diagonal = 0;
    bool coupled = false;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      if (a.columns[k] == i)
        diagonal = a.values[k];
      else
        coupled = coupled || a.values[k] != 0;
    if (!coupled) return;
    double const inverse = 1 / (diagonal > 0 ? diagonal : 0.0);
    sum[0] = diagonal > sum[0] ? diagonal : sum[0];
    sum[1] = inverse > sum[1] ? inverse : sum[1];
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { out[0] = sum[0], out[1] = sum[1]; }
};

/// The two sums, or maxima, that an operation leaves at its `out`. Waits.
template <class Op>
std::array<double, 2> two_sums(Context& ctx, Op op) {
  Context::Entry const entry(ctx);
  auto scope = ctx.arena().scope();
  op.out = scope.template take<double>(2);
  submit(ctx, op);
  std::array<double, 2> found{};
  copy_bytes(ctx, found.data(), Space::host, op.out, ctx.space(), sizeof found);
  return found;
}

/// The sum of positive off-diagonal entries, and of the sizes of all.
struct OffDiagonalSigns {
  static constexpr char const* name = "off_diagonal_signs";
  static constexpr int sums = 2;
  static constexpr bool long_elements = true;
  std::int64_t n;
  CsrView<double> a;
  double* out;  // (2)
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double positive = 0, all = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      if (a.columns[k] == i) continue;
      all += magnitude(a.values[k]);
      if (a.values[k] > 0) positive += a.values[k];
    }
    sum[0] += positive, sum[1] += all;
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { out[0] = sum[0], out[1] = sum[1]; }
};

/// How many couplings exceed theta times the geometric mean of two diagonal entries, and are less
/// than a part of the largest -a_ij of their row; and how many there are.
struct WeakInTheirRow {
  static constexpr char const* name = "weak_in_their_row";
  static constexpr int sums = 2;
  static constexpr bool long_elements = true;
  std::int64_t n;
  CsrView<double> a;
  double const* d;  // (n) a_ii
  double theta, part;
  double* out;  // (2)
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double most = 0;
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    for (Offset k = begin; k < end; ++k)
      if (a.columns[k] != i && -a.values[k] > most) most = -a.values[k];
    double weak = 0, all = 0;
    for (Offset k = begin; k < end; ++k) {
      double const v = a.values[k], size = magnitude(v);
      if (a.columns[k] == i || v == 0) continue;
      all += 1;
      bool const strong =
          (size / magnitude(d[i])) * (size / magnitude(d[a.columns[k]])) > theta * theta;
      if (strong && !(-v >= part * most)) weak += 1;
    }
    sum[0] += weak, sum[1] += all;
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { out[0] = sum[0], out[1] = sum[1]; }
};

/// values = a's, with 1 on the diagonal of a row of zeros that stores it: a coarse unknown that
/// represents nothing, whose residual is 0.
struct FillZeroRows {
  static constexpr char const* name = "fill_zero_rows";
  static constexpr bool long_elements = true;
  std::int64_t n;
  CsrView<double> a;
  double* values;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    double sum = 0;
    Offset diagonal = -1;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      values[k] = a.values[k];
      sum += magnitude(a.values[k]);
      if (a.columns[k] == i) diagonal = k;
    }
    if (sum == 0 && diagonal >= 0) values[diagonal] = 1;
  }
};

using AmgOps =
    OpList<ScaleRows<double, double>, ScaleRows<double, float>, ScaleRows<float, double>,
           SymmetricProduct<double>, SymmetricProduct<float>, Cancellation, WeightedRowSums,
           DiagonalRange, OffDiagonalSigns, WeakInTheirRow, FillZeroRows>;

}  // namespace tcsolve
