// SPDX-License-Identifier: Apache-2.0
/// CSR to tiles and back, new values, and tile rows below tile columns, written once for both
/// backends (kernels/convert.hpp). A warp walks a tile row twice, first to count, then to write.
#pragma once

#include <tcsolve/formats/tile16/lines.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/tiles_below_build.hpp>

namespace tcsolve::tile16 {

constexpr int side = 16;
template <class Warp>
using Walk = sparse::TileWalk<side, Warp>;

/// What there is before a tile row: of all its tiles, and of their entries.
struct Counts {
  std::uint32_t tiles, packed;
};
struct AddCounts {
  TCSOLVE_HD Counts operator()(Counts const& p, Counts const& q) const {
    return {p.tiles + q.tiles, p.packed + q.packed};
  }
};

struct Count {
  PatternView a;
  int least;
  Counts* counts;
  std::uint32_t* rest;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    Walk<Warp> walk(warp, a, I);
    typename Warp::template Of<std::uint32_t> left;
    warp.each([&](int lane) { left[lane] = 0; });
    Counts here{0, 0};
    while (walk.next()) {
      if (walk.entries() >= least) {
        here.tiles += 1, here.packed += static_cast<std::uint32_t>(walk.entries());
        continue;
      }
      warp.each([&](int lane) {
        left[lane] += static_cast<std::uint32_t>(walk.end[0][lane] - walk.begin[0][lane]);
      });
    }
    warp.each([&](int lane) {
      if (lane == 0) counts[I] = here;
      if (std::int64_t const i = walk.row(I, lane, 0); lane < side && i < a.rows)
        rest[i] = left[lane];
    });
  }
};

/// sum = v, at most 16 each, over the lanes before each.
template <class Warp>
TCSOLVE_HD void sum_before(Warp const& warp, typename Warp::template Of<std::uint32_t> const& v,
                           typename Warp::template Of<std::uint32_t>& sum) {
  typename Warp::template Of<std::uint32_t> bit;
  warp.each([&](int lane) { sum[lane] = 0; });
  for (int b = 0; b < 5; ++b) {
    warp.each([&](int lane) { bit[lane] = v[lane] >> b & 1; });
    warp.rank(bit);
    warp.each([&](int lane) { sum[lane] += bit[lane] << b; });
  }
}

template <class S>
struct Write {
  PatternView a;
  S const* from;
  int least;
  Counts const* before;
  std::uint32_t const* rest_start;
  Index *column, *rest_columns;
  std::uint32_t* first;
  std::uint8_t *row_start, *places;
  S *values, *rest_values;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    Walk<Warp> walk(warp, a, I);
    typename Warp::template Of<std::uint32_t> to, count, before_row;
    warp.each([&](int lane) {
      std::int64_t const i = walk.row(I, lane, 0);
      to[lane] = lane < side && i < a.rows ? rest_start[i] : 0;
    });
    std::int64_t tile = before[I].tiles;
    std::uint32_t packed = before[I].packed;
    while (walk.next()) {
      bool const kept = walk.entries() >= least;
      warp.each([&](int lane) {
        count[lane] = static_cast<std::uint32_t>(walk.end[0][lane] - walk.begin[0][lane]);
      });
      if (!kept) {
        warp.each([&](int lane) {
          for (Offset k = walk.begin[0][lane]; k < walk.end[0][lane]; ++k, ++to[lane])
            rest_columns[to[lane]] = a.columns[k], rest_values[to[lane]] = from[k];
        });
        continue;
      }
      sum_before(warp, count, before_row);
      warp.each([&](int lane) {
        if (lane == 0) column[tile] = walk.column(), first[tile] = packed;
        if (lane >= side) return;
        row_start[tile * side + lane] = static_cast<std::uint8_t>(before_row[lane]);
        std::uint32_t at = packed + before_row[lane];
        for (Offset k = walk.begin[0][lane]; k < walk.end[0][lane]; ++k, ++at) {
          places[at] = static_cast<std::uint8_t>(side * lane + a.columns[k] % side);
          values[at] = from[k];
        }
      });
      ++tile, packed += static_cast<std::uint32_t>(walk.entries());
    }
  }
};

