// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/csr_builder.hpp>

#include <tcsolve/core/parallel.hpp>

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace tcsolve {
namespace {

constexpr int log2_max_blocks = 10;

/// Sorts one row by column, keeping the order of equal columns.
void sort_row(std::span<Index> columns, std::span<double> values,
              std::vector<std::pair<Index, double>>& scratch) {
  if (std::ranges::is_sorted(columns)) return;
  scratch.clear();
  for (std::size_t k = 0; k < columns.size(); ++k) scratch.emplace_back(columns[k], values[k]);
  std::ranges::stable_sort(scratch, {}, &std::pair<Index, double>::first);
  for (std::size_t k = 0; k < columns.size(); ++k) std::tie(columns[k], values[k]) = scratch[k];
}

}  // namespace

RepeatedEntry::RepeatedEntry(Index i, Index j)
    : MatrixError(cat("entry (", std::int64_t{i} + 1, ", ", std::int64_t{j} + 1,
                      ") is there more than once")),
      row(i),
      col(j) {}

CsrBuilder::CsrBuilder(Index rows, Index cols) : rows_(rows), cols_(cols) {
  int const bits = std::bit_width(static_cast<std::uint32_t>(std::max(rows - 1, 0)));
  shift_ = std::max(0, bits - log2_max_blocks);
  blocks_ = rows == 0 ? 0 : ((rows - 1) >> shift_) + 1;
}

CsrBuilder::Slice CsrBuilder::slice(std::span<Entry const> entries) const {
  Slice out;
  out.first.assign(static_cast<std::size_t>(blocks_) + 1, 0);
  for (Entry const& e : entries) ++out.first[static_cast<std::size_t>(e.row >> shift_) + 1];
  for (std::size_t b = 1; b < out.first.size(); ++b) out.first[b] += out.first[b - 1];
  std::vector<std::uint32_t> next(out.first.begin(), out.first.end() - 1);
  out.entries.resize(entries.size());
  for (Entry const& e : entries) out.entries[next[static_cast<std::size_t>(e.row >> shift_)]++] = e;
  return out;
}

void CsrBuilder::append(Slice slice) {
  if (!slice.entries.empty()) slices_.push_back(std::move(slice));
}

/// Puts the entries of a block at `base` of the arrays of `a`, and the ends of its rows, as if no
/// block before it had duplicates, into a.offsets. Returns the entries left after summing.
Offset CsrBuilder::assemble_block(std::int64_t block, Offset base, Repeats repeats,
                                  Csr<double>& a) const {
  auto const b = static_cast<std::size_t>(block);
  Index const row0 = static_cast<Index>(block << shift_);
  auto const row1 = static_cast<Index>(std::min<std::int64_t>(rows_, (block + 1) << shift_));
  auto const in_block = [&](Slice const& s) {
    return std::span(s.entries).subspan(s.first[b], s.first[b + 1] - s.first[b]);
  };
  std::vector<Offset> end(static_cast<std::size_t>(row1 - row0) + 1, 0);
  for (Slice const& s : slices_)
    for (Entry const& e : in_block(s)) ++end[static_cast<std::size_t>(e.row - row0) + 1];
  end[0] = base;
  for (std::size_t r = 1; r < end.size(); ++r) end[r] += end[r - 1];
  // Here end[r] is where row r starts; filling the row moves it to where the row ends.
  for (Slice const& s : slices_)
    for (Entry const& e : in_block(s)) {
      auto const k = static_cast<std::size_t>(end[static_cast<std::size_t>(e.row - row0)]++);
      a.columns[k] = e.col;
      a.values[k] = e.value;
    }

  std::vector<std::pair<Index, double>> scratch;
  Offset kept = base, start = base;
  for (Index row = row0; row < row1; ++row) {
    Offset const stop = end[static_cast<std::size_t>(row - row0)];
    auto const at = static_cast<std::size_t>(start), n = static_cast<std::size_t>(stop - start);
    sort_row(std::span(a.columns).subspan(at, n), std::span(a.values).subspan(at, n), scratch);
    Offset const row_start = kept;
    for (Offset k = start; k < stop; ++k) {
      Index const col = a.columns[static_cast<std::size_t>(k)];
      double const value = a.values[static_cast<std::size_t>(k)];
      if (kept > row_start && a.columns[static_cast<std::size_t>(kept - 1)] == col) {
        if (repeats == Repeats::refuse) throw RepeatedEntry(row, col);
        double& there = a.values[static_cast<std::size_t>(kept - 1)];
        there = repeats == Repeats::sum ? there + value : std::min(there, value);
      } else {
        a.columns[static_cast<std::size_t>(kept)] = col;
        a.values[static_cast<std::size_t>(kept)] = value;
        ++kept;
      }
    }
    a.offsets[static_cast<std::size_t>(row) + 1] = kept;
    start = stop;
  }
  return kept - base;
}

Csr<double> CsrBuilder::finish(Repeats repeats, Workers const& workers) {
  std::vector<Offset> base(static_cast<std::size_t>(blocks_) + 1, 0);
  for (Slice const& s : slices_)
    for (std::size_t b = 0; b + 1 < base.size(); ++b) base[b + 1] += s.first[b + 1] - s.first[b];
  for (std::size_t b = 1; b < base.size(); ++b) base[b] += base[b - 1];

  Csr<double> a;
  a.rows = rows_;
  a.cols = cols_;
  a.offsets.assign(static_cast<std::size_t>(rows_) + 1, 0);
  a.columns.resize(static_cast<std::size_t>(base.back()));
  a.values.resize(static_cast<std::size_t>(base.back()));
  std::vector<Offset> kept(static_cast<std::size_t>(blocks_), 0);
  parallel_tasks(thread_count(workers.threads), blocks_, [&](std::int64_t block, int) {
    workers.cancel.check();
    auto const b = static_cast<std::size_t>(block);
    kept[b] = assemble_block(block, base[b], repeats, a);
  });
  slices_.clear();

  Offset to = 0;  // close the gaps that summed duplicates have left
  for (std::size_t b = 0; b < kept.size(); ++b) {
    Offset const gap = base[b] - to;
    if (gap > 0) {
      std::copy_n(a.columns.begin() + base[b], kept[b], a.columns.begin() + to);
      std::copy_n(a.values.begin() + base[b], kept[b], a.values.begin() + to);
      auto const row0 = static_cast<std::size_t>(b) << shift_;
      auto const row1 = std::min(static_cast<std::size_t>(rows_), (b + 1) << shift_);
      for (auto row = row0; row < row1; ++row) a.offsets[row + 1] -= gap;
    }
    to += kept[b];
  }
  a.columns.resize(static_cast<std::size_t>(to));
  a.values.resize(static_cast<std::size_t>(to));
  return a;
}

}  // namespace tcsolve
