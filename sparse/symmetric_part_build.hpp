// SPDX-License-Identifier: Apache-2.0
/// Symmetric parts, written once for both backends (kernels/convert.hpp).
#pragma once

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/symmetric_part.hpp>

namespace tcsolve::sparse {

/// f(j, k, l) for the columns j of row i of a or of t, ascending; k and l: where the entry lies in
/// each, -1 where it is not stored.
template <class A, class F>
TCSOLVE_HD void each_of_either(A const& a, A const& t, std::int64_t i, F const& f) {
  Offset k = a.offsets[i], l = t.offsets[i];
  Offset const end = a.offsets[i + 1], stop = t.offsets[i + 1];
  while (k < end || l < stop) {
    bool const here = k < end && (l == stop || a.columns[k] <= t.columns[l]);
    bool const there = l < stop && (k == end || t.columns[l] <= a.columns[k]);
    f(here ? a.columns[k] : t.columns[l], here ? k : Offset{-1}, there ? l : Offset{-1});
    k += here, l += there;
  }
}

struct CountEither {
  PatternView a, t;
  Offset* count;  // (rows + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset here = 0;
    if (i < a.rows) each_of_either(a, t, i, [&](Index, Offset, Offset) { ++here; });
    count[i] = here;
  }
};
struct FillEither {
  PatternView a, t;
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset to = offsets[i];
    each_of_either(a, t, i, [&](Index j, Offset, Offset) { columns[to++] = j; });
  }
};
template <class On>
OwnedPattern union_pattern(On& on, PatternView const& a, PatternView const& t) {
  std::int64_t const n = std::int64_t{a.rows} + 1;
  auto* const count = on.template take<Offset>(n);
  auto* const offsets = on.template take<Offset>(n);
  on.each(n, CountEither{a, t, count});
  on.scan(count, offsets, n, Plus{});
  OwnedPattern made = with_offsets(on, a.rows, a.cols, offsets);
  on.each(a.rows, FillEither{a, t, made.offsets(), made.columns.data()});
  return made;
}

/// Halves first, so that no sum leaves the range of FP64.
struct AverageRows {
  CsrView<double> a, t;
  OffsetsView offsets;
  double* h;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset to = offsets[i];
    each_of_either(a, t, i, [&](Index, Offset k, Offset l) {
      h[to++] = 0.5 * (k < 0 ? 0.0 : a.values[k]) + 0.5 * (l < 0 ? 0.0 : t.values[l]);
    });
  }
};
template <class On>
void average_values(On& on, CsrView<double> const& a, CsrView<double> const& t,
                    OffsetsView const& offsets, double* h) {
  on.each(a.rows, AverageRows{a, t, offsets, h});
}

}  // namespace tcsolve::sparse
