// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/distributed_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <tcsolve/comm/together.hpp>

namespace tcsolve {
namespace {

/// What a rank says of its rows.
struct Claim {
  std::int64_t first_row, rows, cols, own_columns, entries;
};

std::vector<Claim> gather_claims(Ranks& ranks, Claim const& mine) {
  std::vector<std::int64_t> const first = gather(ranks, mine.first_row),
                                  rows = gather(ranks, mine.rows), cols = gather(ranks, mine.cols),
                                  own = gather(ranks, mine.own_columns),
                                  entries = gather(ranks, mine.entries);
  std::vector<Claim> all;
  for (std::size_t r = 0; r < first.size(); ++r)
    all.push_back({first[r], rows[r], cols[r], own[r], entries[r]});
  return all;
}

std::string rows_text(std::int64_t first, std::int64_t end) {
  return end - first == 1 ? cat("row ", first) : cat("rows ", first, " to ", end - 1);
}

/// Throws the same on every rank, since all look at the same claims.
Stretches stretches_of_rows(std::vector<Claim> const& claims) {
  Stretches out{{0}};
  for (std::size_t r = 0; r < claims.size(); ++r) {
    Claim const& c = claims[r];
    std::int64_t const due = out.starts.back();
    if (c.rows > 0 && c.first_row > due)
      throw MatrixError(cat(rows_text(due, c.first_row), " of the matrix belong to no rank: rank ",
                            r, " begins with row ", c.first_row));
    if (c.rows > 0 && c.first_row < due)
      throw MatrixError(cat(rows_text(c.first_row, std::min(due, c.first_row + c.rows)),
                            " of the matrix belong to rank ", r,
                            " and to one before it; ranks have stretches of rows, in their order"));
    out.starts.push_back(due + c.rows);
  }
  return out;
}

Stretches stretches_of_columns(std::vector<Claim> const& claims, Stretches const& rows) {
  std::int64_t const cols = claims.front().cols;
  Stretches out{{0}};
  for (std::size_t r = 0; r < claims.size(); ++r) {
    Claim const& c = claims[r];
    if (c.cols != cols)
      throw MatrixError(
          cat("the matrix has ", cols, " columns on rank 0 and ", c.cols, " on rank ", r));
    if (c.own_columns < 0 && cols != rows.size())
      throw MatrixError(cat("the matrix is ", rows.size(), " x ", cols,
                            "; where it is not square each rank says how many columns it has"));
    std::int64_t const own = c.own_columns < 0 ? c.rows : c.own_columns;
    out.starts.push_back(out.starts.back() + own);
  }
  if (out.size() != cols)
    throw MatrixError(cat("the ranks have ", out.size(), " columns in all, the matrix has ", cols));
  return out;
}

/// Of one rank: throws what validate() would.
void check(std::int64_t first_row, CsrView64 const& a) {
  if (a.rows < 0 || first_row < 0 || a.cols < 0)
    throw MatrixError(cat("first row ", first_row, ", ", a.rows, " rows, ", a.cols, " columns"));
  if (a.offsets.data == nullptr && a.rows > 0) throw MatrixError("offsets are null");
  if (a.entries > 0 && (a.columns == nullptr || a.values == nullptr))
    throw MatrixError("columns or values are null");
  Offset const end = a.rows > 0 ? a.offsets[a.rows] : 0;
  if (a.rows > 0 && a.offsets[0] != 0) throw MatrixError("offsets begin with 0");
  if (end != a.entries)
    throw MatrixError(cat("offsets end with ", end, ", there are ", a.entries, " entries"));
  std::vector<std::int64_t> sorted;
  for (Index i = 0; i < a.rows; ++i) {
    if (a.offsets[i + 1] < a.offsets[i] || a.offsets[i + 1] > end)
      throw MatrixError(cat("row ", first_row + i, ": offsets descend"));
    sorted.assign(a.columns + a.offsets[i], a.columns + a.offsets[i + 1]);
    std::ranges::sort(sorted);
    if (!sorted.empty() && (sorted.front() < 0 || sorted.back() >= a.cols))
      throw MatrixError(cat("row ", first_row + i, " has column ",
                            sorted.front() < 0 ? sorted.front() : sorted.back(), ", outside [0, ",
                            a.cols, ")"));
    if (auto const twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      throw MatrixError(cat("row ", first_row + i, " has column ", *twice, " twice"));
  }
}

/// A matrix on a device as one on the host.
struct OnHost {
  std::vector<Offset> offsets;
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  CsrView64 view;

  OnHost(Context& ctx, CsrView64 const& a) : view(a) {
    if (a.space == Space::host) return;
    auto const rows = static_cast<std::size_t>(a.rows) + 1;
    auto const entries = static_cast<std::size_t>(a.entries);
    if (a.offsets.wide) {
      offsets = to_host(ctx, static_cast<std::int64_t const*>(a.offsets.data), a.space, rows);
    } else {
      auto const narrow =
          to_host(ctx, static_cast<std::int32_t const*>(a.offsets.data), a.space, rows);
      offsets.assign(narrow.begin(), narrow.end());
    }
    columns = to_host(ctx, a.columns, a.space, entries);
    values = to_host(ctx, a.values, a.space, entries);
    view.offsets = offsets.data();
    view.columns = columns.data();
    view.values = values.data();
    view.space = Space::host;
  }
};

}  // namespace

DistributedMatrix::DistributedMatrix(Context& ctx, std::int64_t first_row, CsrView64 const& given,
                                     std::optional<Index> columns) {
  Ranks& ranks = all_ranks(ctx);
  std::optional<OnHost> host;
  together(ranks, [&] {
    host.emplace(ctx, given);
    check(first_row, host->view);
  });
  CsrView64 const& a = host->view;
  std::vector<Claim> const claims = gather_claims(
      ranks, {first_row, a.rows, a.cols, columns ? std::int64_t{*columns} : -1, a.entries});
  rows_ = stretches_of_rows(claims);
  columns_ = stretches_of_columns(claims, rows_);
  for (Claim const& c : claims) all_entries_ += c.entries;

  std::int64_t const first = columns_.first(ranks.rank()),
                     end = first + columns_.size(ranks.rank());
  std::vector<std::int64_t> wanted;
  for (Offset e = 0; e < a.entries; ++e)
    if (a.columns[e] < first || a.columns[e] >= end) wanted.push_back(a.columns[e]);
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  plan_ = HaloPlan(ranks, columns_, std::move(wanted));
  split(first, a);
  measure(ctx);
}

/// own_, outer_ and places_, of columns that begin with number `first` here.
void DistributedMatrix::split(std::int64_t first, CsrView64 const& a) {
  struct Entry {
    Index column;
    Offset given;
  };
  own_.rows = a.rows;
  own_.cols = plan_.own;
  outer_.cols = plan_.halo();
  places_.resize(static_cast<std::size_t>(a.entries));
  std::vector<Entry> in, out;
  auto const append = [&](std::vector<Entry>& entries, Csr<double>& to, bool outer) {
    std::ranges::sort(entries, {}, &Entry::column);
    for (Entry const& e : entries) {
      Offset const place = to.entries();
      places_[static_cast<std::size_t>(e.given)] = outer ? -1 - place : place;
      to.columns.push_back(e.column);
      to.values.push_back(a.values[e.given]);
    }
    to.offsets.push_back(to.entries());
    entries.clear();
  };
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
      std::int64_t const j = a.columns[e];
      if (j >= first && j < first + plan_.own) {
        in.push_back({static_cast<Index>(j - first), e});
      } else {
        auto const at = std::ranges::lower_bound(plan_.numbers, j);
        out.push_back({static_cast<Index>(at - plan_.numbers.begin()), e});
      }
    }
    append(in, own_, false);
    if (out.empty()) continue;
    outer_rows_.push_back(i);
    append(out, outer_, true);
  }
  outer_.rows = static_cast<Index>(outer_rows_.size());
}

