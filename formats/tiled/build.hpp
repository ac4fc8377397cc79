// SPDX-License-Identifier: Apache-2.0
/// CSR to panels, written once for both backends (kernels/convert.hpp), behind lay_out.hpp:
///
///     stages     each panel's footprint in stages of nearly equal size
///     count      chunks of each slice in each stage, by one thread a slice
///     scan       where they begin
///     fill       numbers and values, padding too
#pragma once

#include <tcsolve/formats/tiled/lay_out.hpp>

namespace tcsolve::tiled {

/// Stages of a footprint of `rows`: how many, and the rows of each but the last.
struct StagesOf {
  std::uint32_t count, rows;
  TCSOLVE_HD StagesOf(std::uint32_t footprint, std::uint32_t capacity) {
    count = footprint > capacity ? (footprint + capacity - 1) / capacity : 1;
    rows = footprint > 0 ? (footprint + count - 1) / count : 1;
  }
};

/// Where panels stand.
struct Panels {
  std::uint32_t const *rank, *begin;
  std::int64_t lines;
  Index panels, panel_rows;
  std::uint32_t capacity;
  bool direct;
  TCSOLVE_HD std::uint32_t first(std::int64_t panel) const {
    std::int64_t const line = panel * panel_rows;
    return rank[begin[line < lines ? line : lines]];
  }
  TCSOLVE_HD StagesOf stages(std::int64_t panel) const {
    if (direct) return StagesOf(0, 1);
    return StagesOf(first(panel + 1) - first(panel), capacity);
  }
};

/// One more element closes the scan.
struct CountStages {
  Panels p;
  std::uint32_t* counts;
  std::int32_t* widest;
  TCSOLVE_HD void operator()(std::int64_t panel) const {
    if (panel == p.panels) {
      counts[panel] = 0;
      return;
    }
    StagesOf const here = p.stages(panel);
    counts[panel] = here.count;
    raise_to(widest, static_cast<std::int32_t>(here.rows));
  }
};
struct StartMaps {
  Panels p;
  std::uint32_t const* stage_start;
  std::uint32_t* map_start;
  TCSOLVE_HD void operator()(std::int64_t panel) const {
    std::uint32_t const t = stage_start[panel], first = p.first(panel);
    if (panel == p.panels) {
      map_start[t] = first;
      return;
    }
    StagesOf const here = p.stages(panel);
    for (std::uint32_t s = 0; s < here.count; ++s) map_start[t + s] = first + s * here.rows;
  }
};
/// Gathered columns, and where in its panel's footprint each entry's column stands.
struct FillMap {
  Footprint f;
  Panels p;
  std::uint32_t const* panel_of;
  std::int32_t const* columns;
  std::int32_t* map;
  std::uint32_t* position;  ///< (entries)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::uint32_t const e = f.entry[i], here = f.rank[i + 1] - 1;
    position[e] = here - p.first(panel_of[e]);
    if (f.rank[i + 1] != f.rank[i]) map[here] = columns[e];
  }
};

/// The lines of a slice, stage by stage.
template <class S>
struct SliceWalk {
  static constexpr int height = TiledView<S>::height;
  std::uint32_t at[height], end[height], stage_end[height];
  std::uint32_t const* position;  ///< null: all entries are in the first stage
  TCSOLVE_HD SliceWalk(Line const* lines, std::int64_t count, std::int64_t first,
                       std::uint32_t const* of)
      : position(of) {
    for (int r = 0; r < height; ++r) {
      bool const here = first + r < count;
      at[r] = here ? lines[first + r].first : 0;
      end[r] = here ? at[r] + lines[first + r].count : 0;
      stage_end[r] = at[r];
    }
  }
  /// Goes to the entries whose columns stand before `bound`; how many chunks they take.
  TCSOLVE_HD std::uint32_t next(std::uint32_t bound) {
    std::uint32_t longest = 0;
    for (int r = 0; r < height; ++r) {
      at[r] = stage_end[r];
      if (position == nullptr)
        stage_end[r] = end[r];
      else
        while (stage_end[r] < end[r] && position[stage_end[r]] < bound) ++stage_end[r];
      std::uint32_t const length = stage_end[r] - at[r];
      longest = length > longest ? length : longest;
    }
    constexpr std::uint32_t chunk = TiledView<S>::chunk;
    return (longest + chunk - 1) / chunk;
  }
};

