// SPDX-License-Identifier: Apache-2.0
/// CSR to SELL-32, written once for both backends (kernels/convert.hpp): how wide each slice is,
/// where it begins, and its entries; and new values where the pattern stays.
#pragma once

#include <tcsolve/formats/sell/sell.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::sell {

constexpr int C = SellView<double>::C;

/// Positions: of values, of columns in 16 bits and in 32.
struct Extent {
  Offset values = 0, deltas = 0, columns = 0;
  TCSOLVE_HD friend Extent operator+(Extent const& a, Extent const& b) {
    return {a.values + b.values, a.deltas + b.deltas, a.columns + b.columns};
  }
};

/// Slice s: its lowest column, its width, whether it is wide, and what it takes.
template <class S>
struct Measure {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  CsrView<S> a;
  SellSlice* slices;
  Index* lengths;
  Extent* extents;
  template <class W>
  TCSOLVE_HD void operator()(W const& warp, std::int64_t s) const {
    typename W::template Of<std::uint32_t> low, shorter, higher;  // complements: of the most
    warp.each([&](int l) {
      low[l] = shorter[l] = higher[l] = none;
      std::int64_t const i = s * C + l;
      if (i >= a.rows) return;
      Offset const first = a.offsets[i], last = a.offsets[i + 1];
      lengths[i] = static_cast<Index>(last - first);
      if (first == last) return;
      low[l] = static_cast<std::uint32_t>(a.columns[first]);  // columns ascend
      higher[l] = ~static_cast<std::uint32_t>(a.columns[last - 1]);
      shorter[l] = ~static_cast<std::uint32_t>(last - first);
    });
    std::uint32_t const width = ~warp.least(shorter), base = warp.least(low);
    bool const wide = width > 0 && ~warp.least(higher) - base > 65535;
    warp.each([&](int l) {
      if (l > 0) return;
      Offset const size = Offset{width} * C;
      extents[s] = {size, wide ? 0 : size, wide ? size : 0};
      slices[s] = {0, 0, width > 0 ? static_cast<Index>(base) : 0, static_cast<std::int32_t>(width),
                   wide};
    });
  }
};

struct SetStart {
  Extent const* start;
  SellSlice* slices;
  TCSOLVE_HD void operator()(std::int64_t s) const {
    slices[s].values = start[s].values;
    slices[s].indices = slices[s].wide != 0 ? start[s].columns : start[s].deltas;
  }
};

/// Row i goes to its lane; positions beyond its end hold 0 and the slice's lowest column.
template <class S>
struct Fill {
  SellSlice const* slices;
  std::uint16_t* deltas;
  std::int32_t* columns;
  S* values;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    SellSlice const slice = slices[i / C];
    constexpr int ahead = 4;  // or each would wait for the one before to be stored
    Offset const first = a.offsets[i], length = a.offsets[i + 1] - first;
    for (Offset j = 0, at = i % C; j < slice.width; j += ahead) {
      Index column[ahead];
      S value[ahead];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int e = 0; e < ahead; ++e) {
        bool const some = j + e < length;
        column[e] = some ? a.columns[first + j + e] : slice.base;
        value[e] = some ? a.values[first + j + e] : S(0.0f);
      }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int e = 0; e < ahead; ++e, at += C) {
        if (j + e >= slice.width) break;
        values[slice.values + at] = value[e];
        if (slice.wide)
          columns[slice.indices + at] = column[e];
        else
          deltas[slice.indices + at] = static_cast<std::uint16_t>(column[e] - slice.base);
      }
    }
  }
};

/// The values of row i of a, which has the pattern that the slices were made from.
template <class S>
struct Refill {
  SellSlice const* slices;
  Index const* lengths;
  S* values;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    S* to = values + slices[i / C].values + i % C;
    // The pattern is not checked here: another one must not cause reads beyond its arrays.
    Offset const from = a.offsets[i], given = a.offsets[i + 1] - from;
    Offset const length = given < lengths[i] ? given : lengths[i];
    for (Offset j = 0; j < length; ++j, to += C) *to = a.values[from + j];
  }
};

template <class On, class S>
SellArrays<S> build(On& on, CsrView<S> const& a) {
  SellArrays<S> m;
  std::int64_t const count = (std::int64_t{a.rows} + C - 1) / C;
  m.slices = Array<SellSlice>(on.space(), count);
  m.lengths = Array<Index>(on.space(), a.rows);
  auto* extents = on.template take<Extent>(count + 1);
  auto* start = on.template take<Extent>(count + 1);
  on.each_warp(count, Measure<S>{a, m.slices.data(), m.lengths.data(), extents});
  on.clear(extents + count, 1);
  on.scan(extents, start, count + 1, Plus{});
  Extent total;
  on.read(start + count, &total, 1);
  on.each(count, SetStart{start, m.slices.data()});
  m.values = Array<S>(on.space(), total.values);
  m.deltas = Array<std::uint16_t>(on.space(), total.deltas);
  m.columns = Array<std::int32_t>(on.space(), total.columns);
  on.each_row(a.rows, a,
              Fill<S>{m.slices.data(), m.deltas.data(), m.columns.data(), m.values.data()});
  m.view = {a.rows,          a.cols,           a.entries,       m.slices.data(), m.lengths.data(),
            m.deltas.data(), m.columns.data(), m.values.data(), false,           on.space()};
  return m;
}

/// The same pattern with new values.
template <class On, class S>
void refill(On& on, CsrView<S> const& a, SellArrays<S>& m) {
  on.each_row_of_values(a.rows, a, Refill<S>{m.slices.data(), m.lengths.data(), m.values.data()});
}

}  // namespace tcsolve::sell
