// SPDX-License-Identifier: Apache-2.0
/// Which lines a matrix has, in which order, and what each panel of them gathers: the first half of
/// the conversion (build.hpp), written once for both backends.
///
///     lines        rows, long ones in segments of nearly equal length
///     sort         of lines by their first columns, as radix sort compares rows that are read as
///                  binary numbers: the first column is the highest digit
///     footprint    entries sorted by panel and column: the first of each column is a row of X that
///                  is gathered
#pragma once

#include <limits>

#include <tcsolve/formats/tiled/lines.hpp>
#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::tiled {

/// Entries [first, first + count) of a row, and where their sum goes.
struct Line {
  std::uint32_t first, count;
  std::int32_t target;  ///< row, or ~part
};

struct LineCounts {
  std::uint32_t lines, parts, long_rows;
};
struct AddLineCounts {
  TCSOLVE_HD LineCounts operator()(LineCounts a, LineCounts b) const {
    return {a.lines + b.lines, a.parts + b.parts, a.long_rows + b.long_rows};
  }
};

/// How rows are cut.
struct Cut {
  Index segment, most;
  TCSOLVE_HD std::uint32_t pieces(Offset entries) const {
    if (segment == 0 || entries <= segment) return 1;
    Offset const wanted = (entries + segment - 1) / segment;
    return static_cast<std::uint32_t>(wanted < most ? wanted : most);
  }
  /// The first entry of a piece, from the row's first on.
  TCSOLVE_HD static Offset first(Offset entries, std::uint32_t pieces, std::uint32_t piece) {
    return entries * piece / pieces;
  }
};

/// *to += sum of n_i^2, by stretches.
template <class S>
struct SumSquares {
  static constexpr Index stretch = 256;
  CsrView<S> a;
  std::int64_t* to;
  TCSOLVE_HD void operator()(std::int64_t block) const {
    std::int64_t sum = 0;
    std::int64_t const first = block * stretch, last = first + stretch;
    for (std::int64_t i = first; i < last && i < a.rows; ++i) {
      Offset const n = a.offsets[i + 1] - a.offsets[i];
      sum += n * n;
    }
    atomic_add(to, sum);
  }
};

template <class S>
struct CountPieces {
  CsrView<S> a;
  Cut cut;
  LineCounts* counts;  ///< (rows + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::uint32_t const n = i < a.rows ? cut.pieces(a.offsets[i + 1] - a.offsets[i]) : 0;
    counts[i] = {n, n > 1 ? n : 0, n > 1 ? 1u : 0u};
  }
};

template <class S>
struct MakeLines {
  CsrView<S> a;
  LineCounts const* first;
  Line* lines;
  std::uint32_t* long_start;
  std::int32_t* long_row;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    LineCounts const at = first[i];
    if (i == a.rows) {
      if (long_start != nullptr) long_start[at.long_rows] = at.parts;
      return;
    }
    Offset const begin = a.offsets[i], entries = a.offsets[i + 1] - begin;
    std::uint32_t const pieces = first[i + 1].lines - at.lines;
    for (std::uint32_t p = 0; p < pieces; ++p) {
      Offset const from = Cut::first(entries, pieces, p), to = Cut::first(entries, pieces, p + 1);
      auto const owner = static_cast<std::int32_t>(pieces > 1 ? at.parts + p : i);
      lines[at.lines + p] = {static_cast<std::uint32_t>(begin + from),
                             static_cast<std::uint32_t>(to - from), pieces > 1 ? ~owner : owner};
    }
    if (pieces > 1) {
      long_start[at.long_rows] = at.parts;
      long_row[at.long_rows] = static_cast<std::int32_t>(i);
    }
  }
};

/// The digit of a line in the sort by patterns: its column number `place`; the last digit of all
/// where it has none.
struct TakeDigit {
  Line const* lines;
  std::int32_t const* columns;
  Index cols;
  std::uint32_t place;
  std::uint32_t* key;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Line const line = lines[i];
    key[i] = static_cast<std::uint32_t>(place < line.count ? columns[line.first + place] : cols);
  }
};

struct CopyLines {
  Line const* from;
  Line* to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};
struct TakeColumns {
  std::int32_t const* columns;
  std::uint32_t *key, *entry;
  TCSOLVE_HD void operator()(std::int64_t e) const {
    key[e] = static_cast<std::uint32_t>(columns[e]);
    entry[e] = static_cast<std::uint32_t>(e);
  }
};
struct MarkPanels {
  Line const* lines;
  Index panel_rows;
  std::uint32_t* panel_of;  ///< (entries)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Line const line = lines[i];
    auto const panel = static_cast<std::uint32_t>(i / panel_rows);
    for (std::uint32_t e = line.first; e < line.first + line.count; ++e) panel_of[e] = panel;
  }
};
struct TakePanels {
  std::uint32_t const *panel_of, *by_column;
  std::uint32_t *key, *entry;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    entry[i] = by_column[i];
    key[i] = panel_of[by_column[i]];
  }
};
struct CountEntries {
  Line const* lines;
  std::int64_t count;
  std::uint32_t* to;  ///< (lines + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = i < count ? lines[i].count : 0; }
};