/// What both passes over the slices know.
template <class S>
struct Slices {
  Panels p;
  Line const* lines;
  std::uint32_t const* position;
  std::uint32_t const* stage_start;
  /// f(walk, stage x slices + slice, chunks, first place of the stage) for each stage of slice I of
  /// all.
  template <class F>
  TCSOLVE_HD void each(std::int64_t I, F const& f) const {
    std::int64_t const slices = p.panel_rows / TiledView<S>::height;
    std::int64_t const panel = I / slices, slice = I % slices;
    SliceWalk<S> walk(lines, p.lines, panel * p.panel_rows + slice * TiledView<S>::height,
                      position);
    StagesOf const stages = p.stages(panel);
    for (std::uint32_t s = 0; s < stages.count; ++s) {
      std::uint32_t const chunks = walk.next((s + 1) * stages.rows);
      f(walk, (stage_start[panel] + s) * slices + slice, chunks, s * stages.rows);
    }
  }
};

template <class S>
struct CountChunks {
  Slices<S> slices;
  std::int64_t count, last;  ///< slices; the element that closes the scan
  std::uint32_t* counts;
  struct Count {
    std::uint32_t* counts;
    TCSOLVE_HD void operator()(SliceWalk<S> const&, std::int64_t at, std::uint32_t chunks,
                               std::uint32_t) const {
      counts[at] = chunks;
    }
  };
  TCSOLVE_HD void operator()(std::int64_t I) const {
    if (I == count)
      counts[last] = 0;
    else
      slices.each(I, Count{counts});
  }
};

template <class S>
struct FillSlots {
  Slices<S> slices;
  CsrView<S> a;
  std::uint32_t const* start;
  std::uint16_t* local;
  std::int32_t* columns;
  S* values;
  struct Fill {
    FillSlots const& to;
    TCSOLVE_HD void operator()(SliceWalk<S> const& walk, std::int64_t at, std::uint32_t chunks,
                               std::uint32_t first) const {
      constexpr int chunk = TiledView<S>::chunk, group = TiledView<S>::group;
      for (int r = 0; r < TiledView<S>::height; ++r) {
        std::uint32_t e = walk.at[r];
        for (std::uint32_t j = 0; j < chunks * chunk; ++j, ++e) {
          std::int64_t const slot =
              std::int64_t{to.start[at] + j / chunk} * group + r * chunk + j % chunk;
          bool const here = e < walk.stage_end[r];
          to.values[slot] = here ? to.a.values[e] : S{};
          if (to.columns != nullptr)
            to.columns[slot] = here ? to.a.columns[e] : -1;
          else
            to.local[slot] = static_cast<std::uint16_t>(here ? walk.position[e] - first + 1 : 0);
        }
      }
    }
  };
  TCSOLVE_HD void operator()(std::int64_t I) const { slices.each(I, Fill{*this}); }
};

/// The most chunks that a warp has in a stage.
struct MeasureWarps {
  std::uint32_t const* start;
  Index slices;  ///< of a warp, which divides a panel
  std::int32_t* most;
  TCSOLVE_HD void operator()(std::int64_t warp) const {
    std::uint32_t const* const at = start + warp * slices;
    raise_to(most, static_cast<std::int32_t>(at[slices] - at[0]));
  }
};

struct TakeTargets {
  Line const* lines;
  std::int32_t* target;
  TCSOLVE_HD void operator()(std::int64_t i) const { target[i] = lines[i].target; }
};

/// The values of a line. Another pattern, which nobody has looked at, leads nowhere outside the
/// line's places.
template <class S>
struct Refill {
  CsrView<S> a;
  TiledView<S> m;
  S* values;
  struct Put {
    Refill const& to;
    Offset& at;
    Offset end;
    TCSOLVE_HD void operator()(std::int64_t, std::int64_t slot) const {
      if (at < end && !is_padding(to.m, slot)) to.values[slot] = to.a.values[at++];
    }
  };
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::int32_t const to = m.target == nullptr ? static_cast<Index>(i) : m.target[i];
    std::int32_t row = to;
    std::uint32_t piece = 0, pieces = 1;
    if (to < 0) {
      // The long row of a part: the last that begins no later.
      auto const part = static_cast<std::uint32_t>(~to);
      Index low = 0, high = m.long_rows;
      while (high - low > 1) {
        Index const middle = low + (high - low) / 2;
        (m.long_start[middle] <= part ? low : high) = middle;
      }
      row = m.long_row[low];
      piece = part - m.long_start[low];
      pieces = m.long_start[low + 1] - m.long_start[low];
    }
    Offset const begin = a.offsets[row], entries = a.offsets[row + 1] - begin;
    Offset at = begin + Cut::first(entries, pieces, piece);
    Put const put{*this, at, begin + Cut::first(entries, pieces, piece + 1)};
    walk_places(m, i, put);
  }
};

