// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/distributed_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/parallel.hpp>

namespace tcsolve {
namespace {

constexpr std::int64_t rows_at_once = 4096;  // of a task of the host's threads

/// Global columns [first, end) that lie here.
struct OwnColumns {
  std::int64_t first, end;
  bool have(std::int64_t j) const { return first <= j && j < end; }
};

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

/// Throws where columns of a row are not in [0, cols) or not each once. Whether they ascend.
bool check_columns(std::int64_t row, std::span<std::int64_t const> columns, std::int64_t cols) {
  if (columns.empty()) return true;
  bool ascend = true;
  for (std::size_t e = 1; e < columns.size(); ++e) ascend &= columns[e - 1] < columns[e];
  if (ascend && columns.front() >= 0 && columns.back() < cols) return true;
  std::vector<std::int64_t> sorted(columns.begin(), columns.end());
  std::ranges::sort(sorted);
  if (sorted.front() < 0 || sorted.back() >= cols)
    throw MatrixError(cat("row ", row, " has column ",
                          sorted.front() < 0 ? sorted.front() : sorted.back(), ", outside [0, ",
                          cols, ")"));
  if (auto const twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw MatrixError(cat("row ", row, " has column ", *twice, " twice"));
  return false;
}

/// Of one rank: throws what validate() would of the arrays; rows are for look_at().
void check_arrays(std::int64_t first_row, CsrView64 const& a) {
  if (a.rows < 0 || first_row < 0 || a.cols < 0)
    throw MatrixError(cat("first row ", first_row, ", ", a.rows, " rows, ", a.cols, " columns"));
  if (a.offsets.data == nullptr && a.rows > 0) throw MatrixError("offsets are null");
  if (a.entries > 0 && (a.columns == nullptr || a.values == nullptr))
    throw MatrixError("columns or values are null");
  Offset const end = a.rows > 0 ? a.offsets[a.rows] : 0;
  if (a.rows > 0 && a.offsets[0] != 0) throw MatrixError("offsets begin with 0");
  if (end != a.entries)
    throw MatrixError(cat("offsets end with ", end, ", there are ", a.entries, " entries"));
}

/// What one pass over the pattern finds.
struct Pattern {
  std::vector<Offset> own_lengths;      ///< (rows + 1) 0, then how many columns of each row are own
  std::vector<std::int64_t> elsewhere;  ///< the other columns, ascending, each once
  bool ascends = true;                  ///< every row
};

void keep_each_once(std::vector<std::int64_t>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Throws what validate() would of rows.
Pattern look_at(int threads, std::int64_t first_row, CsrView64 const& a, OwnColumns own) {
  struct Part {
    std::vector<std::int64_t> elsewhere;
    bool ascends = true;
  };
  std::vector<Part> parts(static_cast<std::size_t>((a.rows + rows_at_once - 1) / rows_at_once));
  Pattern found;
  found.own_lengths.assign(static_cast<std::size_t>(a.rows) + 1, 0);
  parallel_ranges(threads, a.rows, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    Part part;
    for (std::int64_t i = begin; i < end; ++i) {
      Offset const from = a.offsets[i], to = a.offsets[i + 1];
      if (from < 0 || to < from || to > a.entries)
        throw MatrixError(cat("row ", first_row + i, ": offsets descend"));
      std::span const columns{a.columns + from, static_cast<std::size_t>(to - from)};
      part.ascends &= check_columns(first_row + i, columns, a.cols);
      Offset& length = found.own_lengths[static_cast<std::size_t>(i) + 1];
      for (std::int64_t const j : columns) {
        if (own.have(j))
          ++length;
        else
          part.elsewhere.push_back(j);
      }
    }
    keep_each_once(part.elsewhere);
    parts[static_cast<std::size_t>(begin / rows_at_once)] = std::move(part);
  });
  for (Part const& part : parts) {
    found.elsewhere.insert(found.elsewhere.end(), part.elsewhere.begin(), part.elsewhere.end());
    found.ascends &= part.ascends;
  }
  keep_each_once(found.elsewhere);
  return found;
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
    check_arrays(first_row, host->view);
  });
  CsrView64 const& a = host->view;
  std::vector<Claim> const claims = gather_claims(
      ranks, {first_row, a.rows, a.cols, columns ? std::int64_t{*columns} : -1, a.entries});
  rows_ = stretches_of_rows(claims);
  columns_ = stretches_of_columns(claims, rows_);
  for (Claim const& c : claims) all_entries_ += c.entries;

