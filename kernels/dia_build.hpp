// SPDX-License-Identifier: Apache-2.0
/// CSR to diagonals, written once for both backends (kernels/convert.hpp): which diagonals there
/// are, then their values; and new values where the pattern stays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#if !defined(__CUDA_ARCH__)
#include <atomic>
#endif

#include <tcsolve/core/error.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/dia.hpp>

namespace tcsolve::dia {

/// *to = 1, whoever else does so at the same time.
TCSOLVE_HD void raise(Index* to) {
#if defined(__CUDA_ARCH__)
  *static_cast<Index volatile*>(to) = 1;
#else
  std::atomic_ref<Index>(*to).store(1, std::memory_order_relaxed);
#endif
}
TCSOLVE_HD bool raised(Index* at) {
#if defined(__CUDA_ARCH__)
  return *at != 0;  // of the first cache: at worst it is raised again
#else
  return std::atomic_ref<Index>(*at).load(std::memory_order_relaxed) != 0;
#endif
}

/// Diagonal `offset` has the number offset + rows - 1.
struct Mark {
  Index* seen;
  template <class S>
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    Index* const of = seen + (a.rows - 1 - i);
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      if (!raised(of + a.columns[k])) raise(of + a.columns[k]);
  }
};
struct Collect {
  Index const* before;  ///< how many were seen before each
  Index rows;
  Index* offsets;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    if (before[k + 1] != before[k]) offsets[before[k]] = static_cast<Index>(k - (rows - 1));
  }
};

/// The entries of a row of CSR by ascending offset.
template <class S>
struct Row {
  CsrView<S> const& a;
  std::int64_t i;
  Offset at, end;
  TCSOLVE_HD Row(CsrView<S> const& m, std::int64_t row) : a(m), i(row) {
    bool const inside = row < m.rows;
    at = inside ? m.offsets[row] : 0, end = inside ? m.offsets[row + 1] : 0;
  }
  /// Has it an entry in each of so many diagonals? Then entry d is that of diagonal d, and columns
  /// need not be looked at.
  TCSOLVE_HD bool full(Index diagonals) const { return end - at == diagonals; }
  /// Entry d from here.
  TCSOLVE_HD S entry(Index d) const { return no_hole(a.values[at + d]); }
  /// The entry of a diagonal, or a hole. Offsets are asked for in their order.
  TCSOLVE_HD S take(Index offset) {
    while (at < end && a.columns[at] - i < offset) ++at;
    bool const here = at < end && a.columns[at] - i == offset;
    return here ? no_hole(a.values[at]) : hole<S>();
  }
};

/// Position i of `count` diagonals from `first` on.
template <class S>
struct Fill {
  Index const* offsets;
  Index first, count, distinct;
  S* values;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    Row<S> row(a, i);
    Offset const length = dia_length(a.rows);
    if (row.full(distinct)) {
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
      for (Index d = 0; d < count; ++d) values[d * length + i] = row.entry(first + d);
      return;
    }
    for (Index d = 0; d < count; ++d) values[d * length + i] = row.take(offsets[first + d]);
  }
};

/// A line of holes.
template <class S>
struct Close {
  S* values;
  TCSOLVE_HD void operator()(std::int64_t k) const { values[k] = hole<S>(); }
};

/// Raises *differs where an entry above the diagonal is not the one below it.
template <class S>
struct Compare {
  Index const* offsets;
  Index stored, distinct;
  S const* values;
  Index* differs;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    Row<S> row(a, i);
    Offset const length = dia_length(a.rows);
    bool same = true;
    // Loaded without a condition, so that several are on their way.
    auto const compare = [&](Index d, S const& up) {
      std::int64_t const j = i + offsets[d];
      bool const inside = j < a.rows;
      S const low = values[(distinct - 1 - d) * length + (inside ? j : i)];
      bool const equal = same_bits(up, low);
      same = same & (equal | !inside);
    };
    if (row.full(distinct)) {
#if defined(__CUDA_ARCH__)
#pragma unroll 8
#endif
      for (Index d = stored; d < distinct; ++d) compare(d, row.entry(d));
    } else {
      for (Index d = stored; d < distinct; ++d) compare(d, row.take(offsets[d]));
    }
    if (!same) raise(differs);
  }

 private:
  TCSOLVE_HD static bool same_bits(S const& a, S const& b) {
    bool const hole_a = is_hole(a), hole_b = is_hole(b), equal = a == b;
    return (hole_a & hole_b) | (equal & !hole_a & !hole_b);
  }
};

/// (before each, and all) of the rows + cols - 1 diagonals; null without entries.
template <class On, class S>
Index* scan_diagonals(On& on, CsrView<S> const& a, Index& distinct) {
  distinct = 0;
  if (a.entries == 0) return nullptr;
  std::size_t const all = std::size_t(a.rows) + a.cols;
  auto* seen = on.template take<Index>(all);
  auto* before = on.template take<Index>(all);
  on.clear(seen, static_cast<std::int64_t>(all));
  on.each_row(a.rows, a, Mark{seen});
  on.scan(seen, before, static_cast<std::int64_t>(all), Plus{});
  on.read(before + all - 1, &distinct, 1);
  return before;
}

template <class On, class S>
Index count(On& on, CsrView<S> const& a) {
  Index distinct;
  scan_diagonals(on, a, distinct);
  return distinct;
}

