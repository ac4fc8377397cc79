// SPDX-License-Identifier: Apache-2.0
/// The residual that decides: r = b - A x with every row summed in twice the working precision and
/// rounded once, for every format alike (kernels/lines.hpp).
///
///   bytes  the matrix once, b and r once, x as it is gathered
///   error  |r_i - exact| <= u |exact| + (m u)^2 (|b_i| + sum_j |a_ij x_j|), m = 1 + entries of row
///          i, u = 2^-53     Ogita, Rump and Oishi 2005, proposition 5.5
///   bits   the same on every run: a line is added in storage order, parts of a row in theirs
#pragma once

#include <tcsolve/kernels/lines.hpp>
#include <tcsolve/kernels/twofold.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// The vectors of r = b - A x, one column of adjacent entries each. What b and r are beside their
/// FP64 values may be given and asked for: a residual that is made in several steps is rounded at
/// the end alone.
struct ResidualVectors {
  double const* b;
  double const* x;
  double* r;                      ///< may be b
  double const* b_low = nullptr;  ///< b is b + b_low; null: 0
  double* r_low = nullptr;        ///< r + r_low, not rounded together; null: not wanted

  /// r_i = b_i + sum.
  TCSOLVE_HD void finish(std::int64_t i, Twofold sum) const {
    sum.add(b[i], b_low != nullptr ? b_low[i] : 0.0);
    if (r_low != nullptr) r_low[i] = sum.rest();
    r[i] = sum.rounded();
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
  Twofold* parts;  ///< as many as the view has; null: none

  struct Subtract {
    double const* x;
    Twofold sum;
    TCSOLVE_HD void operator()(Index column, double value) {
      sum.subtract_product(value, x[column]);
    }
  };
  TCSOLVE_HD void element(std::int64_t line, NoCoefficients, double*) const {
    Subtract each{v.x, {0, 0}};
    LineOwner const owner = walk(a, line, each);
    if (owner.row >= 0)
      v.finish(owner.row, each.sum);
    else if (owner.part >= 0)
      parts[owner.part] = each.sum;
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
  Twofold const* parts;

  struct Add {
    Twofold const* parts;
    Twofold sum;
    TCSOLVE_HD void operator()(std::int64_t part) { sum.add(parts[part]); }
  };
  TCSOLVE_HD void element(std::int64_t k, NoCoefficients, double*) const {
    Add each{parts, {0, 0}};
    Index const row = join(a, k, each);
    if (row >= 0) v.finish(row, each.sum);
  }
};

/// r = b - sigma x - ..., the error of it in r_low: the diagonal part of a shifted operator.
struct ShiftResidual {
  static constexpr char const* name = "shift_residual";
  std::int64_t n;
  double sigma;
  ResidualVectors v;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    Twofold sum{0, 0};
    sum.subtract_product(sigma, v.x[i]);
    v.finish(i, sum);
  }
};

/// r = b - A x, A as a view whose every line is a row or whose parts are joined.
template <class View>
void exact_residual(Context& ctx, View const& a, ResidualVectors const& v) {
  auto scope = ctx.arena().scope();
  std::int64_t const count = parts(a);
  Twofold* const left = count > 0 ? scope.take<Twofold>(static_cast<std::size_t>(count)) : nullptr;
  submit(ctx, ExactResidual<View>{lines(a), a, v, left});
  if constexpr (requires { rows_to_join(a); })
    if (count > 0) submit(ctx, JoinResidual<View>{rows_to_join(a), a, v, left});
}

}  // namespace tcsolve