  std::int64_t const first = columns_.first(ranks.rank());
  OwnColumns const own{first, first + columns_.size(ranks.rank())};
  Pattern pattern;
  together(ranks, [&] { pattern = look_at(ctx.threads(), first_row, a, own); });
  plan_ = HaloPlan(ranks, columns_, std::move(pattern.elsewhere));
  own_.rows = a.rows;
  own_.cols = plan_.own;
  own_.offsets = std::move(pattern.own_lengths);
  outer_.cols = plan_.halo();
  if (!pattern.ascends) places_.resize(static_cast<std::size_t>(a.entries));
  split(ctx.threads(), first, a);
  measure(ctx);
}

/// The entries of own_, whose offsets are lengths of rows yet, and of outer_, of columns that begin
/// with number `first` here.
void DistributedMatrix::split(int threads, std::int64_t first, CsrView64 const& a) {
  for (Index i = 0; i < a.rows; ++i) {
    Offset& end = own_.offsets[static_cast<std::size_t>(i) + 1];
    Offset const elsewhere = a.offsets[i + 1] - a.offsets[i] - end;
    end += own_.offsets[static_cast<std::size_t>(i)];
    if (elsewhere == 0) continue;
    outer_rows_.push_back(i);
    outer_.offsets.push_back(outer_.offsets.back() + elsewhere);
  }
  outer_.rows = static_cast<Index>(outer_rows_.size());
  for (Csr<double>* const part : {&own_, &outer_}) {
    part->columns.resize(static_cast<std::size_t>(part->offsets.back()));
    part->values.resize(part->columns.size());
  }

  OwnColumns const here{first, first + plan_.own};
  parallel_ranges(threads, a.rows, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    Offset mine = own_.offsets[static_cast<std::size_t>(begin)],
           outer = outer_.offsets[outer_row_from(begin)];
    auto const append = [&](Offset e) {
      std::int64_t const j = a.columns[e];
      bool const own = here.have(j);
      Csr<double>& to = own ? own_ : outer_;
      auto const place = static_cast<std::size_t>(own ? mine : outer);
      to.columns[place] = static_cast<Index>(
          own ? j - first : std::ranges::lower_bound(plan_.numbers, j) - plan_.numbers.begin());
      to.values[place] = a.values[e];
      if (!places_.empty()) places_[static_cast<std::size_t>(e)] = own ? mine : -1 - outer;
      ++(own ? mine : outer);
    };
    std::vector<Offset> order;
    for (std::int64_t i = begin; i < end; ++i) {
      Offset const from = a.offsets[i], to = a.offsets[i + 1];
      if (places_.empty()) {  // it ascends
        for (Offset e = from; e < to; ++e) append(e);
        continue;
      }
      order.resize(static_cast<std::size_t>(to - from));
      std::iota(order.begin(), order.end(), from);
      std::ranges::sort(order, {}, [&](Offset e) { return a.columns[e]; });
      for (Offset const e : order) append(e);
    }
  });
}

/// The first of outer_rows_ that is row i or behind it.
std::size_t DistributedMatrix::outer_row_from(std::int64_t i) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(outer_rows_, i) - outer_rows_.begin());
}

void DistributedMatrix::measure(Context& ctx) {
  auto const larger = [](double a, double b) { return b > a || b != b ? b : a; };
  std::vector<double> parts(
      static_cast<std::size_t>((own_.rows + rows_at_once - 1) / rows_at_once));
  parallel_ranges(ctx.threads(), own_.rows, rows_at_once,
                  [&](std::int64_t begin, std::int64_t end) {
                    std::size_t k = outer_row_from(begin);
                    double largest = 0;
                    for (auto i = static_cast<Index>(begin); i < end && largest == largest; ++i) {
                      double sum = 0;
                      for (double const v : own_.row_values(i)) sum += std::fabs(v);
                      if (k < outer_rows_.size() && outer_rows_[k] == i)
                        for (double const v : outer_.row_values(static_cast<Index>(k++)))
                          sum += std::fabs(v);
                      largest = larger(largest, sum);
                    }
                    parts[static_cast<std::size_t>(begin / rows_at_once)] = largest;
                  });
  double largest = 0;
  for (double const part : parts)
    if (largest == largest) largest = larger(largest, part);
  norm_ = ctx.communicator().agree(largest);
}

void DistributedMatrix::update_values(Context& ctx, double const* values, Offset entries,
                                      Space space) {
  std::vector<double> copied;
  together(ctx, [&] {
    Offset const due = own_.entries() + outer_.entries();
    if (entries != due)
      throw ShapeError(cat("update_values: there are ", due, " entries, and ", entries, " values"));
    if (space == Space::host) return;
    copied = to_host(ctx, values, space, static_cast<std::size_t>(entries));
    values = copied.data();
  });
  if (places_.empty())
    take_by_rows(ctx.threads(), columns_.first(all_ranks(ctx).rank()), values);
  else
    take_by_places(ctx.threads(), values);
  measure(ctx);
}

void DistributedMatrix::take_by_places(int threads, double const* values) {
  constexpr std::int64_t at_once = 1 << 16;
  auto const entries = static_cast<std::int64_t>(places_.size());
  parallel_ranges(threads, entries, at_once, [&](std::int64_t begin, std::int64_t end) {
    for (auto e = static_cast<std::size_t>(begin); e < static_cast<std::size_t>(end); ++e) {
      Offset const place = places_[e];
      (place < 0 ? outer_.values[static_cast<std::size_t>(-1 - place)]
                 : own_.values[static_cast<std::size_t>(place)]) = values[e];
    }
  });
}

/// Rows ascend: outer columns before number `first`, own columns, the other outer ones.
void DistributedMatrix::take_by_rows(int threads, std::int64_t first, double const* values) {
  parallel_ranges(threads, own_.rows, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    std::size_t k = outer_row_from(begin);
    auto outer = static_cast<std::size_t>(outer_.offsets[k]);
    double const* next = values + own_.offsets[static_cast<std::size_t>(begin)] + outer;
    auto const is_before = [&](std::size_t e) {
      return plan_.numbers[static_cast<std::size_t>(outer_.columns[e])] < first;
    };
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      bool const is_outer = k < outer_rows_.size() && outer_rows_[k] == static_cast<Index>(i);
      std::size_t const outer_end =
          is_outer ? static_cast<std::size_t>(outer_.offsets[++k]) : outer;
      while (outer < outer_end && is_before(outer)) outer_.values[outer++] = *next++;
      Offset const length = own_.offsets[i + 1] - own_.offsets[i];
      std::copy_n(next, length, own_.values.begin() + own_.offsets[i]);
      next += length;
      while (outer < outer_end) outer_.values[outer++] = *next++;
    }
  });
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
