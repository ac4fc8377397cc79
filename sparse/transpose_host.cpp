// SPDX-License-Identifier: Apache-2.0
/// A^T on the host (sparse/transpose.hpp), by counting:
///
///     count    entries of column j in each stretch of rows       a pass over the columns of A
///     begin    where those of a stretch begin in row j of A^T    column by column, stretch by stretch
///     place    entry k of A, in its order                        a second pass
///
/// A stretch is one thread's, whose entries keep their order, and stretches follow each other: the
/// places are those of the sort on a device, whatever the number of stretches. In a matrix whose
/// entries lie near its diagonal the pages of A^T are first touched by the thread that has the rows
/// near theirs.
#include <algorithm>
#include <limits>
#include <vector>

#include <tcsolve/core/parallel.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/sparse/transpose_build.hpp>

namespace tcsolve::host {
namespace {

/// Rows first[t] to first[t + 1] are those of stretch t; all have about as many entries.
std::vector<Index> stretches(PatternView const& a) {
  constexpr Offset least = 50'000;  // entries that are worth a thread
  // The counts of all stretches take no more memory than A does.
  Offset const most = std::min<Offset>(a.entries / least, a.entries / std::max<Index>(a.cols, 1));
  auto const count = static_cast<int>(std::clamp<Offset>(most, 1, thread_count(0)));
  std::vector<Index> first{0};
  for (int t = 1; t < count; ++t) {
    Offset const wanted = a.offsets[0] + a.entries / count * t;
    Index low = first.back(), high = a.rows;
    while (low < high) {
      Index const middle = low + (high - low) / 2;
      if (a.offsets[middle] < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    first.push_back(low);
  }
  first.push_back(a.rows);
  return first;
}

/// Of counts (stretches x columns) the places at which entries go on, and `offsets` of A^T.
template <class O>
void begin(std::int64_t columns, std::int64_t count, O* counts, Offset* offsets) {
  constexpr std::int64_t block = 4096;
  std::int64_t const blocks = (columns + block - 1) / block;
  std::vector<Offset> before(static_cast<std::size_t>(blocks) + 1);
  auto const each_block = [&](auto const& f) {
    parallel(blocks, 8,
             [&](std::int64_t b) { f(b, b * block, std::min(columns, (b + 1) * block)); });
  };
  each_block([&](std::int64_t b, std::int64_t from, std::int64_t to) {
    Offset sum = 0;
    for (std::int64_t t = 0; t < count; ++t)
      for (std::int64_t j = from; j < to; ++j) sum += counts[t * columns + j];
    before[static_cast<std::size_t>(b) + 1] = sum;
  });
  for (std::size_t b = 1; b < before.size(); ++b) before[b] += before[b - 1];
  each_block([&](std::int64_t b, std::int64_t from, std::int64_t to) {
    Offset next = before[static_cast<std::size_t>(b)];
    for (std::int64_t j = from; j < to; ++j) {
      offsets[j] = next;
      for (std::int64_t t = 0; t < count; ++t) {
        O& here = counts[t * columns + j];
        Offset const own = here;
        here = static_cast<O>(next);
        next += own;
      }
    }
  });
  offsets[columns] = before.back();
}

template <class O>
sparse::OwnedPattern by_counting(Converter& on, PatternView const& a, Array<O>& source) {
  std::vector<Index> const first = stretches(a);
  auto const count = static_cast<std::int64_t>(first.size()) - 1, columns = std::int64_t{a.cols};
  auto* const counts = on.template take<O>(static_cast<std::size_t>(count * columns));
  auto* const offsets = on.template take<Offset>(static_cast<std::size_t>(columns) + 1);
  // f(row, its entries from k to end, counts of the stretch) for each row of each stretch.
  auto const each_row = [&](bool clears, auto const& f) {
    parallel(count, 2, [&](std::int64_t t) {
      auto const s = static_cast<std::size_t>(t);
      O* const own = counts + t * columns;
      if (clears) std::fill(own, own + columns, O(0));
      for (Index i = first[s]; i < first[s + 1]; ++i) f(i, a.offsets[i], a.offsets[i + 1], own);
    });
  };
  each_row(true, [&](Index, Offset k, Offset end, O* own) {
    for (; k < end; ++k) ++own[a.columns[k]];
  });
  begin(columns, count, counts, offsets);
  sparse::OwnedPattern made = sparse::with_offsets(on, a.cols, a.rows, offsets);
  source = Array<O>(on.space(), static_cast<std::size_t>(a.entries));
  Index* const rows = made.columns.data();
  O* const from = source.data();
  each_row(false, [&](Index i, Offset k, Offset end, O* own) {
    for (; k < end; ++k) {
      O const to = own[a.columns[k]]++;
      rows[to] = i;
      from[to] = static_cast<O>(k);
    }
  });
  return made;
}

}  // namespace

sparse::TransposedPattern transpose_pattern(Host&, Arena& arena, PatternView const& a) {
  Converter on(arena);
  sparse::TransposedPattern made;
  made.pattern = a.entries <= std::numeric_limits<std::int32_t>::max()
                     ? by_counting(on, a, made.narrow_source)
                     : by_counting(on, a, made.wide_source);
  return made;
}

template <class T>
void transpose_values(Host&, Arena& arena, sparse::TransposedPattern const& made, T const* from,
                      T* to) {
  Converter on(arena);
  sparse::transpose_values(on, made, from, to);
}

#define TCSOLVE_TRANSPOSE(T) \
  template void transpose_values<T>(Host&, Arena&, sparse::TransposedPattern const&, T const*, T*);
TCSOLVE_VALUES(TCSOLVE_TRANSPOSE)
#undef TCSOLVE_TRANSPOSE

}  // namespace tcsolve::host
