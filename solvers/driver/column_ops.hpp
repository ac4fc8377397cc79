// SPDX-License-Identifier: Apache-2.0
/// What the driver of blocks (solvers/driver/block_solver.hpp) does with all columns in one pass,
/// and with one of them: its elements lie ld apart, so that each pass over it reads its neighbours
/// as well.
#pragma once

#include <tcsolve/kernels/column_operation.hpp>
#include <tcsolve/kernels/op_list.hpp>

namespace tcsolve {

/// The squares of the lengths of b_j, x_j and r_j, and the sums of their magnitudes, of every
/// column: blocks of the same shape.                                          reads 3 n w values
struct ColumnLengths {
  static constexpr char const* name = "column_lengths";
  static constexpr int vectors = 3;
  static constexpr int sums = 2 * vectors;
  BlockShape shape;
  double const* v[vectors];
  double* out;  ///< (w, 2 vectors): squares, then magnitudes

  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame, Coefficients&) const { return true; }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    for (int k = 0; k < vectors; ++k) {
      sum[k] += v[k][e] * v[k][e];
      sum[vectors + k] += magnitude(v[k][e]);
    }
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    for (int k = 0; k < sums; ++k) out[sums * f.j + k] = sum[k];
  }
};

/// The scale of a column of R.
struct ColumnScale {
  double factor, factor2;  ///< whose product is 2^e
  Index from;              ///< j
};

/// Column i of R is 2^e_i r_j(i): the columns that a run begins with.   reads and writes n w values
template <class T>
struct ScaleColumns {
  static constexpr char const* name = "scale_columns";
  BlockShape shape;  ///< of R
  ColumnScale const* columns;
  double const* r;
  std::int64_t ldr;
  T* R;

  using Coefficients = ColumnScale;
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    c = columns[f.j];
    return true;
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double*) const {
    std::int64_t const i = row_of_element(e, static_cast<Index>(shape.ld));
    R[e] = T(r[i * ldr + c.from] * c.factor * c.factor2);
  }
};

/// t = x + 2^e d and b, in adjacent entries, of columns of blocks.
template <class T>
struct TryColumn {
  static constexpr char const* name = "try_column";
  std::int64_t n;
  double factor, factor2;
  Elements<T const> d;
  Elements<double const> x, b;
  double *t, *b_here;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    t[i] = x[i] + double(d[i]) * factor * factor2;
    b_here[i] = b[i];
  }
};

using DriverColumnOps = OpList<ColumnLengths, ScaleColumns<double>, ScaleColumns<float>>;

}  // namespace tcsolve
