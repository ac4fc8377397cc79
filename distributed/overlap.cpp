// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/overlap.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/distributed/operator.hpp>
#include <tcsolve/formats/csr/operator.hpp>

namespace tcsolve {
namespace {

/// What one rank has to say to each.
template <class T>
using ForEach = std::vector<std::vector<T>>;
template <class T>
ForEach<T> for_each_of(Ranks const& ranks) {
  return ForEach<T>(static_cast<std::size_t>(ranks.ranks()));
}

/// Parts of ascending numbers by who has them.
ForEach<std::int64_t> by_owner(Ranks const& ranks, std::vector<std::int64_t> const& numbers,
                               Stretches const& stretches) {
  auto out = for_each_of<std::int64_t>(ranks);
  auto from = numbers.begin();
  for (int r = 0; r < ranks.ranks(); ++r) {
    auto const end = std::lower_bound(from, numbers.end(), stretches.first(r) + stretches.size(r));
    out[static_cast<std::size_t>(r)].assign(from, end);
    from = end;
  }
  return out;
}

void append(GlobalRows& to, std::span<std::int64_t const> columns, std::span<double const> values) {
  to.columns.insert(to.columns.end(), columns.begin(), columns.end());
  to.values.insert(to.values.end(), values.begin(), values.end());
  to.offsets.push_back(static_cast<Offset>(to.columns.size()));
}

/// The rows of these numbers, ascending, from who has them; `a` are this rank's.
GlobalRows fetched(Ranks& ranks, GlobalRows const& a, Stretches const& rows,
                   std::vector<std::int64_t> const& numbers) {
  auto const asked = all_to_all(ranks, by_owner(ranks, numbers, rows));
  auto lengths = for_each_of<std::int64_t>(ranks), columns = lengths;
  auto values = for_each_of<double>(ranks);
  std::int64_t const first = rows.first(ranks.rank());
  for (std::size_t r = 0; r < asked.size(); ++r)
    for (std::int64_t const number : asked[r]) {
      auto const i = static_cast<Index>(number - first);
      auto const j = a.row_columns(i);
      auto const v = a.row_values(i);
      lengths[r].push_back(static_cast<std::int64_t>(j.size()));
      columns[r].insert(columns[r].end(), j.begin(), j.end());
      values[r].insert(values[r].end(), v.begin(), v.end());
    }
  lengths = all_to_all(ranks, lengths);
  columns = all_to_all(ranks, columns);
  values = all_to_all(ranks, values);
  GlobalRows out;
  for (std::size_t r = 0; r < asked.size(); ++r) {
    std::span const j(columns[r]);
    std::span const v(values[r]);
    std::size_t at = 0;
    for (std::int64_t const length : lengths[r]) {
      auto const count = static_cast<std::size_t>(length);
      append(out, j.subspan(at, count), v.subspan(at, count));
      at += count;
    }
  }
  return out;
}

std::vector<std::int64_t> each_once(std::vector<std::int64_t> list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace

std::span<std::int64_t const> GlobalRows::row_columns(Index i) const {
  auto const at = static_cast<std::size_t>(i);
  return {columns.data() + offsets[at], static_cast<std::size_t>(offsets[at + 1] - offsets[at])};
}
std::span<double const> GlobalRows::row_values(Index i) const {
  auto const at = static_cast<std::size_t>(i);
  return {values.data() + offsets[at], static_cast<std::size_t>(offsets[at + 1] - offsets[at])};
}
CsrView64 GlobalRows::view(std::int64_t cols) const {
  return {rows(),         cols,           static_cast<Offset>(columns.size()),
          offsets.data(), columns.data(), values.data(),
          Space::host};
}

GlobalRows rows_of(Context& ctx, DistributedMatrix const& a) {
  Csr<double> const own = to_host(ctx, a.own());
  Csr<double> const& outer = a.outer();
  std::int64_t const first = a.columns().first(all_ranks(ctx).rank());
  GlobalRows out;
  std::size_t k = 0;
  for (Index i = 0; i < own.rows; ++i) {
    bool const is_outer = k < a.outer_rows().size() && a.outer_rows()[k] == i;
    Offset e = is_outer ? outer.offsets[k] : 0;
    Offset const end = is_outer ? outer.offsets[++k] : 0;
    // Outer columns before the own ones, these, the other outer ones.
    auto const take_outer = [&](auto const& belongs) {
      for (; e < end; ++e) {
        std::int64_t const j =
            a.plan().numbers[static_cast<std::size_t>(outer.columns[static_cast<std::size_t>(e)])];
        if (!belongs(j)) return;
        out.columns.push_back(j);
        out.values.push_back(outer.values[static_cast<std::size_t>(e)]);
      }
    };
    take_outer([&](std::int64_t j) { return j < first; });
    for (Index const j : own.row_columns(i)) out.columns.push_back(first + j);
    auto const values = own.row_values(i);
    out.values.insert(out.values.end(), values.begin(), values.end());
    take_outer([](std::int64_t) { return true; });
    out.offsets.push_back(static_cast<Offset>(out.columns.size()));
  }
  return out;
}

GlobalRows transposed(Ranks& ranks, GlobalRows const& a, Stretches const& rows,
                      Stretches const& columns) {
  struct Entry {
    std::int64_t row, column;  // of the transpose
    double value;
  };
  std::int64_t const first_row = rows.first(ranks.rank()), first = columns.first(ranks.rank());
  auto out = for_each_of<Entry>(ranks);
  for (Index i = 0; i < a.rows(); ++i) {
    auto const j = a.row_columns(i);
    auto const v = a.row_values(i);
    int owner = 0;
    for (std::size_t e = 0; e < j.size(); ++e) {
      while (j[e] >= columns.first(owner) + columns.size(owner)) ++owner;
      out[static_cast<std::size_t>(owner)].push_back({j[e], first_row + i, v[e]});
    }
  }
  auto const in = all_to_all(ranks, out);
  // By rows: entries come from ranks in order, of each with ascending columns.
  GlobalRows made;
  made.offsets.assign(static_cast<std::size_t>(columns.size(ranks.rank())) + 1, 0);
  for (auto const& from : in)
    for (Entry const& e : from) ++made.offsets[static_cast<std::size_t>(e.row - first) + 1];
  std::partial_sum(made.offsets.begin(), made.offsets.end(), made.offsets.begin());
  made.columns.resize(static_cast<std::size_t>(made.offsets.back()));
  made.values.resize(made.columns.size());
  std::vector<Offset> next(made.offsets.begin(), made.offsets.end() - 1);
  for (auto const& from : in)
    for (Entry const& e : from) {
      auto const place = static_cast<std::size_t>(next[static_cast<std::size_t>(e.row - first)]++);
      made.columns[place] = e.column;
      made.values[place] = e.value;
    }
  return made;
}

Csr<double> gathered(Ranks& ranks, GlobalRows const& a, Stretches const& rows) {
  auto lengths = for_each_of<std::int64_t>(ranks), columns = lengths;
  auto values = for_each_of<double>(ranks);
  for (Index i = 0; i < a.rows(); ++i)
    lengths.front().push_back(static_cast<std::int64_t>(a.row_columns(i).size()));
  columns.front() = a.columns;
  values.front() = a.values;
  lengths = all_to_all(ranks, lengths);
  columns = all_to_all(ranks, columns);
  values = all_to_all(ranks, values);
  Csr<double> whole;
  if (ranks.rank() != 0) return whole;
  whole.rows = whole.cols = narrow(rows.size(), "rows");
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    for (std::int64_t const length : lengths[r])
      whole.offsets.push_back(whole.offsets.back() + length);
    for (std::int64_t const j : columns[r]) whole.columns.push_back(static_cast<Index>(j));
    whole.values.insert(whole.values.end(), values[r].begin(), values[r].end());
  }
  return whole;
}

Overlap overlap(Ranks& ranks, GlobalRows const& a, Stretches const& rows, int layers) {
  std::int64_t const first = rows.first(ranks.rank());
  Overlap made;
  made.numbers.resize(static_cast<std::size_t>(a.rows()));
  std::iota(made.numbers.begin(), made.numbers.end(), first);
  struct Layer {
    std::vector<std::int64_t> numbers;
    GlobalRows rows;
  };
  std::vector<Layer> around;
  std::vector<std::int64_t> const* met = &a.columns;
  for (int l = 0;; ++l) {
    std::vector<std::int64_t> fresh, all;
    std::ranges::set_difference(each_once(*met), made.numbers, std::back_inserter(fresh));
    std::ranges::set_union(made.numbers, fresh, std::back_inserter(all));
    made.numbers = std::move(all);
    if (l == layers) break;
    GlobalRows there = fetched(ranks, a, rows, fresh);
    around.push_back({std::move(fresh), std::move(there)});
    met = &around.back().rows.columns;
  }

  made.first =
      static_cast<Index>(std::ranges::lower_bound(made.numbers, first) - made.numbers.begin());
  made.a.rows = made.a.cols =
      narrow(static_cast<std::int64_t>(made.numbers.size()), "rows with their overlap");
  auto const take = [&](GlobalRows const& from, std::size_t i) {
    auto at = made.numbers.begin();
    for (std::int64_t const j : from.row_columns(static_cast<Index>(i))) {
      at = std::lower_bound(at, made.numbers.end(), j);
      made.a.columns.push_back(static_cast<Index>(at - made.numbers.begin()));
    }
    auto const v = from.row_values(static_cast<Index>(i));
    made.a.values.insert(made.a.values.end(), v.begin(), v.end());
  };
  std::vector<std::size_t> next(around.size(), 0);
  for (std::int64_t const number : made.numbers) {
    if (number >= first && number < first + a.rows()) {
      take(a, static_cast<std::size_t>(number - first));
    } else {
      for (std::size_t l = 0; l < around.size(); ++l)
        if (next[l] < around[l].numbers.size() && around[l].numbers[next[l]] == number)
          take(around[l].rows, next[l]++);
    }
    made.a.offsets.push_back(made.a.entries());
  }
  return made;
}

Csr<double> with_halo_rows(Context& ctx, DistributedMatrix const& a) {
  if (a.rows() != a.columns())
    throw ShapeError(cat("rows of neighbours are for square matrices; A is ", a.rows().size(),
                         " x ", a.columns().size()));
  Overlap const around = overlap(all_ranks(ctx), rows_of(ctx, a), a.rows(), 1);
  Index const own = a.plan().own;
  // Of each place there: the number here, -1 for columns of the halo's rows alone.
  std::vector<Index> here(around.numbers.size(), -1), order;
  for (Index i = 0; i < own; ++i) order.push_back(around.first + i);
  auto at = around.numbers.begin();
  for (std::int64_t const number : a.plan().numbers) {
    at = std::lower_bound(at, around.numbers.end(), number);
    order.push_back(static_cast<Index>(at - around.numbers.begin()));
  }
  for (std::size_t k = 0; k < order.size(); ++k)
    here[static_cast<std::size_t>(order[k])] = static_cast<Index>(k);

  Csr<double> out;
  out.rows = out.cols = static_cast<Index>(order.size());
  std::vector<std::pair<Index, double>> row;
  for (Index const i : order) {
    row.clear();
    auto const columns = around.a.row_columns(i);
    auto const values = around.a.row_values(i);
    for (std::size_t e = 0; e < columns.size(); ++e)
      if (Index const j = here[static_cast<std::size_t>(columns[e])]; j >= 0)
        row.emplace_back(j, values[e]);
    std::ranges::sort(row, {}, &std::pair<Index, double>::first);
    for (auto const& [j, v] : row) out.columns.push_back(j), out.values.push_back(v);
    out.offsets.push_back(out.entries());
  }
  return out;
}

OperatorPtr<double> product_of(Context& ctx, GlobalRows const& a, Stretches const& rows,
                               Real values) {
  int const me = all_ranks(ctx).rank();
  auto const matrix = std::make_shared<DistributedMatrix>(ctx, rows.first(me), a.view(rows.size()));
  OperatorPtr<double> own;
  together(ctx, [&] {
    alone(ctx, [&] {
      auto const store = [&]<class S>(S) {
        if constexpr (std::is_same_v<S, double>)
          own = std::make_shared<CsrOperator<double>>(ctx, matrix->own(), Arrays::borrowed);
        else
          own = std::make_shared<CsrOperator<double, S>>(ctx,
                                                         converted<S>(to_host(ctx, matrix->own())));
      };
      switch (values) {
        case Real::f64: return store(double{});
        case Real::f32: return store(float{});
        default: return store(half{});
      }
    });
  });
  return std::make_shared<DistributedOperator>(std::move(own),
                                               std::make_shared<OuterPart>(ctx, matrix));
}

}  // namespace tcsolve