template <class On, class S>
TiledArrays<S> build(On& on, CsrView<S> const& a, TiledTuning const& tuning) {
  if (a.entries > std::numeric_limits<std::int32_t>::max())
    throw SizeError(cat("tiled: ", a.entries, " entries; it counts them in 32 bits"));
  TiledArrays<S> m;
  TiledView<S>& v = m.view;
  v.rows = a.rows, v.cols = a.cols, v.entries = a.entries, v.space = on.space();
  v.panel_rows = tuning.panel_rows;
  LaidOut const laid = LayOut<On, S>(on, a, tuning).run(m);
  v.panels = laid.panels;
  v.direct = m.model.direct;
  Line const* const lines = laid.footprint.lines;
  Panels const panels{laid.footprint.rank,
                      laid.footprint.begin,
                      laid.lines,
                      v.panels,
                      v.panel_rows,
                      static_cast<std::uint32_t>(tuning.capacity),
                      v.direct};

  auto* const counts = on.template take<std::uint32_t>(v.panels + 1);
  auto* const widest = on.template take<std::int32_t>(1);
  on.clear(widest, 1);
  m.stage_start = Array<std::uint32_t>(on.space(), std::size_t(v.panels) + 1);
  on.each(v.panels + 1, CountStages{panels, counts, widest});
  on.scan(counts, m.stage_start.data(), v.panels + 1, Plus{});
  std::uint32_t stages = 0;
  on.read(m.stage_start.data() + v.panels, &stages, 1);
  on.read(widest, &v.widest, 1);
  v.stages = static_cast<Index>(stages);

  if (!v.direct) {
    m.map_start = Array<std::uint32_t>(on.space(), std::size_t(stages) + 1);
    m.map = Array<std::int32_t>(on.space(), laid.footprint.total);
    on.each(v.panels + 1, StartMaps{panels, m.stage_start.data(), m.map_start.data()});
    on.each(a.entries,
            FillMap{laid.footprint, panels, laid.panel_of, a.columns, m.map.data(), laid.spare});
  }

  std::int64_t const slices = std::int64_t{v.panels} * v.slices(),
                     last = std::int64_t{stages} * v.slices();
  Slices<S> const walk{panels, lines, v.direct ? nullptr : laid.spare, m.stage_start.data()};
  auto* const chunk_counts = on.template take<std::uint32_t>(last + 1);
  on.each(slices + 1, CountChunks<S>{walk, slices, last, chunk_counts});
  m.start = Array<std::uint32_t>(on.space(), last + 1);
  on.scan(chunk_counts, m.start.data(), last + 1, Plus{});
  std::uint32_t chunks = 0;
  on.read(m.start.data() + last, &chunks, 1);
  Index const of_a_warp = v.warp_lines() / v.height;
  auto* const most = on.template take<std::int32_t>(1);
  on.clear(most, 1);
  on.each(last / of_a_warp, MeasureWarps{m.start.data(), of_a_warp, most});
  on.read(most, &v.most_chunks, 1);
  std::size_t const slots = std::size_t{chunks} * TiledView<S>::group;
  m.values = Array<S>(on.space(), slots);
  if (v.direct)
    m.columns = Array<std::int32_t>(on.space(), slots);
  else
    m.local = Array<std::uint16_t>(on.space(), slots);
  on.each(slices,
          FillSlots<S>{walk, a, m.start.data(), m.local.data(), m.columns.data(), m.values.data()});
  if (v.parts > 0 || m.model.reordered) {
    m.target = Array<std::int32_t>(on.space(), std::size_t(v.lines));
    on.each(v.lines, TakeTargets{lines, m.target.data()});
  }
  m.model.Z = a.entries > 0 ? double(slots) / double(a.entries) : 1;

  v.stage_start = m.stage_start.data();
  v.map_start = m.map_start.data();
  v.map = m.map.data();
  v.start = m.start.data();
  v.local = m.local.data();
  v.columns = m.columns.data();
  v.values = m.values.data();
  v.target = m.target.data();
  v.long_start = m.long_start.data();
  v.long_row = m.long_row.data();
  return m;
}

template <class On, class S>
void refill(On& on, CsrView<S> const& a, TiledArrays<S>& m) {
  on.each(m.view.lines, Refill<S>{a, m.view, m.values.data()});
}

}  // namespace tcsolve::tiled