/// The list that products walk.
template <class On, class S>
void connect(On& on, DiaArrays<S>& m, std::vector<Index> const& offsets) {
  DiaView<S>& v = m.view;
  Offset const length = dia_length(v.rows), holes = m.stored * length;
  std::vector<DiaDiagonal> list;
  for (Index d = 0; d < m.view.distinct; ++d) {
    Index const offset = offsets[d];
    if (d < m.stored) {
      list.push_back({d * length, offset, v.rows});
    } else if (m.upper.size() > 0) {
      // From `values` into another array: both begin at a multiple of the size of a value.
      auto const apart = reinterpret_cast<std::intptr_t>(m.upper.data()) -
                         reinterpret_cast<std::intptr_t>(m.values.data());
      list.push_back({apart / static_cast<std::intptr_t>(sizeof(S)) + (d - m.stored) * length,
                      offset, v.rows});
    } else {
      list.push_back({(m.view.distinct - 1 - d) * length + offset, offset, v.rows - offset});
    }
  }
  while (list.size() % 4 != 0) list.push_back({holes, 0, 0});
  if (m.diagonals.size() == 0) m.diagonals = Array<DiaDiagonal>(on.space(), list.size());
  on.write(list.data(), m.diagonals.data(), static_cast<std::int64_t>(list.size()));
  v.count = static_cast<Index>(list.size());
  v.diagonals = m.diagonals.data(), v.values = m.values.data();
}

/// f(b, i) for each row; columns are near where many rows have diagonals without an entry.
template <class On, class S, class F>
void each_row(On& on, std::int64_t n, CsrView<S> const& a, Index distinct, F const& f) {
  if (double(a.entries) > 0.9 * double(distinct) * a.rows)
    on.each_row_of_values(n, a, f);
  else
    on.each_row(n, a, f);
}

/// Whether what lies above the diagonal is what lies below it.
template <class On, class S>
bool symmetric(On& on, CsrView<S> const& a, DiaArrays<S> const& m) {
  auto* differs = on.template take<Index>(1);
  on.clear(differs, 1);
  each_row(on, a.rows, a, m.view.distinct,
           Compare<S>{m.offsets.data(), m.stored, m.view.distinct, m.values.data(), differs});
  Index found = 0;
  on.read(differs, &found, 1);
  return found == 0;
}

template <class On, class S>
void fill(On& on, CsrView<S> const& a, DiaArrays<S>& m, std::vector<Index> const& offsets) {
  std::int64_t const length = dia_length(a.rows);
  Index const others = m.view.distinct - m.stored;
  auto const fill_upper = [&](Array<S>& upper) {
    each_row(on, length, a, m.view.distinct,
             Fill<S>{m.offsets.data(), m.stored, others, m.view.distinct, upper.data()});
  };
  each_row(on, length, a, m.view.distinct,
           Fill<S>{m.offsets.data(), 0, m.stored, m.view.distinct, m.values.data()});
  if (m.upper.size() > 0) return fill_upper(m.upper);
  if (others == 0 || symmetric(on, a, m)) return;
  Array<S> upper(on.space(), std::size_t(others) * length);
  fill_upper(upper);
  m.upper = std::move(upper);
  if (!offsets.empty()) connect(on, m, offsets);
}

template <class On, class S>
DiaArrays<S> build(On& on, CsrView<S> const& a, DiaTuning const& tuning) {
  DiaArrays<S> m;
  DiaView<S>& v = m.view;
  v.rows = a.rows, v.cols = a.cols, v.entries = a.entries, v.space = on.space();
  Index const* const before = scan_diagonals(on, a, m.view.distinct);
  if (m.view.distinct == 0) return m;
  Offset const length = dia_length(a.rows);
  if (!dia_fits(m.view.distinct, a.rows, a.entries))
    throw MatrixError(cat("dia: ", m.view.distinct, " diagonals of ", a.rows, " rows for ",
                          a.entries, " entries; take another format"));
  m.offsets = Array<Index>(on.space(), m.view.distinct);
  on.each(std::int64_t{a.rows} + a.cols - 1, Collect{before, a.rows, m.offsets.data()});
  std::vector<Index> offsets(std::size_t(m.view.distinct));
  on.read(m.offsets.data(), offsets.data(), m.view.distinct);
  auto const below = std::ranges::lower_bound(offsets, 1) - offsets.begin();
  bool mirrors = tuning.symmetric && a.rows == a.cols;
  for (std::size_t d = 0; mirrors && d < offsets.size(); ++d)
    mirrors = offsets[d] == -offsets[offsets.size() - 1 - d];
  m.stored = mirrors ? static_cast<Index>(below) : m.view.distinct;
  m.values = Array<S>(on.space(), std::size_t(m.stored) * length + 32);
  on.each(32, Close<S>{m.values.data() + m.stored * length});
  fill(on, a, m, {});
  connect(on, m, offsets);
  return m;
}

/// The same pattern with new values. A matrix that is symmetric no longer gets the upper diagonals
/// it was spared; products that are recorded find them through the list.
template <class On, class S>
void refill(On& on, CsrView<S> const& a, DiaArrays<S>& m) {
  if (m.view.distinct == 0) return;
  std::vector<Index> offsets;
  if (m.stored < m.view.distinct && m.upper.size() == 0) {
    offsets.resize(std::size_t(m.view.distinct));
    on.read(m.offsets.data(), offsets.data(), m.view.distinct);
  }
  fill(on, a, m, offsets);
}

}  // namespace tcsolve::dia