struct TakeStarts {
  Counts const* before;
  std::uint32_t* start;
  TCSOLVE_HD void operator()(std::int64_t I) const { start[I] = before[I].tiles; }
};

template <class On, class S>
Tile16Arrays<S> build(On& on, CsrView<S> const& a, Tile16Tuning const& tuning) {
  if (a.entries > std::numeric_limits<std::int32_t>::max())
    throw SizeError(cat("tile16: ", a.entries, " entries; it counts them with 31 bits"));
  Tile16Arrays<S> m;
  Index const tile_rows = a.rows / side + (a.rows % side != 0);
  auto const rows = static_cast<std::size_t>(a.rows), n = static_cast<std::size_t>(tile_rows);
  auto* const counts = on.template take<Counts>(n + 1);
  auto* const before = on.template take<Counts>(n + 1);
  auto* const rest = on.template take<std::uint32_t>(rows + 1);
  auto* const rest_before = on.template take<std::uint32_t>(rows + 1);
  on.clear(counts + n, 1);
  on.clear(rest + rows, 1);
  on.each_warp(tile_rows, Count{a, tuning.least, counts, rest});
  on.scan(counts, before, tile_rows + std::int64_t{1}, AddCounts{});
  on.scan(rest, rest_before, a.rows + std::int64_t{1}, Plus{});
  Counts all{};
  on.read(before + n, &all, 1);
  auto const left = static_cast<std::size_t>(a.entries - Offset{all.packed});

  m.start = Array<std::uint32_t>(on.space(), n + 1);
  on.each(tile_rows + std::int64_t{1}, TakeStarts{before, m.start.data()});
  m.column = Array<Index>(on.space(), all.tiles);
  m.first = Array<std::uint32_t>(on.space(), std::size_t{all.tiles} + 1);
  m.row_start = Array<std::uint8_t>(on.space(), std::size_t{all.tiles} * side);
  m.places = Array<std::uint8_t>(on.space(), all.packed);
  m.values = Array<S>(on.space(), all.packed);
  if (left > 0) {
    m.rest_start = Array<std::uint32_t>(on.space(), rows + 1);
    m.rest_columns = Array<Index>(on.space(), left);
    m.rest_values = Array<S>(on.space(), left);
    on.each(a.rows + std::int64_t{1},
            sparse::Copy<std::uint32_t>{rest_before, m.rest_start.data()});
  }
  on.write(&all.packed, m.first.data() + all.tiles, 1);
  on.each_warp(tile_rows, Write<S>{a, a.values, tuning.least, before, rest_before, m.column.data(),
                                   m.rest_columns.data(), m.first.data(), m.row_start.data(),
                                   m.places.data(), m.values.data(), m.rest_values.data()});
  m.view = {a.rows,
            a.cols,
            tile_rows,
            a.entries,
            all.tiles,
            all.packed,
            m.start.data(),
            m.column.data(),
            m.first.data(),
            m.row_start.data(),
            m.places.data(),
            m.values.data(),
            m.rest_start.data(),
            m.rest_columns.data(),
            m.rest_values.data(),
            on.space()};
  return m;
}

/// Row i of a: an entry goes to the tile of its column, or to the rest where there is none.
template <class S>
struct Refill {
  Tile16View<S> m;
  S *values, *rest_values;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    std::uint32_t t = m.start[i / side];
    std::uint32_t const end = m.start[i / side + 1];
    int const r = static_cast<int>(i % side);
    std::uint32_t rest = m.rest_start != nullptr ? m.rest_start[i] : 0;
    std::uint32_t const rest_end = m.rest_start != nullptr ? m.rest_start[i + 1] : 0;
    std::uint32_t at = 0, row_end = 0;
    bool inside = false;  // at .. row_end are those of tile t
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      Index const tile = a.columns[k] / side;
      while (t < end && m.column[t] < tile) ++t, inside = false;
      if (t < end && m.column[t] == tile) {
        if (!inside) {
          std::uint8_t const* const before = m.row_start + std::int64_t{t} * side;
          at = m.first[t] + before[r];
          row_end = r + 1 < side ? m.first[t] + before[r + 1] : m.first[t + 1];
          inside = true;
        }
        // Another pattern, which nobody has looked at, must not lead out of the arrays.
        if (at < row_end) values[at++] = a.values[k];
      } else if (rest < rest_end) {
        rest_values[rest++] = a.values[k];
      }
    }
  }
};
template <class On, class S>
void refill(On& on, CsrView<S> const& a, Tile16Arrays<S>& m) {
  on.each_row_of_values(a.rows, a, Refill<S>{m.view, m.values.data(), m.rest_values.data()});
}

