// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/ranked_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include <tcsolve/app/config/generator.hpp>
#include <tcsolve/comm/together.hpp>
#include <tcsolve/distributed/read_rows.hpp>
#include <tcsolve/io/plan_cache.hpp>
#include <tcsolve/matrix/symmetry.hpp>

namespace tcsolve {
namespace {

/// A rank's rows by their numbers in the whole matrix.
class Rows {
 public:
  Rows(Ranks const& ranks, DealtRows const& dealt)
      : a(dealt.A), first(dealt.rows.first(ranks.rank())), end(first + a.rows) {}
  double entry(std::int64_t i, std::int64_t j) const {
    auto const row = static_cast<Index>(i - first);
    auto const columns = a.row_columns(row);
    auto const found = std::lower_bound(columns.begin(), columns.end(), j);
    if (found == columns.end() || *found != j) return 0;
    return a.row_values(row)[static_cast<std::size_t>(found - columns.begin())];
  }
  /// As row_scale() of the whole matrix.
  double scale(std::int64_t i) const {
    double largest = 0;
    for (double const v : a.row_values(static_cast<Index>(i - first)))
      largest = std::max(largest, std::abs(v));
    double const diagonal = std::abs(entry(i, i));
    return std::sqrt(diagonal > 0 ? diagonal : largest);
  }

