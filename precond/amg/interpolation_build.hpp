// SPDX-License-Identifier: Apache-2.0
/// Interpolation of classical coarsening, written once for both backends (kernels/convert.hpp).
#pragma once

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/precond/amg/interpolation.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve {

/// What row i is strongly coupled to.
struct StrongSums {
  Index to_coarse = 0;          ///< how many of C
  double coarse = 0, back = 0;  ///< sum of these, and the mean of those to F
  TCSOLVE_HD static StrongSums of(InterpolationView const& v, CsrView<double> const& a,
                                  std::int64_t i) {
    StrongSums found;
    Index fine = 0;
    double sum = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      if (v.strong[k] == 0) continue;
      if (v.number[a.columns[k]] >= 0)
        ++found.to_coarse, found.coarse += a.values[k];
      else
        ++fine, sum += a.values[k];
    }
    if (fine > 0) found.back = sum / fine;
    return found;
  }
};
struct SumStrong {
  InterpolationView v;
  StrongSums* sums;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    sums[i] = StrongSums::of(v, a, i);
  }
};

/// In rows that P has, the diagonal, and of F rows the strong couplings to others that are strong
/// on C.
struct MarkFine {
  InterpolationView v;
  StrongSums const* sums;
  std::uint8_t* keep;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    bool const has = v.rows == nullptr || v.rows[i] >= 0, fine = v.number[i] < 0;
    for (Offset k = v.a.offsets[i], end = v.a.offsets[i + 1]; k < end; ++k) {
      Index const j = v.a.columns[k];
      bool const over = fine && v.strong[k] != 0 && v.number[j] < 0 && sums[j].to_coarse > 0;
      keep[k] = has && (j == i || over);
    }
  }
};
template <class On>
void mark_fine(On& on, InterpolationView const& v, std::uint8_t* keep) {
  auto* const sums = on.template take<StrongSums>(v.a.rows);
  on.each_row(v.a.rows, v.a, SumStrong{v, sums});
  on.each(v.a.rows, MarkFine{v, sums, keep});
}

struct CountToCoarse {
  InterpolationView v;
  Offset* length;  // (rows + 1)
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    length[i] = i >= a.rows ? 0 : v.number[i] >= 0 ? 1 : StrongSums::of(v, a, i).to_coarse;
  }
};
struct FillToCoarse {
  InterpolationView v;
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    Offset to = offsets[i];
    if (v.number[i] >= 0) {
      columns[to] = v.number[i];
      return;
    }
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      if (v.strong[k] != 0 && v.number[a.columns[k]] >= 0) columns[to++] = v.number[a.columns[k]];
  }
};
template <class On>
sparse::OwnedPattern coarse_pattern(On& on, InterpolationView const& v, Index coarse) {
  std::int64_t const n = std::int64_t{v.a.rows} + 1;
  auto* const length = on.template take<Offset>(n);
  auto* const offsets = on.template take<Offset>(n);
  on.each_row(n, v.a, CountToCoarse{v, length});
  on.scan(length, offsets, n, Plus{});
  sparse::OwnedPattern made = sparse::with_offsets(on, v.a.rows, coarse, offsets);
  on.each_row(v.a.rows, v.a, FillToCoarse{v, made.offsets(), made.columns.data()});
  return made;
}

/// Rows of both factors.
struct InterpolationFactors {
  InterpolationView v;
  bool way_back;
  StrongSums const* sums;
  PatternView fine, to_coarse;
  double *left, *right;
  /// (D_b)_k
  TCSOLVE_HD double shared(std::int64_t k) const {
    return sums[k].coarse + (way_back ? sums[k].back : 0.0);
  }
  TCSOLVE_HD void operator()(std::int64_t i) const {
    CsrView<double> const& a = v.a;
    Offset at = fine.offsets[i], right_at = to_coarse.offsets[i];
    Offset const stop = fine.offsets[i + 1];
    if (v.number[i] >= 0) {
      if (at < stop) left[at] = 1;
      right[right_at] = 1;
      return;
    }
    double diagonal = 0, rest = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      Index const j = a.columns[k];
      if (j == i)
        diagonal = a.values[k];
      else if (v.strong[k] == 0 || (v.number[j] < 0 && sums[j].to_coarse == 0))
        rest += a.values[k];
      else if (way_back && v.number[j] < 0 && shared(j) != 0)
        rest += a.values[k] * (sums[j].back / shared(j));
    }
    constexpr double cancelled = 1e-14;
    double all = diagonal + rest;
    if (!(magnitude(all) > cancelled * magnitude(diagonal))) all = diagonal;
    double const factor = all != 0 ? -1 / all : 0.0, sum = shared(i);
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      Index const j = a.columns[k];
      if (at < stop && fine.columns[at] == j) left[at++] = factor * (j == i ? sum : a.values[k]);
      if (v.strong[k] != 0 && v.number[j] >= 0)
        right[right_at++] = sum != 0 ? a.values[k] / sum : 0.0;
    }
  }
};
template <class On>
void interpolation_factors(On& on, InterpolationView const& v, bool way_back,
                           PatternView const& fine, PatternView const& to_coarse, double* left,
                           double* right) {
  auto* const sums = on.template take<StrongSums>(v.a.rows);
  on.each_row(v.a.rows, v.a, SumStrong{v, sums});
  on.each(v.a.rows, InterpolationFactors{v, way_back, sums, fine, to_coarse, left, right});
}

/// The largest entries of a row; of equal ones the first.
struct MarkLargest {
  int most;
  std::uint8_t* keep;
  TCSOLVE_HD void operator()(CsrView<double> const& p, std::int64_t i) const {
    Offset const begin = p.offsets[i], end = p.offsets[i + 1];
    for (Offset k = begin; k < end; ++k) {
      int before = 0;
      double const own = magnitude(p.values[k]);
      for (Offset l = begin; l < end && before < most; ++l) {
        double const other = magnitude(p.values[l]);
        before += other > own || (other == own && l < k);
      }
      keep[k] = before < most;
    }
  }
};
template <class On>
void mark_largest(On& on, CsrView<double> const& p, int most, std::uint8_t* keep) {
  on.each_row(p.rows, p, MarkLargest{most, keep});
}

/// What is kept of a row times what keeps its sum.
struct KeepSums {
  CsrView<double> all, kept;
  double* to;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const begin = kept.offsets[i], end = kept.offsets[i + 1];
    Offset at = begin;
    double whole = 0, left = 0;
    for (Offset k = all.offsets[i], stop = all.offsets[i + 1]; k < stop; ++k) {
      whole += all.values[k];
      if (at == end || kept.columns[at] != all.columns[k]) continue;
      left += all.values[k];
      to[at++] = all.values[k];
    }
    double const factor = left != 0 ? whole / left : 1.0;
    for (Offset k = begin; k < end; ++k) to[k] *= factor;
  }
};
template <class On>
void keep_sums(On& on, CsrView<double> const& all, CsrView<double> const& kept, double* to) {
  on.each(all.rows, KeepSums{all, kept, to});
}

}  // namespace tcsolve
