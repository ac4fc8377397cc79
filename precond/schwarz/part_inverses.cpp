// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/schwarz/part_inverses.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>

#include <tcsolve/precond/schwarz/dense_blocks.hpp>
#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve {
namespace {

sparse::OwnedPattern to_space(Context& ctx, Index rows, Index cols,
                              std::vector<Offset> const& offsets,
                              std::vector<Index> const& columns) {
  sparse::OwnedPattern made;
  made.rows = rows, made.cols = cols, made.entries = static_cast<Offset>(columns.size());
  made.space = ctx.space();
  if (made.entries <= std::numeric_limits<std::int32_t>::max()) {
    std::vector<std::int32_t> const narrow_offsets(offsets.begin(), offsets.end());
    made.narrow_offsets = tcsolve::to_space(ctx, narrow_offsets.data(), narrow_offsets.size());
  } else {
    std::vector<std::int64_t> const wide(offsets.begin(), offsets.end());
    made.wide_offsets = tcsolve::to_space(ctx, wide.data(), wide.size());
  }
  made.columns = tcsolve::to_space(ctx, columns.data(), columns.size());
  return made;
}

/// Row i has the part that it is cut into.
sparse::OwnedPattern own_parts(Context& ctx, Parts const& cut) {
  std::vector<Offset> offsets(cut.of.size() + 1);
  std::iota(offsets.begin(), offsets.end(), Offset{0});
  return to_space(ctx, static_cast<Index>(cut.of.size()), cut.count, offsets, cut.of);
}

sparse::OwnedPattern transposed_pattern(Context& ctx, sparse::OwnedPattern const& a) {
  return sparse::Transpose(ctx, a.with<double>(nullptr)).release();
}

/// With `starts`, and with `takers` where they are not given.
PartsThere complete(Context& ctx, sparse::OwnedPattern rows, sparse::OwnedPattern takers) {
  PartsThere parts;
  parts.rows = std::move(rows), parts.takers = std::move(takers);
  parts.starts = offsets_to_host(ctx, parts.rows.with<double>(nullptr));
  return parts;
}

/// takers rows, on the host: the lists of each row's parts ascend, and their union is merged.
sparse::OwnedPattern merged_lists(Context& ctx, PartsThere const& parts) {
  PatternView const rows = parts.rows.view(), takers = parts.takers.view();
  std::vector<Offset> offsets{0};
  std::vector<Index> columns, merged, both;
  CancelEvery at_times(ctx.cancel_flag(), std::int64_t{1} << 21);
  for (Index i = 0; i < takers.rows; ++i) {
    merged.clear();
    for (Offset t = takers.offsets[i]; t < takers.offsets[std::int64_t{i} + 1]; ++t) {
      Index const p = takers.columns[t];
      std::span const list(rows.columns + parts.starts[p], static_cast<std::size_t>(parts.size(p)));
      at_times.add(static_cast<std::int64_t>(list.size() + merged.size()));
      both.clear();
      std::ranges::set_union(merged, list, std::back_inserter(both));
      merged.swap(both);
    }
    columns.insert(columns.end(), merged.begin(), merged.end());
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return to_space(ctx, takers.rows, rows.cols, offsets, columns);
}

/// Where the parts end that begin with `begin` and are inverted at a time.
Index batch_end(Context const& ctx, PartsThere const& parts, Index begin) {
  bool const device = ctx.space() != Space::host;
  Index const most = device ? 4096 : 256;
  double const most_work = device ? 2e10 : 1e9, most_values = device ? 1 << 25 : 1 << 23;
  double work = 0, values = 0;
  Index end = begin;
  while (end < parts.count() && end - begin < most &&
         (end == begin || (work < most_work && values < most_values))) {
    double const m = parts.size(end++);
    work += m * m * m, values += m * m;
  }
  return end;
}

}  // namespace

PartsThere parts_without_overlap(Context& ctx, Parts const& cut) {
  sparse::OwnedPattern takers = own_parts(ctx, cut), rows = transposed_pattern(ctx, takers);
  return complete(ctx, std::move(rows), std::move(takers));
}

std::optional<PartsThere> parts_with_overlap(Context& ctx, CsrView<double> const& a,
                                             Parts const& cut, int layers, Index most,
                                             bool restricted) {
  PartsThere const own = parts_without_overlap(ctx, cut);
  Offset longest = 0;
  sparse::OwnedPattern const links = [&] {
    Context::Entry const entry(ctx);
    return ctx.visit([&](auto& on) { return overlap_links(on, ctx.arena(), a, most, longest); });
  }();
  PartsThere parts;
  for (int l = 0; l < layers; ++l) {
    constexpr double many = 1e9;  // products of one step
    PartsThere const& from = l == 0 ? own : parts;
    if (double(from.rows.entries) * double(longest) > many) return std::nullopt;
    parts =
        complete(ctx,
                 sparse::Product(ctx, from.rows.with<double>(nullptr), links.with<double>(nullptr))
                     .release(),
                 {});
    for (Index p = 0; p < parts.count(); ++p)
      if (parts.size(p) > std::max(most, own.size(p))) return std::nullopt;
  }
  parts.takers = restricted ? own_parts(ctx, cut) : transposed_pattern(ctx, parts.rows);
  return parts;
}

PartsThere parts_from_lists(Context& ctx, Index n, std::vector<std::vector<Index>> const& lists,
                            std::vector<Index> const& own, bool restricted) {
  auto const count = static_cast<Index>(lists.size());
  std::vector<Offset> starts{0};
  std::vector<Index> rows;
  Parts cut;
  cut.of.assign(static_cast<std::size_t>(n), 0), cut.count = count;
  for (std::size_t p = 0; p < lists.size(); ++p) {
    for (Index r = 0; r < own[p]; ++r) cut.of[lists[p][r]] = static_cast<Index>(p);
    auto const first = static_cast<std::ptrdiff_t>(rows.size());
    rows.insert(rows.end(), lists[p].begin(), lists[p].end());
    std::sort(rows.begin() + first, rows.end());
    starts.push_back(static_cast<Offset>(rows.size()));
  }
  sparse::OwnedPattern there = to_space(ctx, count, n, starts, rows);
  sparse::OwnedPattern takers = restricted ? own_parts(ctx, cut) : transposed_pattern(ctx, there);
  return complete(ctx, std::move(there), std::move(takers));
}

double products_of(Context& ctx, PartsThere const& parts) {
  double products = 0;
  if (parts.takers.entries == parts.rows.entries) {  // a row of a part takes its corrections
    for (Index p = 0; p < parts.count(); ++p) products += std::pow(double(parts.size(p)), 2);
    return products;
  }
  for (Index const p : to_host(ctx, parts.takers.columns)) products += parts.size(p);
  return products;
}

sparse::OwnedPattern pattern_of_sum(Context& ctx, PartsThere const& parts) {
  if (ctx.space() == Space::host) return merged_lists(ctx, parts);
  return sparse::Product(ctx, parts.takers.with<double>(nullptr), parts.rows.with<double>(nullptr))
      .release();
}

double most_at_once(Context const& ctx, PartsThere const& parts) {
  double most = 0;
  for (Index begin = 0, end = 0; begin < parts.count(); begin = end) {
    end = batch_end(ctx, parts, begin);
    double values = 0;
    for (Index p = begin; p < end; ++p) values += std::pow(double(parts.size(p)), 2);
    most = std::max(most, values);
  }
  return most;
}

void sum_inverses(Context& ctx, CsrView<double> const& a, PartsThere const& parts,
                  PatternView const& m, double* sums) {
  Context::Entry const entry(ctx);
  CancelFlag const cancel = ctx.cancel_flag();
  DenseBlocks all;
  for (Index p = 0; p < parts.count(); ++p) all.add(parts.size(p));
  Array<Index> const sizes = tcsolve::to_space(ctx, all.sizes.data(), all.sizes.size());
  Array<Offset> const starts = tcsolve::to_space(ctx, all.starts.data(), all.starts.size());
  for (Index begin = 0, end = 0; begin < parts.count(); begin = end) {
    end = batch_end(ctx, parts, begin);
    cancel.check();
    PartBlocks const blocks{.rows = parts.rows.view(),
                            .takers = parts.takers.view(),
                            .begin = begin,
                            .end = end,
                            .first_row = parts.starts[begin],
                            .part_rows = parts.starts[end] - parts.starts[begin],
                            .starts = starts.data(),
                            .values = all.starts[end] - all.starts[begin]};
    auto scope = ctx.arena().scope();
    auto* const values = scope.template take<double>(static_cast<std::size_t>(blocks.values));
    Index const bad = ctx.visit([&](auto& on) {
      gather_blocks(on, ctx.arena(), a, blocks, values);
      return invert_blocks(on, ctx.arena(), cancel, all.part(begin, end, sizes, starts), values);
    });
    if (bad >= 0) {
      Index const p = begin + bad;
      Index row = 0;
      copy_bytes(ctx, &row, Space::host, parts.rows.columns.data() + parts.starts[p], ctx.space(),
                 sizeof row);
      throw MatrixError(cat("part ", p + 1, " of ", parts.size(p), " rows around row ", row + 1,
                            " is singular; take another size or overlap"));
    }
    ctx.visit([&](auto& on) { add_inverses(on, ctx.arena(), cancel, m, blocks, values, sums); });
  }
}

}  // namespace tcsolve
