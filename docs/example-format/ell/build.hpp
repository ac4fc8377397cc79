// SPDX-License-Identifier: Apache-2.0
/// CSR to ELL, written once for both backends (kernels/convert.hpp): how wide, then the rows.
#pragma once

#include <tcsolve/core/error.hpp>
#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/padding.hpp>

#include "ell/ell.hpp"

namespace tcsolve::ell {

template <class S>
struct Widest {
  CsrView<S> a;
  std::int32_t* width;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    raise_to(width, static_cast<std::int32_t>(a.offsets[i + 1] - a.offsets[i]));
  }
};

/// Row i, filled up with padding; its entries alone where the pattern stays.
template <bool again, class S>
struct Fill {
  EllView<S> m;
  Index* columns;
  S* values;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    Offset const first = a.offsets[i], length = a.offsets[i + 1] - first;
    // Another pattern, which nobody has looked at, must not lead out of the arrays.
    for (Offset j = 0, at = i; j < m.width; ++j, at += m.rows) {
      bool const entry = j < length;
      if (!entry && again) return;
      values[at] = entry ? as_entry(a.values[first + j]) : padding<S>();
      if constexpr (!again) columns[at] = entry ? a.columns[first + j] : 0;
    }
  }
};

template <class On, class S>
EllArrays<S> build(On& on, CsrView<S> const& a) {
  EllArrays<S> m;
  auto* const widest = on.template take<std::int32_t>(1);
  on.clear(widest, 1);
  on.each(a.rows, Widest<S>{a, widest});
  std::int32_t width = 0;
  on.read(widest, &width, 1);
  double const positions = double(a.rows) * width;
  if (!padding_pays(positions, a.entries))
    throw MatrixError(cat("ell: rows of up to ", width, " entries need ", positions,
                          " positions for ", a.entries, " entries; take another format"));
  m.columns = Array<Index>(on.space(), std::size_t(a.rows) * std::size_t(width));
  m.values = Array<S>(on.space(), m.columns.size());
  m.view = {a.rows, a.cols, a.entries, width, m.columns.data(), m.values.data(), on.space()};
  on.each_row(a.rows, a, Fill<false, S>{m.view, m.columns.data(), m.values.data()});
  return m;
}

template <class On, class S>
void refill(On& on, CsrView<S> const& a, EllArrays<S>& m) {
  on.each_row_of_values(a.rows, a, Fill<true, S>{m.view, nullptr, m.values.data()});
}

}  // namespace tcsolve::ell
