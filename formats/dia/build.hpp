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
#include <tcsolve/formats/dia/dia.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::dia {

/// *to = 1; several threads may do so at the same time.
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
  S const* values;
  Index const* columns;
  std::int64_t i;
  Index at = 0, end;
  TCSOLVE_HD Row(CsrView<S> const& a, std::int64_t row) : i(row) {
    bool const inside = row < a.rows;
    Offset const begin = inside ? a.offsets[row] : 0;
    end = inside ? static_cast<Index>(a.offsets[row + 1] - begin) : 0;
    values = a.values + begin, columns = a.columns + begin;
  }
  /// Has it an entry in each of so many diagonals? Then entry d is that of diagonal d, and columns
  /// need not be looked at.
  TCSOLVE_HD bool full(Index diagonals) const { return end == diagonals; }
  TCSOLVE_HD S entry(Index d) const { return as_entry(values[d]); }
  /// The entry of a diagonal, or padding. Offsets are asked for in their order.
  TCSOLVE_HD S take(Index offset) {
    while (at < end && columns[at] - i < offset) ++at;
    bool const here = at < end && columns[at] - i == offset;
    return here ? as_entry(values[at]) : padding<S>();
  }
  /// The same from the end, offsets in falling order.
  TCSOLVE_HD S take_back(Index offset) {
    while (end > at && columns[end - 1] - i > offset) --end;
    bool const here = end > at && columns[end - 1] - i == offset;
    return here ? as_entry(values[end - 1]) : padding<S>();
  }
  /// The next entry, where there is one.
  TCSOLVE_HD S next(bool here) {
    bool const some = here && at < end;
    S const v = some ? as_entry(values[at]) : padding<S>();
    at += some;
    return v;
  }
  /// The same from the end.
  TCSOLVE_HD S last(bool here) {
    bool const some = here && at < end;
    end -= some;
    return some ? as_entry(values[end]) : padding<S>();
  }
};

/// Position i of the diagonals up to the main one, or of all (`stored`), and of those above, as far
/// as they are wanted. `again`: padding keeps its positions, so that no column is read.
template <class S>
struct Fill {
  Index const* offsets;
  Index stored, distinct;
  S *values, *upper;  ///< or null
  bool again;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    Row<S> row(a, i);
    bool const full = row.full(distinct);
    Offset const length = dia_length(a.rows);
    if (values != nullptr) fill(row, full, values + i, length, 0, stored);
    if (upper != nullptr) fill(row, full, upper + i, length, stored, distinct - stored);
  }

 private:
  TCSOLVE_HD void fill(Row<S>& row, bool full, S* to, Offset length, Index first,
                       Index count) const {
    if (full) {
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
      for (Index d = 0; d < count; ++d, to += length) *to = row.entry(first + d);
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
          if (d + k < count) to[(d + k) * length] = row.next(!is_padding(before[k]));
      }
    } else {
      for (Index d = 0; d < count; ++d, to += length) *to = row.take(offsets[first + d]);
    }
  }
};

/// A line of padding.
template <class S>
struct Close {
  S* values;
  TCSOLVE_HD void operator()(std::int64_t k) const { values[k] = padding<S>(); }
};