/// 1 for the first entry of a panel in a column; one more element closes the scan.
struct MarkFirst {
  std::int64_t entries;
  std::uint32_t const *panel, *entry;
  std::int32_t const* columns;
  std::uint32_t* to;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    bool const first = i < entries && (i == 0 || panel[i] != panel[i - 1] ||
                                       columns[entry[i]] != columns[entry[i - 1]]);
    to[i] = first ? 1 : 0;
  }
};

/// *to += lines of 64 bytes that the panels touch of a column of X in FP32.
struct CountCacheLines {
  static constexpr std::int64_t stretch = 64, numbers = 16;
  std::int64_t entries;
  std::uint32_t const *panel_of, *entry;
  std::int32_t const* columns;
  std::int64_t* to;
  TCSOLVE_HD void operator()(std::int64_t block) const {
    std::int64_t sum = 0;
    std::int64_t const begin = block * stretch;
    for (std::int64_t i = begin; i < begin + stretch && i < entries; ++i) {
      std::uint32_t const here = entry[i], before = i > 0 ? entry[i - 1] : 0;
      sum += i == 0 || panel_of[here] != panel_of[before] ||
             columns[here] / numbers != columns[before] / numbers;
    }
    atomic_add(to, sum);
  }
};

/// What the panels of an order of lines gather.
struct Footprint {
  Line const* lines = nullptr;
  std::uint32_t* entry = nullptr;  ///< (entries) by panel and column
  std::uint32_t* rank = nullptr;   ///< (entries + 1) gathered rows before each
  std::uint32_t* begin = nullptr;  ///< (lines + 1) entries of the lines before
  std::uint32_t total = 0;         ///< gathered rows
};

/// The lines of a matrix, and the order that gathers less.
struct LaidOut {
  std::int64_t lines = 0;
  Index panels = 0;
  Footprint footprint;
  std::uint32_t* panel_of = nullptr;  ///< (entries)
  std::uint32_t* spare = nullptr;     ///< (entries)
};

template <class On, class S>
class LayOut {
 public:
  LayOut(On& on, CsrView<S> const& a, TiledTuning const& tuning) : on_(on), a_(a), t_(tuning) {}

  LaidOut run(TiledArrays<S>& m) {
    LaidOut out;
    measure_rows(m.model);
    Line* const lines = make_lines(m, out);
    auto const n = static_cast<std::size_t>(a_.entries);
    out.panel_of = on_.template take<std::uint32_t>(n);
    out.spare = on_.template take<std::uint32_t>(n);
    auto* const by_column = on_.template take<std::uint32_t>(n);
    on_.each(a_.entries, TakeColumns{a_.columns, out.spare, by_column});
    on_.sort(out.spare, by_column, a_.entries, static_cast<std::uint32_t>(a_.cols));
    out.footprint = footprint(out, lines, by_column);
    TiledModel& model = m.model;
    model.rho_in_order = reuse(out.footprint);
    if (t_.reorder && out.panels > 1 && a_.entries > 0) {
      Footprint const other = footprint(out, sorted(lines, out.lines), by_column);
      if (reuse(other) > t_.least_gain * model.rho_in_order) {
        out.footprint = other;
        model.reordered = true;
      }
    }
    on_.each(out.lines, MarkPanels{out.footprint.lines, t_.panel_rows, out.panel_of});
    measure_footprint(out, model);
    return out;
  }

 private:
  void measure_rows(TiledModel& model) {
    auto* const squares = on_.template take<std::int64_t>(1);
    on_.clear(squares, 1);
    constexpr Index stretch = SumSquares<S>::stretch;
    on_.each((std::int64_t{a_.rows} + stretch - 1) / stretch, SumSquares<S>{a_, squares});
    std::int64_t sum = 0;
    on_.read(squares, &sum, 1);
    double const rows = a_.rows > 0 ? double(a_.rows) : 1;
    model.mu = double(a_.entries) / rows;
    model.sigma = std::sqrt(std::max(0.0, double(sum) / rows - model.mu * model.mu));
    std::int64_t const blocks = (std::int64_t{a_.rows} + t_.panel_rows - 1) / t_.panel_rows;
    model.U = double(blocks) / t_.multiprocessors;
    model.segment = t_.balance ? model.decided_segment(t_.least_segment) : 0;
  }

