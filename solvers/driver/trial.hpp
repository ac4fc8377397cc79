// SPDX-License-Identifier: Apache-2.0
/// What becomes known of an x in one pass over A: its residual r = b - A x, and how large r is in
/// each row beside the terms of that row. A row may be met to the last digit while it drowns
/// another:
///
///     1e12 x_0       = 1e12       x = (1, 0):   r = (0, 1),  ||r|| = 1e-12 ||b||,
///            3 x_1   = 1                        |r_1| / (|b| + |A| |x|)_1 = 1: x_1 is not solved
///
/// The sizes are those of Oettli and Prager (1964): max_i |r_i| / (|b| + |A| |x|)_i is the smallest
/// relative change of the entries of A and b that makes x a solution.
/// A trial x' = x + d is accepted or rejected where the vectors lie, so that the norms which the
/// host reads describe the x that was kept.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <tcsolve/core/judgement.hpp>
#include <tcsolve/core/loop_state.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// The sums of a trial, copied to the host together.
struct TrialNorms {
  double residual2, x2;  ///< squares, as they came
  double size2;          ///< || |b| + |A| |x| ||^2
  double terms;          ///< || |A^T| |r| ||_1, what A^T r is a sum of
  double unmet;          ///< rows that are not met
  double relative;       ///< max_i |r_i| / (|b| + |A| |x|)_i
  double overall;        ///< max_i |r_i| / (|b_i| + (|A| e)_i max |x|)
  double x_max;          ///< max |x_j|
  double taken;          ///< 1: x is x' by now
};

/// What is known of the rows of a residual; NaN where A's entries are not.
struct RowFigures {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  double size = unknown;  ///< || |b| + |A| |x| ||
  double terms = 0;       ///< || |A^T| |r| ||_1; 0: not known
  double relative = unknown, overall = unknown, unmet = unknown;  ///< as TrialNorms
};

/// A residual and what its rows are to be held against.
struct RowSizes {
  double const *b, *r, *size, *weight;
  double const* x_max;

  TCSOLVE_HD double relative(std::int64_t i) const { return of(size[i], i); }
  TCSOLVE_HD double overall(std::int64_t i) const {
    return of(magnitude(b[i]) + weight[i] * *x_max, i);
  }
  /// Written so that a NaN is not met.
  TCSOLVE_HD bool met(RowRule const& rule, std::int64_t i) const {
    return magnitude(r[i]) <= rule.absolute || relative(i) <= rule.relative ||
           overall(i) <= rule.overall;
  }

 private:
  TCSOLVE_HD double of(double whole, std::int64_t i) const {
    return r[i] == 0 ? 0.0 : magnitude(r[i]) / whole;
  }
};

/// ||r||^2, ||x||^2 and, where the sizes of the rows are known, what they add up to.
struct TrialSums {
  static constexpr char const* name = "trial_sums";
  static constexpr int sums = 5;
  std::int64_t n;  ///< the larger of rows and columns
  std::int64_t rows, cols;
  double const *r, *x;
  RowSizes sizes;  ///< size is null: not known
  RowRule rule;
  TrialNorms* norms;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    if (i < cols) sum[1] += x[i] * x[i];
    if (i >= rows) return;
    sum[0] += r[i] * r[i];
    if (sizes.size == nullptr) return;
    sum[2] += sizes.size[i] * sizes.size[i];
    sum[3] += sizes.met(rule, i) ? 0 : 1;
    sum[4] += magnitude(r[i]) * sizes.weight[i];
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    norms->residual2 = sum[0], norms->x2 = sum[1], norms->size2 = sum[2], norms->unmet = sum[3];
    norms->terms = sum[4];
    norms->taken = 0;
  }
};

/// The rows that are met worst.
struct WorstRows {
  static constexpr char const* name = "worst_rows";
  static constexpr int sums = 2;
  static constexpr bool maximum = true;
  std::int64_t n;  ///< rows
  RowSizes sizes;
  TrialNorms* norms;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* most) const {
    most[0] = larger(most[0], sizes.relative(i));
    most[1] = larger(most[1], sizes.overall(i));
  }
  TCSOLVE_HD void finish(Frame, double const* most) const {
    norms->relative = most[0], norms->overall = most[1];
  }

 private:
  TCSOLVE_HD static double larger(double most, double v) { return v != v || v > most ? v : most; }
};

/// r_i = 0 in the rows that are met, and by some margin: the next correction moves them a little.
struct KeepUnmet {
  static constexpr char const* name = "keep_unmet";
  std::int64_t n;  ///< rows
  RowSizes sizes;
  RowRule rule;
  double* r;  ///< sizes.r
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    constexpr double margin = 0.25;
    if (sizes.met({margin * rule.relative, margin * rule.overall, margin * rule.absolute}, i))
      r[i] = 0;
  }
};

