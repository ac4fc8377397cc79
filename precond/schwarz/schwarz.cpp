// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/schwarz/schwarz.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/graph/search/queue_search.hpp>
#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/matrix/pattern.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/precond/schwarz/dense_blocks.hpp>
#include <tcsolve/precond/schwarz/rank_parts.hpp>
#include <tcsolve/precond/smoother.hpp>

namespace tcsolve {
namespace {

/// Where the batch that begins with part `begin` ends: parts that are inverted at a time.
std::size_t batch_end(Context const& ctx, OverlappingParts const& parts, std::size_t begin) {
  constexpr std::size_t batch = 256;
  double const batch_work = ctx.space() == Space::host ? 1e9 : 2e10;  // multiplications
  double work = 0;
  std::size_t end = begin;
  while (end < parts.rows.size() && end - begin < batch && (end == begin || work < batch_work))
    work += std::pow(static_cast<double>(parts.rows[end++].size()), 3);
  return end;
}

/// The rows and columns of a part, by rows, into `block`.
void gather(CsrView<double> const& a, std::vector<Index> const& rows, double* block) {
  std::size_t const m = rows.size();
  std::vector<std::pair<Index, std::size_t>> place;  // of a column of A in the part
  for (std::size_t c = 0; c < m; ++c) place.emplace_back(rows[c], c);
  std::ranges::sort(place);
  std::fill_n(block, m * m, 0.0);
  for (std::size_t r = 0; r < m; ++r) {
    auto at = place.begin();
    for (Offset k = a.offsets[rows[r]]; k < a.offsets[rows[r] + 1] && at != place.end(); ++k) {
      while (at != place.end() && at->first < a.columns[k]) ++at;
      if (at != place.end() && at->first == a.columns[k]) block[r * m + at->second] = a.values[k];
    }
  }
}

/// Inverses of the parts [begin, end), one after the other.
std::vector<double> inverses_of(Context& ctx, CsrView<double> const& a,
                                OverlappingParts const& parts, std::size_t begin, std::size_t end) {
  DenseBlocks blocks;
  for (std::size_t p = begin; p < end; ++p) blocks.add(static_cast<Index>(parts.rows[p].size()));
  CancelFlag const cancel = ctx.cancel_flag();
  cancel.check();
  std::vector<double> values(static_cast<std::size_t>(blocks.starts.back()));
  {
    host::Visit const visit(ctx.threads());
    host::parallel(static_cast<std::int64_t>(end - begin), 2, [&](std::int64_t k) {
      cancel.check();
      gather(a, parts.rows[begin + static_cast<std::size_t>(k)],
             values.data() + blocks.starts[static_cast<std::size_t>(k)]);
    });
  }
  Context::Entry const entry(ctx);
  Index const bad = ctx.visit(
      [&](auto& on) { return invert_blocks(on, ctx.arena(), cancel, blocks, values.data()); });
  if (bad >= 0) {
    std::vector<Index> const& rows = parts.rows[begin + static_cast<std::size_t>(bad)];
    throw MatrixError(cat("part ", begin + static_cast<std::size_t>(bad) + 1, " of ", rows.size(),
                          " rows around row ", rows.front() + 1,
                          " is singular; take another size or overlap"));
  }
  return values;
}

/// f(i, p) for each part p and each row i that takes its corrections.
template <class F>
void each_taken(OverlappingParts const& parts, bool restricted, F const& f) {
  for (std::size_t p = 0; p < parts.rows.size(); ++p) {
    auto const taken = restricted ? static_cast<std::size_t>(parts.own[p]) : parts.rows[p].size();
    for (std::size_t r = 0; r < taken; ++r) f(parts.rows[p][r], p);
  }
}

/// `symmetric`: where it is known.
bool restricts(SchwarzParams const& p, CsrView<double> const& a, std::optional<bool> symmetric) {
  if (p.combine != Combine::automatic) return p.combine == Combine::restricted;
  return !(symmetric ? *symmetric : is_symmetric(a));
}

PartsBy parts_by(SchwarzParts parts) {
  switch (parts) {
    case SchwarzParts::grow: return PartsBy::grow;
    case SchwarzParts::metis: return PartsBy::metis;
    case SchwarzParts::rows: return PartsBy::rows;
    default: return PartsBy::automatic;
  }
}

/// Entries of schwarz(). Cost: O(sum of the squares of the parts' sizes), 8 bytes a row and part.
double count_entries(Index rows, OverlappingParts const& parts, bool restricted,
                     CancelFlag cancel) {
  CancelEvery at_times(cancel, std::int64_t{1} << 21);
  std::vector<std::vector<Index>> parts_of(rows);
  each_taken(parts, restricted,
             [&](Index i, std::size_t p) { parts_of[i].push_back(static_cast<Index>(p)); });
  std::vector<Index> seen_by(rows, -1);
  double entries = 0;
  for (Index i = 0; i < rows; ++i)
    for (Index const p : parts_of[i]) {
      at_times.add(static_cast<std::int64_t>(parts.rows[p].size()));
      for (Index const j : parts.rows[p]) entries += std::exchange(seen_by[j], i) != i;
    }
  return entries;
}

}  // namespace

OverlappingParts overlapping_parts(CsrView<double> const& a, int size, int overlap, Index most,
                                   PartsBy by, CancelFlag cancel) {
  if (most == 0) most = std::max<Index>(1024, 8 * size);
  Graph const graph = adjacency(Pattern(a));
  Parts const cut = parts_of(graph, size, by, cancel);
  OverlappingParts parts;
  parts.rows.resize(static_cast<std::size_t>(cut.count));
  for (Index i = 0; i < a.rows; ++i) parts.rows[cut.of[i]].push_back(i);
  QueueSearch search(a.rows);
  auto const neighbours = [&](Index i) { return graph.of(i); };
  auto const takes_part = [&](Index i) { return graph.degree(i) <= most; };
  CancelEvery at_times(cancel, std::int64_t{1} << 14);
  for (std::vector<Index>& rows : parts.rows) {
    auto const own = static_cast<std::ptrdiff_t>(rows.size());
    at_times.add(own);
    parts.own.push_back(static_cast<Index>(own));
    auto const room = std::max(static_cast<std::size_t>(most), rows.size());
    rows = search.levels(rows, neighbours, takes_part, {.depth = overlap, .most = room}).vertices;
    std::sort(rows.begin() + own, rows.end());
    rows.shrink_to_fit();
  }
  return parts;
}

Csr<double> schwarz(Context& ctx, CsrView<double> const& a, OverlappingParts const& parts,
                    bool restricted) {
  // The columns of each row of M, and where its entries lie.
  std::vector<std::vector<Index>> columns(a.rows);
  double entries = 0;
  for (std::size_t p = 0; p < parts.rows.size(); ++p)
    entries += static_cast<double>(parts.rows[p].size()) *
               static_cast<double>(restricted ? parts.own[p] : parts.rows[p].size());
  if (40 * entries > available_memory())
    throw MemoryError(cat("schwarz: up to ", static_cast<std::int64_t>(entries),
                          " entries of the parts' inverses do not fit; take a smaller size"));
  CancelEvery at_times(ctx.cancel_flag(), std::int64_t{1} << 20);
  each_taken(parts, restricted, [&](Index i, std::size_t p) {
    at_times.add(static_cast<std::int64_t>(parts.rows[p].size()));
    columns[i].insert(columns[i].end(), parts.rows[p].begin(), parts.rows[p].end());
  });
  std::size_t kept = 0;
  for (std::vector<Index>& row : columns) {
    at_times.add(4 * static_cast<std::int64_t>(row.size()));
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    kept += row.size();
  }
  Csr<double> M;
  M.rows = M.cols = a.rows;
  M.columns.reserve(kept);
  M.offsets.reserve(columns.size() + 1);
  for (std::vector<Index>& row : columns) {
    at_times.add(static_cast<std::int64_t>(row.size()));
    M.columns.insert(M.columns.end(), row.begin(), row.end());
    M.offsets.push_back(M.entries());
    row = std::vector<Index>();
  }
  M.values.reserve(kept);
  for (std::size_t at = 0; at < kept; at = M.values.size()) {
    constexpr std::size_t stretch = std::size_t{1} << 20;  // its memory is touched here first
    M.values.resize(std::min(kept, at + stretch), 0.0);
    ctx.cancel_flag().check();
  }
  // Some inverses at a time; their sum in the order of the parts.
  for (std::size_t begin = 0, end = 0; begin < parts.rows.size(); begin = end) {
    end = batch_end(ctx, parts, begin);
    std::vector<double> const inverses = inverses_of(ctx, a, parts, begin, end);
    double const* inverse = inverses.data();
    for (std::size_t p = begin; p < end; ++p) {
      std::vector<Index> const& rows = parts.rows[p];
      std::size_t const m = rows.size();
      auto const taken = restricted ? static_cast<std::size_t>(parts.own[p]) : m;
      for (std::size_t r = 0; r < taken; ++r) {
        at_times.add(8 * static_cast<std::int64_t>(m));
        auto const there = M.row_columns(rows[r]);
        double* const values = M.values.data() + M.offsets[rows[r]];
        for (std::size_t c = 0; c < m; ++c)
          values[std::ranges::lower_bound(there, rows[c]) - there.begin()] += inverse[r * m + c];
      }
      inverse += m * m;
    }
  }
  return M;
}

struct SchwarzFactory::Plan {
  OverlappingParts parts;
  bool restricted = false;
};

/// The one in the notes, or a new one that is kept there, where there are notes.
std::shared_ptr<SchwarzFactory::Plan> SchwarzFactory::plan(Context& ctx, CsrView<double> const& a,
                                                           System const& system) const {
  if (system.notes)
    if (auto found = system.notes->look<Plan>(id())) return found;
  Params const p = checked(params_, "schwarz");
  require_square(Pattern(a));
  Plan made{overlapping_parts(a, p.size, p.overlap, p.most, parts_by(p.parts), ctx.cancel_flag()),
            restricts(p, a, system.symmetric)};
  return system.notes ? system.notes->keep(id(), std::move(made))
                      : std::make_shared<Plan>(std::move(made));
}

std::unique_ptr<PreconditionerFactory> SchwarzFactory::inside() const {
  return params_.inside ? make_smoother(params_.inside) : nullptr;
}

double SchwarzFactory::bytes(Index rows, Offset entries) const {
  if (by_ranks()) return inside() ? inside()->bytes(rows, entries) : 12.0 * double(entries);
  return rows * (1.0 + params_.overlap) * params_.size * (4.0 + size_of(real(params_.values)));
}

/// As if every part reached everywhere.
double SchwarzFactory::most_bytes(Index rows, Offset entries) const {
  if (by_ranks())
    return inside() ? inside()->most_bytes(rows, entries) : 100.0 * (double(entries) + rows);
  double const n = rows, parts = n / params_.size + 1;
  return n * n * (20 + 10 * parts + 8 * 256) + 100 * n;
}

std::unique_ptr<Preconditioner> SchwarzFactory::build(Context& ctx, System const& system) const {
  Params const p = checked(params_, "schwarz");
  if (by_ranks()) return rank_parts(ctx, system, inside(), p.overlap, p.combine);
  auto plan = system.notes ? system.notes->take<Plan>(id()) : nullptr;
  auto const make = [plan, symmetric = system.symmetric, self = *this](
                        Context& c, CsrView<double> const& a) mutable {
    if (!plan) plan = self.plan(c, a, {.symmetric = symmetric});
    return std::vector<Csr<double>>{schwarz(c, a, plan->parts, plan->restricted)};
  };
  return from_entries(ctx, system, "schwarz", real(p.values), {make, {}});
}

MemoryNeed SchwarzFactory::memory(Context& ctx, System const& system) const {
  if (by_ranks() && !inside()) return {.space = bytes(system.matrix.rows, system.matrix.entries)};
  if (by_ranks()) {
    MemoryNeed need;
    alone(ctx, [&] { need = inside()->memory(ctx, system); });
    return need;
  }
  return on_host(ctx, system, "schwarz", [&](CsrView<double> const& a) {
    auto const plan = this->plan(ctx, a, system);
    OverlappingParts const& parts = plan->parts;
    double const entries = count_entries(a.rows, parts, plan->restricted, ctx.cancel_flag());
    MemoryNeed need = stored_need(ctx, a.rows, entries, real(params_.values));
    for (std::vector<Index> const& rows : parts.rows) {
      auto const m = static_cast<double>(rows.size());
      need.host += 44 + 4 * m;
      need.passing += 6 * m * m;  // columns of its rows before those that parts share are one
    }
    double most = 0;
    for (std::size_t begin = 0, end = 0; begin < parts.rows.size(); begin = end) {
      end = batch_end(ctx, parts, begin);
      double blocks = 0;
      for (std::size_t p = begin; p < end; ++p)
        blocks += std::pow(static_cast<double>(parts.rows[p].size()), 2);
      most = std::max(most, blocks);
    }
    need.passing += 8 * most;
    return need;
  });
}

double SchwarzFactory::least_seconds(Context& ctx, System const& system) const {
  if (by_ranks()) return inside() ? inside()->least_seconds(ctx, system) : 0;
  double const m = std::min<double>(params_.size, system.matrix.rows);
  bool const device = ctx.space() != Space::host;
  return system.matrix.rows * m * m * (device ? 1e-12 : 0.1e-9 / ctx.threads());
}

}  // namespace tcsolve