/// (tile column, tile row) of each tile, then of each entry of the rest.
template <class S>
struct ListTiles {
  Tile16View<S> a;
  std::uint32_t* key;
  Index* row;
  TCSOLVE_HD void operator()(std::int64_t I) const {
    for (std::uint32_t t = a.start[I]; t < a.start[I + 1]; ++t)
      key[t] = static_cast<std::uint32_t>(a.column[t]), row[t] = static_cast<Index>(I);
  }
};
template <class S>
struct ListRest {
  Tile16View<S> a;
  std::uint32_t* key;
  Index* row;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    for (std::uint32_t k = a.rest_start[i]; k < a.rest_start[i + 1]; ++k)
      key[a.tiles + k] = static_cast<std::uint32_t>(a.rest_columns[k] / side),
                    row[a.tiles + k] = static_cast<Index>(i / side);
  }
};
template <class On, class S>
StoredTilesBelow below(On& on, Tile16View<S> const& a) {
  return sparse::tiles_below(on, a.cols, a.tiles + (a.entries - a.packed),
                             [&](std::uint32_t* key, Index* row) {
                               on.each(a.tile_rows, ListTiles<S>{a, key, row});
                               if (a.rest_start != nullptr)
                                 on.each(a.rows, ListRest<S>{a, key, row});
                             });
}

/// Rows as CSR has them: counted, then tiles and rest merged by ascending column.
template <class S>
struct CountRow {
  Tile16View<S> a;
  std::int32_t* count;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::uint32_t entries = 0;
    for (std::uint32_t t = a.start[i / side]; t < a.start[i / side + 1]; ++t) {
      Tile16Row const row = row_of(a, t, static_cast<int>(i % side));
      entries += row.end - row.begin;
    }
    if (a.rest_start != nullptr) entries += a.rest_start[i + 1] - a.rest_start[i];
    count[i] = static_cast<std::int32_t>(entries);
  }
};
template <class S>
struct WriteRow {
  Tile16View<S> a;
  std::int32_t const* offsets;
  Index* columns;
  S* values;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::int64_t at = offsets[i];
    std::uint32_t rest = a.rest_start != nullptr ? a.rest_start[i] : 0;
    std::uint32_t const rest_end = a.rest_start != nullptr ? a.rest_start[i + 1] : 0;
    for (std::uint32_t t = a.start[i / side]; t < a.start[i / side + 1]; ++t) {
      Index const first = a.column[t] * side;
      for (; rest < rest_end && a.rest_columns[rest] < first; ++rest, ++at)
        columns[at] = a.rest_columns[rest], values[at] = a.rest_values[rest];
      Tile16Row const row = row_of(a, t, static_cast<int>(i % side));
      for (std::uint32_t k = row.begin; k < row.end; ++k, ++at)
        columns[at] = first + (a.places[k] & 15), values[at] = a.values[k];
    }
    for (; rest < rest_end; ++rest, ++at)
      columns[at] = a.rest_columns[rest], values[at] = a.rest_values[rest];
  }
};
template <class On, class S>
CsrArrays<S> entries(On& on, Tile16View<S> const& a) {
  CsrArrays<S> made;
  auto* const count = on.template take<std::int32_t>(static_cast<std::size_t>(a.rows) + 1);
  made.narrow_offsets = Array<std::int32_t>(on.space(), static_cast<std::size_t>(a.rows) + 1);
  made.columns = Array<Index>(on.space(), static_cast<std::size_t>(a.entries));
  made.values = Array<S>(on.space(), static_cast<std::size_t>(a.entries));
  on.clear(count + a.rows, 1);
  on.each(a.rows, CountRow<S>{a, count});
  on.scan(count, made.narrow_offsets.data(), a.rows + std::int64_t{1}, Plus{});
  on.each(a.rows,
          WriteRow<S>{a, made.narrow_offsets.data(), made.columns.data(), made.values.data()});
  return made;
}

}  // namespace tcsolve::tile16