/// Raises *differs where an entry above the diagonal is not the one below it. `again`: the pattern
/// is that of a symmetric matrix, so that padding below says where there is none above.
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
    // Four are on their way at once, the last one again where fewer are left.
    constexpr int ahead = 4;
    auto const fours = [&](auto const& compare) {
      for (Index left = distinct - stored; left > 0; left -= ahead) {
        S low[ahead];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int k = 0; k < ahead; ++k) {
          Index const d = stored + (k < left ? left - 1 - k : 0);
          std::int64_t const j = i + offsets[d];
          bool const inside = j < a.rows;
          S const v = values[(distinct - 1 - d) * length + (inside ? j : i)];
          low[k] = inside ? v : padding<S>();
        }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int k = 0; k < ahead; ++k)
          if (k < left) same = same & compare(stored + left - 1 - k, low[k]);
      }
    };
    if (row.full(distinct))
      fours([&](Index d, S low) { return same_bits(row.entry(d), low); });
    else if (again)
      fours([&](Index, S low) { return same_bits(row.last(!is_padding(low)), low); });
    else
      fours([&](Index d, S low) { return same_bits(row.take_back(offsets[d]), low); });
    if (!same) raise(differs);
  }

 private:
  TCSOLVE_HD static bool same_bits(S a, S b) {
    bool const padded_a = is_padding(a), padded_b = is_padding(b), equal = a == b;
    return (padded_a & padded_b) | (equal & !padded_a & !padded_b);
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
  CsrView<void> const pattern{a.rows, a.cols, a.entries, a.offsets, a.columns, nullptr, on.space()};
  on.each_rows_of_columns(a.rows, 1, pattern, Mark{seen});
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
  Offset const length = dia_length(v.rows), padding_at = m.stored * length;
  std::vector<DiaDiagonal>& list = m.list;
  list.clear();
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
  while (list.size() % 4 != 0) list.push_back({padding_at, 0, 0});
  if (m.diagonals.size() == 0) m.diagonals = Array<DiaDiagonal>(on.space(), list.size());
  on.write(list.data(), m.diagonals.data(), static_cast<std::int64_t>(list.size()));
  v.count = static_cast<Index>(list.size());
  v.diagonals = m.diagonals.data(), v.list = list.data(), v.values = m.values.data();
}

/// f(b, i) for each row; its columns are near where many rows are looked up by them.
template <class On, class S, class F>
void each_row(On& on, std::int64_t n, CsrView<S> const& a, Index distinct, F const& f,
              double* norm = nullptr) {
  RowsOf const rows{norm, distinct};
  if (f.again || double(a.entries) > 0.9 * double(distinct) * a.rows)
    on.each_row_of_values(n, a, f, rows);
  else
    on.each_row(n, a, f, rows);
}

/// What the host reads of a fill.
struct Found {
  double norm;
  Index differs;  ///< not 0 where some a_ij and a_ji do
};

/// The values, and ||A||. True where upper diagonals have come, so that the list is no longer true.
template <class On, class S>
bool fill(On& on, CsrView<S> const& a, DiaArrays<S>& m, bool again) {
  std::int64_t const length = dia_length(a.rows);
  Index const distinct = m.view.distinct, others = distinct - m.stored;
  Index const* const offsets = m.offsets.data();
  bool const mirrored = others > 0 && m.upper.size() == 0;
  auto* const found = on.template take<Found>(1);
  on.clear(found, 1);
  each_row(on, length, a, distinct,
           Fill<S>{offsets, m.stored, distinct, m.values.data(), m.upper.data(), again},
           &found->norm);
  if (mirrored)
    each_row(on, a.rows, a, distinct,
             Compare<S>{offsets, m.stored, distinct, m.values.data(), again, &found->differs});
  Found got;
  on.read(found, &got, 1);
  m.norm = got.norm;
  if (got.differs == 0) return false;
  Array<S> upper(on.space(), std::size_t(others) * length);
  each_row(on, length, a, distinct,
           Fill<S>{offsets, m.stored, distinct, nullptr, upper.data(), false});
  m.upper = std::move(upper);
  return true;
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
  fill(on, a, m, false);
  connect(on, m, offsets);
  return m;
}

/// The same pattern with new values. A matrix that is symmetric no longer gets the upper diagonals
/// it was spared, and products have to be recorded anew (DiaOperator::revision).
template <class On, class S>
void refill(On& on, CsrView<S> const& a, DiaArrays<S>& m) {
  if (m.view.distinct == 0 || !fill(on, a, m, true)) return;
  std::vector<Index> offsets(std::size_t(m.view.distinct));
  on.read(m.offsets.data(), offsets.data(), m.view.distinct);
  connect(on, m, offsets);
}

}  // namespace tcsolve::dia
