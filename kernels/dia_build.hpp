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
  /// The next entry, where there is one.
  TCSOLVE_HD S next(bool here) {
    bool const some = here && at < end;
    S const v = some ? no_hole(a.values[at]) : hole<S>();
    at += some;
    return v;
  }
  /// The same from the end.
  TCSOLVE_HD S last(bool here) {
    bool const some = here && at < end;
    end -= some;
    return some ? no_hole(a.values[end]) : hole<S>();
  }
};

/// Position i of the diagonals up to the main one, or of all (`stored`), and of those above, each
/// where it is wanted. `again`: holes lie where they did, so that columns need not be looked at.
template <class S>
struct Fill {
  Index const* offsets;
  Index stored, distinct;
  S *values, *upper;  ///< or null
  bool again;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    Row<S> row(a, i);
    bool const full = row.full(distinct);
    if (values != nullptr) fill(row, full, values + i, 0, stored);
    if (upper != nullptr) fill(row, full, upper + i, stored, distinct - stored);
  }

 private:
  TCSOLVE_HD void fill(Row<S>& row, bool full, S* to, Index first, Index count) const {
    Offset const length = dia_length(row.a.rows);
    if (full) {
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
      for (Index d = 0; d < count; ++d) to[d * length] = row.entry(first + d);
    } else if (again) {
      constexpr int ahead = 8;  // or each would wait for the one before to be stored
      for (Index d = 0; d < count; d += ahead) {
        S before[ahead];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int k = 0; k < ahead; ++k) before[k] = d + k < count ? to[(d + k) * length] : S{};
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int k = 0; k < ahead; ++k)
          if (d + k < count) to[(d + k) * length] = row.next(!is_hole(before[k]));
      }
    } else {
      for (Index d = 0; d < count; ++d) to[d * length] = row.take(offsets[first + d]);
    }
  }
};

/// A line of holes.
template <class S>
struct Close {
  S* values;
  TCSOLVE_HD void operator()(std::int64_t k) const { values[k] = hole<S>(); }
};

/// Raises *differs where an entry above the diagonal is not the one below it. `again`: the pattern
/// is that of a symmetric matrix, so that holes below say where there are none above.
template <class S>
struct Compare {
  Index const* offsets;
  Index stored, distinct;
  S const* values;
  bool again;
  Index* differs;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    Row<S> row(a, i);
    Offset const length = dia_length(a.rows);
    bool same = true;
    auto const inside = [&](Index d) { return i + offsets[d] < a.rows; };
    // Loaded without a condition, so that several are on their way.
    auto const low = [&](Index d) {
      return values[(distinct - 1 - d) * length + (inside(d) ? i + offsets[d] : i)];
    };
    auto const compare = [&](Index d, S const& above, S const& below) {
      bool const equal = same_bits(above, below);
      same = same & (equal | !inside(d));
    };
    if (row.full(distinct)) {
#if defined(__CUDA_ARCH__)
#pragma unroll 8
#endif
      for (Index d = stored; d < distinct; ++d) compare(d, row.entry(d), low(d));
    } else if (again) {
#if defined(__CUDA_ARCH__)
#pragma unroll 8
#endif
      for (Index d = distinct - 1; d >= stored; --d) {
        S const below = low(d);
        compare(d, row.last(inside(d) & !is_hole(below)), below);
      }
    } else {
      for (Index d = stored; d < distinct; ++d) compare(d, row.take(offsets[d]), low(d));
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

/// f(b, i) for each row; its columns are near where many rows are looked up by them.
template <class On, class S, class F>
void each_row(On& on, std::int64_t n, CsrView<S> const& a, Index distinct, F const& f,
              double* norm = nullptr) {
  if (f.again || double(a.entries) > 0.9 * double(distinct) * a.rows)
    on.each_row_of_values(n, a, f, norm);
  else
    on.each_row(n, a, f, norm);
}

/// Whether what lies above the diagonal is what lies below it.
template <class On, class S>
bool symmetric(On& on, CsrView<S> const& a, DiaArrays<S> const& m, bool again) {
  auto* differs = on.template take<Index>(1);
  on.clear(differs, 1);
  Index const distinct = m.view.distinct;
  each_row(on, a.rows, a, distinct,
           Compare<S>{m.offsets.data(), m.stored, distinct, m.values.data(), again, differs});
  Index found = 0;
  on.read(differs, &found, 1);
  return found == 0;
}

/// The values, and ||A||. True where upper diagonals have come, so that the list is no longer true.
template <class On, class S>
bool fill(On& on, CsrView<S> const& a, DiaArrays<S>& m, bool again) {
  std::int64_t const length = dia_length(a.rows);
  Index const distinct = m.view.distinct, others = distinct - m.stored;
  auto const rows = [&](S* values, S* upper, bool holes_lie, double* norm) {
    each_row(on, length, a, distinct,
             Fill<S>{m.offsets.data(), m.stored, distinct, values, upper, holes_lie}, norm);
  };
  on.clear(m.norm.data(), 1);
  rows(m.values.data(), m.upper.data(), again, m.norm.data());
  if (m.upper.size() > 0 || others == 0 || symmetric(on, a, m, again)) return false;
  Array<S> upper(on.space(), std::size_t(others) * length);
  rows(nullptr, upper.data(), false, nullptr);
  m.upper = std::move(upper);
  return true;
}

template <class On, class S>
DiaArrays<S> build(On& on, CsrView<S> const& a, DiaTuning const& tuning) {
  DiaArrays<S> m;
  DiaView<S>& v = m.view;
  v.rows = a.rows, v.cols = a.cols, v.entries = a.entries, v.space = on.space();
  m.norm = Array<double>(on.space(), 1);
  on.clear(m.norm.data(), 1);
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
  fill(on, a, m, false);
  connect(on, m, offsets);
  return m;
}

/// The same pattern with new values. A matrix that is symmetric no longer gets the upper diagonals
/// it was spared; products that are recorded find them through the list.
template <class On, class S>
void refill(On& on, CsrView<S> const& a, DiaArrays<S>& m) {
  if (m.view.distinct == 0 || !fill(on, a, m, true)) return;
  std::vector<Index> offsets(std::size_t(m.view.distinct));
  on.read(m.offsets.data(), offsets.data(), m.view.distinct);
  connect(on, m, offsets);
}

}  // namespace tcsolve::dia
