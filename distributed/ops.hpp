// SPDX-License-Identifier: Apache-2.0
/// The fused operations of what a rank has outside of its own columns.
#pragma once

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/residual.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// What has come from other ranks: an array of the host's, or the room where other devices have
/// stored it, maybe while the kernel that reads it has been running.
struct Arrived {
  double const* from = nullptr;
  TCSOLVE_HD double operator[](std::int64_t e) const {
#if defined(__CUDA_ARCH__)
    return __ldcg(from + e);  // not what a multiprocessor has kept, nor what may not change
#else
    return from[e];
#endif
  }
};

/// to_k = x_{places_k}, rows of a block: what goes to the neighbours.
struct PackRows {
  static constexpr char const* name = "pack_rows";
  std::int64_t n;  ///< rows of `to` times columns
  Index const* places;
  Elements<double const> x;
  double* to;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const cols = x.cols, k = cols == 1 ? e : row_of_element(e, x.cols);
    to[e] = x[places[k] * cols + e - k * cols];
  }
};

/// to = h: the halo where it is to stay.
struct KeepHalo {
  static constexpr char const* name = "keep_halo";
  std::int64_t n;
  Arrived h;
  double* to;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const { to[e] = h[e]; }
};

/// y_{rows_k} += alpha sum_j a_kj h_j, h a row-major block.
struct AddOuterRows {
  static constexpr char const* name = "add_outer_rows";
  static constexpr bool long_elements = true;
  std::int64_t n;  ///< rows of a times columns
  double alpha;
  CsrView<double> a;
  Index const* rows;
  Arrived h;
  Elements<double> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const cols = y.cols, k = cols == 1 ? e : row_of_element(e, y.cols),
                       c = e - k * cols;
    double sum = 0;
    for (Offset p = a.offsets[k]; p < a.offsets[k + 1]; ++p)
      sum += a.values[p] * h[a.columns[p] * cols + c];
    double& at = y[rows[k] * cols + c];
    at += alpha * sum;
  }
};

/// The same for one column, and *sigma = <x, y> of all ranks, where *own is that of what y has
/// held.
struct AddOuterRowsDot {
  static constexpr char const* name = "add_outer_rows_dot";
  static constexpr bool long_elements = true;
  static constexpr int sums = 1;
  std::int64_t n;  ///< rows of a, and one element for *own
  double alpha;
  CsrView<double> a;
  Index const* rows;
  Arrived h;
  double const* x;
  double* y;
  double const* own;
  double* sigma;
  TCSOLVE_HD void element(std::int64_t k, NoCoefficients, double* sum) const {
    if (k == n - 1) {
      sum[0] += *own;
      return;
    }
    double part = 0;
    for (Offset p = a.offsets[k]; p < a.offsets[k + 1]; ++p) part += a.values[p] * h[a.columns[p]];
    part *= alpha;
    y[rows[k]] += part;
    sum[0] += x[rows[k]] * part;
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *sigma = sum[0]; }
};

/// to_j = sum_k a_kj x_{rows_k}, with the columns of a as rows: what goes back to the owners.
struct OuterTransposed {
  static constexpr char const* name = "outer_transposed";
  static constexpr bool long_elements = true;
  std::int64_t n;      ///< rows of at times columns
  CsrView<double> at;  ///< its columns are rows here
  Elements<double const> x;
  double* to;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const cols = x.cols, k = cols == 1 ? e : row_of_element(e, x.cols),
                       c = e - k * cols;
    double sum = 0;
    for (Offset p = at.offsets[k]; p < at.offsets[k + 1]; ++p)
      sum += at.values[p] * x[std::int64_t{at.columns[p]} * cols + c];
    to[e] = sum;
  }
};

/// y_{targets_k} += alpha times the sum of what has come back for it, neighbour by neighbour.
struct AddReturned {
  static constexpr char const* name = "add_returned";
  std::int64_t n;  ///< targets times columns
  double alpha;
  Index const *targets, *starts, *places;
  Arrived h;
  Elements<double> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const cols = y.cols, k = cols == 1 ? e : row_of_element(e, y.cols),
                       c = e - k * cols;
    double sum = 0;
    for (Index p = starts[k]; p < starts[k + 1]; ++p) sum += h[places[p] * cols + c];
    double& at = y[targets[k] * cols + c];
    at += alpha * sum;
  }
};

/// r_{rows_k} -= sum_j a_kj h_j, summed as exactly as the part before (kernels/residual.hpp).
struct OuterResidual {
  static constexpr char const* name = "outer_residual";
  static constexpr bool long_elements = true;
  std::int64_t n;
  CsrView<double> a;
  Index const* rows;
  Arrived h;
  ResidualVectors v;  ///< `more`: r holds what the own columns have left
  TCSOLVE_HD void element(std::int64_t k, NoCoefficients, double*) const {
    RowSum row;
    for (Offset p = a.offsets[k]; p < a.offsets[k + 1]; ++p)
      row.subtract_product(a.values[p], h[a.columns[p]]);
    v.finish(rows[k], row);
  }
};

using DistributedOps = OpList<PackRows, KeepHalo, AddOuterRows, AddOuterRowsDot, OuterTransposed,
                              AddReturned, OuterResidual>;

}  // namespace tcsolve