  Line* make_lines(TiledArrays<S>& m, LaidOut& out) {
    std::int64_t const rows = a_.rows;
    auto* const counts = on_.template take<LineCounts>(rows + 1);
    auto* const first = on_.template take<LineCounts>(rows + 1);
    on_.each(rows + 1, CountPieces<S>{a_, {m.model.segment, t_.most_segments}, counts});
    on_.scan(counts, first, rows + 1, AddLineCounts{});
    LineCounts total;
    on_.read(first + rows, &total, 1);
    if (total.lines > std::uint32_t(std::numeric_limits<Index>::max()))
      throw SizeError(cat("tiled: ", total.lines, " lines; it counts them in 31 bits"));
    if (total.parts == 0) m.model.segment = 0;
    m.view.lines = static_cast<Index>(total.lines);
    m.view.parts = static_cast<Index>(total.parts);
    m.view.long_rows = static_cast<Index>(total.long_rows);
    if (total.parts > 0) {
      m.long_start = Array<std::uint32_t>(on_.space(), total.long_rows + 1);
      m.long_row = Array<std::int32_t>(on_.space(), total.long_rows);
    }
    auto* const lines = on_.template take<Line>(total.lines);
    on_.each(rows + 1, MakeLines<S>{a_, first, lines, m.long_start.data(), m.long_row.data()});
    out.lines = total.lines;
    out.panels = static_cast<Index>((out.lines + t_.panel_rows - 1) / t_.panel_rows);
    m.model.mu_star = out.lines > 0 ? double(a_.entries) / double(out.lines) : 0;
    return lines;
  }

  /// By their first columns, the last of these first: each sort keeps the order of equals.
  Line const* sorted(Line const* lines, std::int64_t count) {
    constexpr std::uint32_t digits = 4;
    auto* const copy = on_.template take<Line>(count);
    auto* const key = on_.template take<std::uint32_t>(count);
    on_.each(count, CopyLines{lines, copy});
    for (std::uint32_t place = digits; place-- > 0;) {
      on_.each(count, TakeDigit{copy, a_.columns, a_.cols, place, key});
      on_.sort(key, copy, count, static_cast<std::uint32_t>(a_.cols) + 1);
    }
    return copy;
  }

  Footprint footprint(LaidOut const& out, Line const* lines, std::uint32_t const* by_column) {
    std::int64_t const n = a_.entries;
    Footprint f;
    f.lines = lines;
    f.entry = on_.template take<std::uint32_t>(n);
    f.rank = on_.template take<std::uint32_t>(n + 1);
    f.begin = on_.template take<std::uint32_t>(out.lines + 1);
    if (marks_ == nullptr) marks_ = on_.template take<std::uint32_t>(std::max(n, out.lines) + 1);
    std::uint32_t* const marks = marks_;
    on_.each(out.lines + 1, CountEntries{lines, out.lines, marks});
    on_.scan(marks, f.begin, out.lines + 1, Plus{});
    on_.each(out.lines, MarkPanels{lines, t_.panel_rows, out.panel_of});
    on_.each(n, TakePanels{out.panel_of, by_column, out.spare, f.entry});
    on_.sort(out.spare, f.entry, n, static_cast<std::uint32_t>(out.panels));
    on_.each(n + 1, MarkFirst{n, out.spare, f.entry, a_.columns, marks});
    on_.scan(marks, f.rank, n + 1, Plus{});
    on_.read(f.rank + n, &f.total, 1);
    return f;
  }
  double reuse(Footprint const& f) const { return f.total > 0 ? double(a_.entries) / f.total : 1; }

  void measure_footprint(LaidOut const& out, TiledModel& model) {
    auto* const touched = on_.template take<std::int64_t>(1);
    on_.clear(touched, 1);
    constexpr std::int64_t stretch = CountCacheLines::stretch;
    on_.each((a_.entries + stretch - 1) / stretch,
             CountCacheLines{a_.entries, out.panel_of, out.footprint.entry, a_.columns, touched});
    std::int64_t lines = 0;
    on_.read(touched, &lines, 1);
    double const total = out.footprint.total;
    model.rho = reuse(out.footprint);
    model.direct = total > 0 && model.rho < t_.direct_below;
    model.C = total > 0 ? std::max(1.0, CountCacheLines::numbers * double(lines) / total) : 1;
    model.L = a_.cols > 0 ? std::max(1.0, total / a_.cols) : 1;
  }

  On& on_;
  CsrView<S> const& a_;
  TiledTuning const& t_;
  std::uint32_t* marks_ = nullptr;
};

}  // namespace tcsolve::tiled