  Csr<double> const& a;
  std::int64_t first, end;
};

template <class T>
std::vector<std::vector<T>> for_each_of(Ranks const& ranks) {
  return std::vector<std::vector<T>>(static_cast<std::size_t>(ranks.ranks()));
}

/// What each rank has, on rank 0.
template <class T>
std::vector<std::vector<T>> at_rank_0(Ranks& ranks, std::vector<T> mine) {
  auto out = for_each_of<T>(ranks);
  out.front() = std::move(mine);
  auto in = all_to_all(ranks, out);
  return ranks.rank() == 0 ? std::move(in) : decltype(in){};
}

/// As in app/run/preflight.cpp, where a rank asks the owner of row j for a(j, i).
std::string asymmetry(Ranks& ranks, Rows const& rows, Stretches const& owners) {
  struct Place {
    Index row, col;
  };
  struct Mirror {
    double value, scale;
  };
  std::int64_t const stride = sampled_stride(owners.size());
  auto const each = [&](auto const& f) {
    for (std::int64_t i = (rows.first + stride - 1) / stride * stride; i < rows.end; i += stride) {
      auto const row = static_cast<Index>(i - rows.first);
      for (std::size_t k = 0; k < rows.a.row_columns(row).size(); ++k) {
        Index const j = rows.a.row_columns(row)[k];
        auto const next = std::upper_bound(owners.starts.begin(), owners.starts.end(), j);
        f(i, j, rows.a.row_values(row)[k],
          static_cast<std::size_t>(next - owners.starts.begin()) - 1);
      }
    }
  };
  auto asked = for_each_of<Place>(ranks);
  each([&](std::int64_t i, Index j, double, std::size_t owner) {
    asked[owner].push_back({j, static_cast<Index>(i)});
  });
  asked = all_to_all(ranks, asked);
  auto answers = for_each_of<Mirror>(ranks);
  for (std::size_t r = 0; r < asked.size(); ++r)
    for (Place const& at : asked[r])
      answers[r].push_back({rows.entry(at.row, at.col), rows.scale(at.row)});
  answers = all_to_all(ranks, answers);
  std::vector<std::size_t> next(answers.size());
  std::string first;
  each([&](std::int64_t i, Index j, double a, std::size_t owner) {
    Mirror const& mirror = answers[owner][next[owner]++];
    if (first.empty() && std::abs(a - mirror.value) > 0 &&
        !are_mirrors(a, mirror.value, rows.scale(i), mirror.scale))
      first = asymmetry_text(static_cast<Index>(i), j, a, mirror.value);
  });
  for (std::string const& one : gather(ranks, first))
    if (!one.empty()) return one;
  return "";
}

/// Empty rows and columns, on rank 0.
EmptyLines empty_lines(Ranks& ranks, Rows const& rows) {
  std::vector<Index> empty;
  auto const cols = static_cast<std::size_t>(rows.a.cols);
  std::vector<std::uint64_t> seen((cols + 63) / 64);
  for (Index i = 0; i < rows.a.rows; ++i) {
    bool any = false;
    for (std::size_t k = 0; k < rows.a.row_columns(i).size(); ++k)
      if (rows.a.row_values(i)[k] != 0) {
        auto const j = static_cast<std::size_t>(rows.a.row_columns(i)[k]);
        seen[j / 64] |= std::uint64_t{1} << (j % 64);
        any = true;
      }
    if (!any) empty.push_back(static_cast<Index>(rows.first + i));
  }
  EmptyLines lines;
  for (auto const& of_rank : at_rank_0(ranks, std::move(empty)))
    lines.rows.insert(lines.rows.end(), of_rank.begin(), of_rank.end());
  auto const all = at_rank_0(ranks, std::move(seen));
  for (std::size_t j = 0; j < cols && !all.empty(); ++j)
    if (std::ranges::none_of(
            all, [&](auto const& words) { return (words[j / 64] >> (j % 64) & 1) != 0; }))
      lines.columns.push_back(static_cast<Index>(j));
  return lines;
}

std::string hash_of(Ranks& ranks, Rows const& rows, Offset first_entry) {
  HashSums const mine = hash_sums(rows.a, rows.first, first_entry);
  std::string bits(sizeof mine, '\0');
  std::memcpy(bits.data(), &mine, sizeof mine);
  HashSums sum;
  for (std::string const& of_rank : gather(ranks, bits)) {
    HashSums one;
    std::memcpy(&one, of_rank.data(), sizeof one);
    sum += one;
  }
  return sum.text();
}

/// Each rank makes about as many rows; then they are dealt as those that it reads are.
DealtRows made_rows(Ranks& ranks, Generator const& generator, Workers const& workers) {
  std::int64_t const rows = generator.size().rows;
  DealtRows dealt{{}, {{0}}};
  for (std::int64_t r = 1; r <= ranks.ranks(); ++r)
    dealt.rows.starts.push_back(rows * r / ranks.ranks());
  auto const first = static_cast<Index>(dealt.rows.first(ranks.rank())),
             end = first + static_cast<Index>(dealt.rows.size(ranks.rank()));
  together(ranks, [&] { dealt.A = generator.make_rows({first, end}, workers); });
  Stretches const even = balanced(ranks, dealt);
  return redealt(ranks, std::move(dealt), even);
}

}  // namespace

bool is_read_by_ranks(Ranks& ranks, ParsedConfig const& parsed) {
  ProblemConfig const& from = parsed.run.problem;
  std::string const& by = parsed.run.ranks.partition;
  bool const asks =
      from.batch.empty() && !parsed.run.output.report && (by == "rows" || by == "auto");
  if (asks && from.generator) return make<GeneratorRegistry>(from.generator)->has_rows_apart();
  return asks && can_be_read_by_ranks(ranks, parsed.files.matrix);
}

DealtRows read_rows_of_run(Ranks& ranks, ParsedConfig const& parsed, CancelFlag cancel) {
  if (Block const& generator = parsed.run.problem.generator)
    return made_rows(ranks, *make<GeneratorRegistry>(generator), {parsed.run.threads, cancel});
  return read_rows(
      ranks, parsed.files.matrix,
      {.threads = parsed.run.threads, .petsc = parsed.run.problem.petsc.scalar, .cancel = cancel});
}

RankedFacts facts_of(Ranks& ranks, DealtRows const& dealt, bool row_sums) {
  Rows const rows(ranks, dealt);
  RankedFacts facts;
  facts.rows = static_cast<Index>(dealt.rows.size());
  facts.cols = dealt.A.cols;
  std::vector<std::int64_t> const entries = gather(ranks, dealt.A.entries());
  Offset before = 0;
  for (int r = 0; r < ranks.ranks(); ++r) {
    if (r == ranks.rank()) before = facts.entries;
    facts.entries += entries[static_cast<std::size_t>(r)];
  }
  facts.hash = hash_of(ranks, rows, before);
  if (ranks.agree(row_sums)) {
    std::vector<double> mine(static_cast<std::size_t>(rows.a.rows));
    for (Index i = 0; i < rows.a.rows; ++i)
      for (double const a : rows.a.row_values(i)) mine[static_cast<std::size_t>(i)] += a;
    for (auto const& of_rank : at_rank_0(ranks, std::move(mine)))
      facts.row_sums.insert(facts.row_sums.end(), of_rank.begin(), of_rank.end());
  }
  facts.look.square = facts.rows == facts.cols;
  if (!facts.look.square) return facts;
  facts.look.asymmetry = asymmetry(ranks, rows, dealt.rows);
  double first[2] = {-1, 0};  // that is not positive
  bool zero = false;
  for (std::int64_t i = rows.first; i < rows.end; ++i) {
    double const diagonal = rows.entry(i, i);
    zero |= diagonal == 0;
    if (!(diagonal > 0) && first[0] < 0) first[0] = double(i), first[1] = diagonal;
  }
  std::vector<double> firsts(2 * entries.size());
  ranks.gather(first, 2, firsts.data());
  for (std::size_t r = firsts.size(); r > 0; r -= 2)
    if (firsts[r - 2] >= 0)
      facts.look.diagonal = {static_cast<Index>(firsts[r - 2]), firsts[r - 1]};
  facts.system = ranks.agree(zero) ? SystemFacts(facts.rows, empty_lines(ranks, rows))
                                   : SystemFacts(facts.rows);
  return facts;
}

}  // namespace tcsolve