/// When a trial becomes x without a look by the host: where ||r'|| is smaller than `below`, and no
/// larger than that of the iterate that the run has kept.
struct Takes {
  double below = 0;                                       ///< 0: never
  double kept = std::numeric_limits<double>::infinity();  ///< of the run, where the host knows it
  LoopState const* run = nullptr;                         ///< else where it is known, ...
  double residual = 0;                                    ///< ... and ||r|| as the run began

  TCSOLVE_HD bool allows(double norm) const {
    double const best = run != nullptr && run->kept2 > 0 && run->kept2 < run->start2
                            ? sqrt(run->kept2) / sqrt(run->start2) * residual
                            : kept;
    return norm < below && !(best < norm);
  }
};

/// x = x' where that is allowed and no square has left the range of FP64, where the host has to
/// look closer.
struct TakeTrial {
  static constexpr char const* name = "take_trial";
  std::int64_t n;
  TrialNorms* norms;
  Takes takes;
  double const* trial;
  double* x;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(Frame f, Coefficients&) const {
    bool const taken = squares_fit(norms->residual2) && squares_fit(norms->x2) &&
                       takes.allows(sqrt(norms->residual2));
    if (f.lead) norms->taken = taken ? 1 : 0;
    return taken;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const&, double*) const { x[i] = trial[i]; }
};

/// How the rows of a residual are summed: as products round, or in twice the precision of FP64.
enum class Summed { plain, exact };

/// An x and its residual, as the host knows them.
struct Measured {
  double residual, x_norm;
  RowFigures rows;
  bool taken = false;
  bool finite() const { return std::isfinite(residual) && std::isfinite(x_norm); }
};

/// r = b - A x and its figures on their way: submitted, not waited for. Figures of the rows are
/// made where they are summed exactly. `unmet`, where it is given, becomes r without the rows that
/// are met by a margin. What is submitted next may go by norms(), which lie in the Context's space:
/// in `place`, or in its workspace until this ends.
class Measurement {
 public:
  Measurement(Context& ctx, LinearOperator<double> const& A, In<double> b, In<double> x,
              Out<double> r, Summed sum, RowRule const& rule, double* unmet,
              TrialNorms* place = nullptr)
      : ctx_(ctx),
        scope_(ctx.arena().scope()),
        norms_(place != nullptr ? place : scope_.template take<TrialNorms>(1)),
        x_(x),
        r_(r),
        by_rows_(sum == Summed::exact && A.sums_exactly() && b.is_vector() && x.is_vector()) {
    RowSizes sizes{b.data, r.data, nullptr, nullptr, &norms_->x_max};
    if (by_rows_) {
      size_ = scope_.template vector<double>(r.rows);
      Out<double> const weight = scope_.template vector<double>(r.rows);
      sizes.size = size_.data, sizes.weight = weight.data;
      A.exact_residual(ctx, b, x, r, {size_.data, weight.data});
      max_abs<double>(ctx, x, &norms_->x_max);
    } else if (sum == Summed::exact) {
      A.exact_residual(ctx, b, x, r);
    } else {
      A.residual(ctx, b, x, r);
    }
    submit(ctx, TrialSums{std::max(r.rows, x.rows), r.rows, x.rows, r.data, x.data, sizes, rule,
                          norms_});
    if (!by_rows_) return;
    submit(ctx, WorstRows{r.rows, sizes, norms_});
    if (unmet == nullptr) return;
    copy<double, double>(ctx, r, vector_view(unmet, r.rows, r.space));
    submit(ctx, KeepUnmet{r.rows, sizes, rule, unmet});
  }

  TrialNorms* norms() const { return norms_; }
  /// One wait; one more for each square that does not fit.
  Measured wait() const {
    TrialNorms known;
    copy_bytes(ctx_, &known, Space::host, norms_, ctx_.space(), sizeof known);
    return of(known);
  }
  /// The same where *norms() has come to the host already.
  Measured of(TrialNorms const& known) const {
    Measured out{norm_from<double>(ctx_, known.residual2, In<double>(r_)),
                 norm_from<double>(ctx_, known.x2, x_),
                 {},
                 known.taken == 1};
    if (by_rows_)
      out.rows = {norm_from<double>(ctx_, known.size2, In<double>(size_)), known.terms,
                  known.relative, known.overall, known.unmet};
    return out;
  }

 private:
  Context& ctx_;
  Arena::Scope scope_;
  TrialNorms* norms_;
  In<double> x_;
  Out<double> r_, size_{};
  bool by_rows_;
};

}  // namespace tcsolve
