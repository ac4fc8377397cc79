// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/distributed_matrix.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {
namespace {

/// What a rank says of its rows.
struct Claim {
  std::int64_t first_row, rows, cols, own_columns, entries;
};

std::vector<Claim> gather_claims(Ranks& ranks, Claim const& mine) {
  constexpr std::int64_t count = 5;
  double const told[count] = {double(mine.first_row), double(mine.rows), double(mine.cols),
                              double(mine.own_columns), double(mine.entries)};
  std::vector<double> heard(static_cast<std::size_t>(count * ranks.ranks()));
  ranks.gather(told, count, heard.data());
  std::vector<Claim> all;
  for (auto at = heard.begin(); at != heard.end(); at += count)
    all.push_back({std::int64_t(at[0]), std::int64_t(at[1]), std::int64_t(at[2]),
                   std::int64_t(at[3]), std::int64_t(at[4])});
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

Offset offset_at(Context& ctx, CsrView64 const& a, std::int64_t i) {
  if (a.offsets.wide)
    return to_host(ctx, static_cast<std::int64_t const*>(a.offsets.data) + i, a.space, 1).front();
  return to_host(ctx, static_cast<std::int32_t const*>(a.offsets.data) + i, a.space, 1).front();
}

/// Of one rank: that the arrays are as long as they say. What is in them split_rows() looks at.
void require_arrays(Context& ctx, std::int64_t first_row, CsrView64 const& a) {
  if (a.rows < 0 || first_row < 0 || a.cols < 0)
    throw MatrixError(cat("first row ", first_row, ", ", a.rows, " rows, ", a.cols, " columns"));
  if (a.offsets.data == nullptr && a.rows > 0) throw MatrixError("offsets are null");
  if (a.entries > 0 && (a.columns == nullptr || a.values == nullptr))
    throw MatrixError("columns or values are null");
  if (a.rows > 0 && offset_at(ctx, a, 0) != 0) throw MatrixError("offsets begin with 0");
  if (Offset const end = a.rows > 0 ? offset_at(ctx, a, a.rows) : 0; end != a.entries)
    throw MatrixError(cat("offsets end with ", end, ", there are ", a.entries, " entries"));
}

/// `list` (n) in the Context's space: itself, or a copy in `room`.
template <class T>
T const* there(Context& ctx, T const* list, Space space, std::size_t n, Array<T>& room) {
  if (space == ctx.space() || n == 0) return list;
  room.resize(ctx.space(), n);
  copy_bytes(ctx, room.data(), ctx.space(), list, space, n * sizeof(T));
  return room.data();
}

/// A caller's rows in the Context's space, borrowed where they lie there: the columns, and then, in
/// their place, the values.
class RowsThere {
 public:
  RowsThere(Context& ctx, CsrView64 const& a) : ctx_(ctx), given_(a), pattern_(a) {
    auto const rows = a.rows > 0 ? static_cast<std::size_t>(a.rows) + 1 : 0;
    if (a.offsets.wide)
      pattern_.offsets =
          there(ctx, static_cast<std::int64_t const*>(a.offsets.data), a.space, rows, wide_);
    else
      pattern_.offsets =
          there(ctx, static_cast<std::int32_t const*>(a.offsets.data), a.space, rows, narrow_);
    pattern_.columns = there(ctx, a.columns, a.space, entries(), columns_);
    pattern_.values = nullptr;
    pattern_.space = ctx.space();
  }
  CsrView64 const& pattern() const { return pattern_; }
  /// The pattern is not there any more.
  double const* values() {
    wide_ = {}, columns_ = {}, narrow_ = {};
    return there(ctx_, given_.values, given_.space, entries(), values_);
  }

 private:
  std::size_t entries() const { return static_cast<std::size_t>(given_.entries); }

  Context& ctx_;
  CsrView64 given_, pattern_;
  Array<std::int64_t> wide_, columns_;
  Array<std::int32_t> narrow_;
  Array<double> values_;
};

/// Entry k of a = P B P^T is entry k of B in the list. By a matrix whose values are the numbers of
/// its entries.
Array<Index> places_before(Context& ctx, CsrView<double> const& a, Permutation const& P) {
  auto const entries = static_cast<std::size_t>(a.entries);
  std::vector<double> numbers(entries);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  Array<double> const there = to_space(ctx, numbers.data(), entries);
  CsrView<double> numbered = a;
  numbered.values = there.data();
  CsrStorage<double> const before = permuted(ctx, numbered, P.inverse());
  numbers = to_host(ctx, before.view().values, ctx.space(), entries);
  std::vector<Index> places(entries);
  for (std::size_t k = 0; k < entries; ++k)
    places[static_cast<std::size_t>(numbers[k])] = static_cast<Index>(k);
  return to_space(ctx, places.data(), entries);
}

/// P after the order that there was, where there was one.
Permutation after(Permutation const& before, Permutation const& P) {
  if (before.size() == 0) return P;
  std::vector<Index> old(P.old_numbers().begin(), P.old_numbers().end());
  for (Index& i : old) i = before.old_numbers()[static_cast<std::size_t>(i)];
  return Permutation(std::move(old));
}

}  // namespace

DistributedMemory DistributedMemory::of(Index rows, std::int64_t cols, Offset entries, bool comes) {
  auto const n = static_cast<double>(rows), m = static_cast<double>(cols),
             e = static_cast<double>(entries);
  // Sets of bits and the members before each word: a quarter of a byte a number.
  double const places = e / 4 + 4 * n, offsets = 4 * n, columns = 4 * e, values = 8 * e;
  double const given_pattern = comes ? 8 * n + 8 * e : 0, given_values = comes ? 8 * e : 0;
  double const sets = 3.0 / 8 * (e + m + n) + e / 8;
  return {.stays = places + offsets + columns + values,
          .dealing =
              places + offsets + columns + std::max(given_pattern + sets, given_values + values)};
}

DistributedMatrix::DistributedMatrix(Context& ctx, std::int64_t first_row, CsrView64 const& a,
                                     std::optional<Index> columns) {
  Context::Entry const entry(ctx);
  Ranks& ranks = all_ranks(ctx);
  together(ranks, [&] { require_arrays(ctx, first_row, a); });
  std::vector<Claim> const claims = gather_claims(
      ranks, {first_row, a.rows, a.cols, columns ? std::int64_t{*columns} : -1, a.entries});
  rows_ = stretches_of_rows(claims);
  columns_ = stretches_of_columns(claims, rows_);
  for (Claim const& c : claims) all_entries_ += c.entries;

  int const me = ranks.rank();
  std::vector<std::int64_t> halo;
  together(ranks, [&] {
    Index const own_columns = narrow(columns_.size(me), "columns of a rank");
    RowsThere rows(ctx, a);
    RowSplit split = split_rows(ctx, first_row, rows.pattern(), columns_.first(me), own_columns);
    SplitValues values = split_values(ctx, split.places, rows.values(), split.own.values);
    own_ = std::make_shared<CsrStorage<double>>(ctx, a.rows, own_columns, std::move(split.own));
    halo = std::move(split.halo);
    outer_ = std::move(split.outer);
    outer_.values = std::move(values.outer);
    outer_rows_ = std::move(split.outer_rows);
    places_ = std::move(split.places);
    norm_ = values.norm;
  });
  plan_ = HaloPlan(ranks, columns_, std::move(halo));
  norm_ = ranks.agree(norm_);
}

void DistributedMatrix::update_values(Context& ctx, double const* values, Offset entries,
                                      Space space) {
  Context::Entry const entry(ctx);
  together(ctx, [&] {
    if (entries != places_.entries)
      throw ShapeError(
          cat("update_values: there are ", places_.entries, " entries, and ", entries, " values"));
    Array<double> copied, own;
    bool const in_order = order_.size() > 0;
    SplitValues split = split_values(
        ctx, places_, there(ctx, values, space, static_cast<std::size_t>(entries), copied),
        in_order ? own : values_);
    if (in_order) take_own(ctx, own);
    for (std::size_t k = 0; k < split.outer.size(); ++k)
      outer_.values[k] =
          split.outer[outer_places_.empty() ? k : static_cast<std::size_t>(outer_places_[k])];
    norm_ = split.norm;
  });
  norm_ = ctx.communicator().agree(norm_);
}

/// values_ of own entries as they were split.
void DistributedMatrix::take_own(Context& ctx, Array<double> const& given) {
  Index const n =
      narrow(own_->view().entries, "entries of a rank in another order, for new values,");
  values_.resize(ctx.space(), given.size());
  if (n == 0) return;
  if (own_places_.size() == 0) own_places_ = places_before(ctx, own_->view(), order_);
  permute<double>(ctx, own_places_.data(), vector_view(given.data(), n, ctx.space()),
                  vector_view(values_.data(), n, ctx.space()));
}

void DistributedMatrix::reorder(Context& ctx, Permutation const& P,
                                std::shared_ptr<CsrStorage<double>> own) {
  Context::Entry const entry(ctx);
  Ranks& ranks = all_ranks(ctx);
  if (rows_ != columns_)
    throw ShapeError(
        cat("an order is for square matrices; A is ", rows_.size(), " x ", columns_.size()));
  together(ranks, [&] {
    if (P.size() != own_->view().rows)
      throw ShapeError(
          cat("an order of ", P.size(), " elements for ", own_->view().rows, " rows of a rank"));
    own_ =
        own ? std::move(own) : std::make_shared<CsrStorage<double>>(permuted(ctx, this->own(), P));
  });
  values_ = {};
  own_places_ = {};

  std::int64_t const first = columns_.first(ranks.rank());
  std::vector<std::vector<std::int64_t>> told(static_cast<std::size_t>(ranks.ranks()));
  for (HaloPlan::Neighbour const& n : plan_.neighbours)
    for (Index k = n.first_sent; k < n.first_sent + n.sent_count; ++k) {
      auto const place = static_cast<std::size_t>(plan_.sent[static_cast<std::size_t>(k)]);
      told[static_cast<std::size_t>(n.rank)].push_back(first + P.new_numbers()[place]);
    }
  std::vector<std::int64_t> numbers;  // of the halo's places as they are
  for (std::vector<std::int64_t> const& part : all_to_all(ranks, told))
    numbers.insert(numbers.end(), part.begin(), part.end());
  std::vector<Index> ascending(numbers.size());
  std::iota(ascending.begin(), ascending.end(), 0);
  std::ranges::sort(ascending, {}, [&](Index k) { return numbers[static_cast<std::size_t>(k)]; });
  std::ranges::sort(numbers);
  plan_ = HaloPlan(ranks, columns_, std::move(numbers));
  reorder_outer(P, Permutation(std::move(ascending)));
  order_ = after(order_, P);
  if (order_.is_identity()) order_ = {};
}

/// Rows of outer_ by their numbers in P, columns by those of the halo's places.
void DistributedMatrix::reorder_outer(Permutation const& P, Permutation const& halo) {
  std::vector<Index> rows(outer_rows_.size());
  std::iota(rows.begin(), rows.end(), 0);
  auto const number = [&](Index k) {
    return P.new_numbers()[static_cast<std::size_t>(outer_rows_[static_cast<std::size_t>(k)])];
  };
  auto const place = [&](Offset e) {
    return halo
        .new_numbers()[static_cast<std::size_t>(outer_.columns[static_cast<std::size_t>(e)])];
  };
  std::ranges::sort(rows, {}, number);
  Csr<double> moved;
  moved.rows = outer_.rows, moved.cols = outer_.cols;
  std::vector<Offset> row, places;
  std::vector<Index> numbers;
  for (Index const k : rows) {
    auto const at = static_cast<std::size_t>(k);
    row.resize(static_cast<std::size_t>(outer_.offsets[at + 1] - outer_.offsets[at]));
    std::iota(row.begin(), row.end(), outer_.offsets[at]);
    std::ranges::sort(row, {}, place);
    for (Offset const e : row) {
      moved.columns.push_back(place(e));
      moved.values.push_back(outer_.values[static_cast<std::size_t>(e)]);
      places.push_back(outer_places_.empty() ? e : outer_places_[static_cast<std::size_t>(e)]);
    }
    moved.offsets.push_back(moved.entries());
    numbers.push_back(number(k));
  }
  outer_ = std::move(moved);
  outer_rows_ = std::move(numbers);
  outer_places_ = std::move(places);
}

CsrView<double> DistributedMatrix::own() const {
  CsrView<double> view = own_->view();
  if (values_.size() > 0) view.values = values_.data();
  return view;
}

}  // namespace tcsolve