void DistributedMatrix::measure(Context& ctx) {
  double largest = 0;
  std::size_t k = 0;
  for (Index i = 0; i < own_.rows; ++i) {
    double sum = 0;
    for (double const v : own_.row_values(i)) sum += std::fabs(v);
    if (k < outer_rows_.size() && outer_rows_[k] == i)
      for (double const v : outer_.row_values(static_cast<Index>(k++))) sum += std::fabs(v);
    largest = sum > largest || sum != sum ? sum : largest;
    if (sum != sum) break;
  }
  norm_ = ctx.communicator().agree(largest);
}

void DistributedMatrix::update_values(Context& ctx, double const* values, Offset entries,
                                      Space space) {
  std::vector<double> copied;
  together(ctx, [&] {
    if (entries != static_cast<Offset>(places_.size()))
      throw ShapeError(
          cat("update_values: there are ", places_.size(), " entries, and ", entries, " values"));
    if (space == Space::host) return;
    copied = to_host(ctx, values, space, static_cast<std::size_t>(entries));
    values = copied.data();
  });
  for (std::size_t e = 0; e < places_.size(); ++e) {
    Offset const place = places_[e];
    (place < 0 ? outer_.values[static_cast<std::size_t>(-1 - place)]
               : own_.values[static_cast<std::size_t>(place)]) = values[e];
  }
  measure(ctx);
}

