// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/dealt_rows.hpp>

#include <algorithm>
#include <utility>

namespace tcsolve {
namespace {

std::int64_t sum(std::vector<std::int64_t> const& all, std::size_t count) {
  std::int64_t total = 0;
  for (std::size_t r = 0; r < count; ++r) total += all[r];
  return total;
}

/// Rows [first, end).
struct Span {
  std::int64_t first, end;
  std::int64_t size() const { return end - first; }
};

Span common(Stretches const& a, int r, Stretches const& b, int s) {
  std::int64_t const first = std::max(a.first(r), b.first(s));
  return {first, std::max(first, std::min(a.first(r) + a.size(r), b.first(s) + b.size(s)))};
}

/// Sends whole[out[r]] to each rank r, and makes of what comes one array, in rank order; in: sizes.
template <class T>
std::vector<T> exchanged(Ranks& ranks, std::vector<T> const& whole, std::vector<Span> const& out,
                         std::vector<std::int64_t> const& in) {
  std::vector<T> here(static_cast<std::size_t>(sum(in, in.size())));
  std::vector<Ranks::Outgoing> going;
  std::vector<Ranks::Incoming> coming;
  T* to = here.data();
  for (int r = 0; r < ranks.ranks(); ++r) {
    auto const k = static_cast<std::size_t>(r);
    auto const bytes = [](std::int64_t count) {
      return static_cast<std::size_t>(count) * sizeof(T);
    };
    if (r == ranks.rank()) {
      std::copy_n(whole.data() + out[k].first, in[k], to);
    } else {
      if (out[k].size() > 0)
        going.push_back({r, whole.data() + out[k].first, bytes(out[k].size())});
      if (in[k] > 0) coming.push_back({r, to, bytes(in[k])});
    }
    to += in[k];
  }
  ranks.begin_exchange(going, coming);
  ranks.end_exchange();
  return here;
}

}  // namespace

Stretches on_rank_0(int ranks, std::int64_t rows) {
  Stretches all{{0}};
  all.starts.resize(static_cast<std::size_t>(ranks) + 1, rows);
  return all;
}

Stretches balanced(Ranks& ranks, DealtRows const& dealt) {
  std::int64_t const count = ranks.ranks(), rows = dealt.rows.size();
  std::int64_t const first = dealt.rows.first(ranks.rank());
  std::vector<std::int64_t> const entries = gather(ranks, dealt.A.entries());
  std::int64_t const before = sum(entries, static_cast<std::size_t>(ranks.rank()));
  // A row without entries is something, too.
  std::int64_t const all = sum(entries, entries.size()) + rows;
  auto const weight = [&](Index i) {
    return before + dealt.A.offsets[static_cast<std::size_t>(i)] + first + i;
  };
  std::vector<double> mine(static_cast<std::size_t>(count) + 1, double(rows));
  mine.front() = 0;
  Index i = 0;
  for (std::int64_t r = 1; r < count; ++r) {
    while (i < dealt.A.rows && weight(i) * count < all * r) ++i;
    if (i < dealt.A.rows) mine[static_cast<std::size_t>(r)] = double(first + i);
  }
  std::vector<double> heard(mine.size() * static_cast<std::size_t>(count));
  ranks.gather(mine.data(), static_cast<std::int64_t>(mine.size()), heard.data());
  Stretches out;
  out.starts.clear();
  for (std::size_t r = 0; r < mine.size(); ++r) {
    double least = double(rows);
    for (std::size_t k = r; k < heard.size(); k += mine.size()) least = std::min(least, heard[k]);
    out.starts.push_back(static_cast<std::int64_t>(least));
  }
  return out;
}

DealtRows redealt(Ranks& ranks, DealtRows dealt, Stretches const& to) {
  if (dealt.rows == to) return dealt;
  Csr<double>& a = dealt.A;
  int const me = ranks.rank();
  std::int64_t const first = dealt.rows.first(me);
  std::vector<Span> out, out_entries;
  std::vector<std::int64_t> in, in_entries;
  for (int r = 0; r < ranks.ranks(); ++r) {
    Span const goes = common(dealt.rows, me, to, r), comes = common(to, me, dealt.rows, r);
    out.push_back({goes.first - first, goes.end - first});
    if (out.back().size() == 0) out.back() = {0, 0};
    in.push_back(comes.size());
    out_entries.push_back({a.offsets[static_cast<std::size_t>(out.back().first)],
                           a.offsets[static_cast<std::size_t>(out.back().end)]});
  }
  std::vector<Offset> lengths(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = a.offsets[i + 1] - a.offsets[i];
  lengths = exchanged(ranks, lengths, out, in);

  DealtRows made{{.rows = static_cast<Index>(lengths.size()), .cols = a.cols}, to};
  made.A.offsets.reserve(lengths.size() + 1);
  auto length = lengths.begin();
  for (std::int64_t const rows : in) {
    Offset const begin = made.A.offsets.back();
    for (std::int64_t i = 0; i < rows; ++i)
      made.A.offsets.push_back(made.A.offsets.back() + *length++);
    in_entries.push_back(made.A.offsets.back() - begin);
  }
  made.A.columns = exchanged(ranks, a.columns, out_entries, in_entries);
  a.columns = {};
  made.A.values = exchanged(ranks, a.values, out_entries, in_entries);
  return made;
}

std::int64_t halo_of(Ranks& ranks, DealtRows const& dealt) {
  std::int64_t const first = dealt.rows.first(ranks.rank()), end = first + dealt.A.rows;
  std::vector<bool> seen(static_cast<std::size_t>(dealt.A.cols), false);
  std::int64_t mine = 0;
  for (Index const j : dealt.A.columns)
    if ((j < first || j >= end) && !seen[static_cast<std::size_t>(j)]) {
      seen[static_cast<std::size_t>(j)] = true;
      ++mine;
    }
  std::vector<std::int64_t> const all = gather(ranks, mine);
  return sum(all, all.size());
}

}  // namespace tcsolve
