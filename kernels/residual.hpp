// SPDX-License-Identifier: Apache-2.0
/// The residual that decides: r = b - A x with every row summed in twice the working precision and
/// rounded once, for every format alike (kernels/lines.hpp), and how large the terms of each row
/// are, which says what its residual is to be measured against:
///
///     row i:   1e20  -1e20   2  |  x = (1, 1, 3)   b_i = 6.5
///     r_i      6.5 - (1e20 - 1e20 + 6)                  = 0.5      exactly
///     size_i   6.5 +  1e20 + 1e20 + 6                   = 2e20     (|b| + |A| |x|)_i
///     weight_i        1e20 + 1e20 + 2                   = 2e20     (|A| e)_i
///
///   bytes  the matrix once, b and r once, x as it is gathered; size and weight once, where wanted
///   error  |r_i - exact| <= u |exact| + 2 (m u)^2 size_i, m = 1 + entries of row i, u = 2^-53.
///          Ogita, Rump and Oishi 2005, proposition 5.5. A sum of which so much cancels that less
///          than twelve digits of it are known is given the largest size it may have: |r_i| is at
///          least (1 - 2^-40) of the truth
///   bits   the same on every run: a line is added in storage order, parts of a row in theirs
#pragma once

#include <tcsolve/kernels/lines.hpp>
#include <tcsolve/kernels/twofold.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// A row of -A x, or a part of one, as it is added.
struct RowSum {
  Twofold sum{0, 0};
  double size = 0;    ///< sum of |a_ij x_j|
  double weight = 0;  ///< sum of |a_ij|
  double doubt = 0;   ///< what `sum` has lost, at most

  TCSOLVE_HD void subtract_product(double a, double x) {
    doubt += sum.subtract_product(a, x);
    size += magnitude(a * x);
    weight += magnitude(a);
  }
  TCSOLVE_HD void add(RowSum const& part) {
    doubt += sum.add(part.sum) + part.doubt;
    size += part.size;
    weight += part.weight;
  }
};

/// The vectors of r = b - A x, one column of adjacent entries each. What b and r are beside their
/// FP64 values may be given and asked for: a residual that is made in several steps is rounded at
/// the end alone.
struct ResidualVectors {
  double const* b;
  double const* x;
  double* r;                      ///< may be b
  double const* b_low = nullptr;  ///< b is b + b_low; null: 0
  double* r_low = nullptr;        ///< r + r_low, not rounded together; null: not wanted
  double* size = nullptr;         ///< |b| + |A| |x|; null: not wanted ...
  double* weight = nullptr;       ///< ... and |A| e
  bool more = false;              ///< of r made in steps: size and weight hold those before

  /// r_i = b_i + row.
  TCSOLVE_HD void finish(std::int64_t i, RowSum row) const {
    double const given = b[i];
    row.doubt += row.sum.add(given, b_low != nullptr ? b_low[i] : 0.0);
    if (size != nullptr) size[i] = (more ? size[i] : magnitude(given)) + row.size;
    if (weight != nullptr) weight[i] = (more ? weight[i] : 0.0) + row.weight;
    constexpr double twelve_digits = 0x1p-40;
    double const value = row.sum.rounded(), doubt = row.doubt;
    if (r_low != nullptr) r_low[i] = row.sum.rest();
    r[i] = doubt > twelve_digits * magnitude(value) ? value + (value < 0 ? -doubt : doubt) : value;
  }
};

/// Every line of A times x: rows are finished, parts of rows are left for JoinResidual.
template <class View>
struct ExactResidual {
  static constexpr char const* name = "exact_residual";
  static constexpr bool long_elements = true;
  std::int64_t n;  ///< lines
  View a;
  ResidualVectors v;
  RowSum* parts;  ///< as many as the view has; null: none

  struct Subtract {
    double const* x;
    RowSum row{};
    TCSOLVE_HD void operator()(Index column, double value) {
      row.subtract_product(value, x[column]);
    }
  };
  TCSOLVE_HD void element(std::int64_t line, NoCoefficients, double*) const {
    Subtract each{v.x};
    LineOwner const owner = walk(a, line, each);
    if (owner.row >= 0)
      v.finish(owner.row, each.row);
    else if (owner.part >= 0)
      parts[owner.part] = each.row;
  }
  void const* gathered() const { return v.x; }
};

/// The rows whose parts ExactResidual has left.
template <class View>
struct JoinResidual {
  static constexpr char const* name = "join_residual";
  std::int64_t n;  ///< rows_to_join
  View a;
  ResidualVectors v;
  RowSum const* parts;

  struct Add {
    RowSum const* parts;
    RowSum row{};
    TCSOLVE_HD void operator()(std::int64_t part) { row.add(parts[part]); }
  };
  TCSOLVE_HD void element(std::int64_t k, NoCoefficients, double*) const {
    Add each{parts};
    Index const row = join(a, k, each);
    if (row >= 0) v.finish(row, each.row);
  }
};

/// r = b - sigma x - ..., the error of it in r_low: the diagonal part of a shifted operator.
struct ShiftResidual {
  static constexpr char const* name = "shift_residual";
  std::int64_t n;
  double sigma;
  ResidualVectors v;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    RowSum row;
    row.subtract_product(sigma, v.x[i]);
    v.finish(i, row);
  }
};

/// r = b - A x, A as a view whose every line is a row or whose parts are joined.
template <class View>
void exact_residual(Context& ctx, View const& a, ResidualVectors const& v) {
  auto scope = ctx.arena().scope();
  std::int64_t const count = parts(a);
  RowSum* const left = count > 0 ? scope.take<RowSum>(static_cast<std::size_t>(count)) : nullptr;
  submit(ctx, ExactResidual<View>{lines(a), a, v, left});
  if constexpr (requires { rows_to_join(a); })
    if (count > 0) submit(ctx, JoinResidual<View>{rows_to_join(a), a, v, left});
}

}  // namespace tcsolve