Csr<double> DistributedMatrix::extended(Context& ctx) const {
  Ranks& ranks = all_ranks(ctx);
  if (rows_ != columns_)
    throw ShapeError(cat("rows of neighbours are for square matrices; A is ", rows_.size(), " x ",
                         columns_.size()));
  std::int64_t const first = columns_.first(ranks.rank());
  auto const outer_of = [&](Index i) {  // its place in outer_rows_, -1 where it is none of them
    auto const at = std::ranges::lower_bound(outer_rows_, i);
    return at != outer_rows_.end() && *at == i ? static_cast<Index>(at - outer_rows_.begin()) : -1;
  };
  struct Entry {
    std::int64_t column;
    double value;
  };
  auto const count = static_cast<std::size_t>(ranks.ranks());
  std::vector<std::vector<Entry>> entries(count);
  std::vector<std::vector<std::int64_t>> lengths(count);
  for (HaloPlan::Neighbour const& n : plan_.neighbours) {
    auto const r = static_cast<std::size_t>(n.rank);
    for (Index s = 0; s < n.sent_count; ++s) {
      Index const i = plan_.sent[static_cast<std::size_t>(n.first_sent + s)], k = outer_of(i);
      std::size_t const before = entries[r].size();
      for (std::size_t e = 0; e < own_.row_columns(i).size(); ++e)
        entries[r].push_back({first + own_.row_columns(i)[e], own_.row_values(i)[e]});
      for (std::size_t e = 0; k >= 0 && e < outer_.row_columns(k).size(); ++e)
        entries[r].push_back({plan_.numbers[static_cast<std::size_t>(outer_.row_columns(k)[e])],
                              outer_.row_values(k)[e]});
      lengths[r].push_back(static_cast<std::int64_t>(entries[r].size() - before));
    }
  }
  auto const rows_in = all_to_all(ranks, lengths);
  auto const entries_in = all_to_all(ranks, entries);

  Csr<double> out;
  out.rows = out.cols = narrow(std::int64_t{plan_.own} + plan_.halo(), "rows with their overlap");
  std::vector<std::pair<Index, double>> row;
  auto const end_row = [&] {
    std::ranges::sort(row, {}, &std::pair<Index, double>::first);
    for (auto const& [j, v] : row) out.columns.push_back(j), out.values.push_back(v);
    out.offsets.push_back(out.entries());
    row.clear();
  };
  for (Index i = 0; i < own_.rows; ++i) {
    for (std::size_t e = 0; e < own_.row_columns(i).size(); ++e)
      row.emplace_back(own_.row_columns(i)[e], own_.row_values(i)[e]);
    if (Index const k = outer_of(i); k >= 0)
      for (std::size_t e = 0; e < outer_.row_columns(k).size(); ++e)
        row.emplace_back(plan_.own + outer_.row_columns(k)[e], outer_.row_values(k)[e]);
    end_row();
  }
  for (HaloPlan::Neighbour const& n : plan_.neighbours) {
    auto const r = static_cast<std::size_t>(n.rank);
    auto entry = entries_in[r].begin();
    for (std::int64_t const length : rows_in[r]) {
      for (std::int64_t e = 0; e < length; ++e, ++entry) {
        std::int64_t const j = entry->column;
        if (j >= first && j < first + plan_.own) {
          row.emplace_back(static_cast<Index>(j - first), entry->value);
        } else if (auto const at = std::ranges::lower_bound(plan_.numbers, j);
                   at != plan_.numbers.end() && *at == j) {
          row.emplace_back(plan_.own + static_cast<Index>(at - plan_.numbers.begin()),
                           entry->value);
        }
      }
      end_row();
    }
  }
  return out;
}

}  // namespace tcsolve
