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
#include <tcsolve/matrix/pattern.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/precond/schwarz/part_inverses.hpp>
#include <tcsolve/precond/schwarz/rank_parts.hpp>
#include <tcsolve/precond/smoother.hpp>

namespace tcsolve {
namespace {

/// `symmetric`: where it is known.
bool restricts(SchwarzParams const& p, CsrView<double> const& a, std::optional<bool> symmetric) {
  if (p.combine != Combine::automatic) return p.combine == Combine::restricted;
  return !(symmetric ? *symmetric : is_symmetric(a));
}

/// SchwarzParams::most.
Index most_of(Index most, int size) { return most > 0 ? most : std::max<Index>(1024, 8 * size); }

double free_memory(Context const& ctx) {
  return ctx.space() == Space::host ? available_memory() : double(ctx.available_memory());
}

PartsBy parts_by(SchwarzParts parts) {
  switch (parts) {
    case SchwarzParts::grow: return PartsBy::grow;
    case SchwarzParts::metis: return PartsBy::metis;
    case SchwarzParts::rows: return PartsBy::rows;
    default: return PartsBy::automatic;
  }
}

}  // namespace

OverlappingParts with_overlap(Graph const& graph, Parts const& cut, int overlap, Index most,
                              CancelFlag cancel) {
  OverlappingParts parts;
  parts.rows.resize(static_cast<std::size_t>(cut.count));
  for (Index i = 0; i < graph.vertices(); ++i) parts.rows[cut.of[i]].push_back(i);
  QueueSearch search(graph.vertices());
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

OverlappingParts overlapping_parts(CsrView<double> const& a, int size, int overlap, Index most,
                                   PartsBy by, CancelFlag cancel) {
  Graph const graph = adjacency(Pattern(a));
  return with_overlap(graph, parts_of(graph, size, by, cancel), overlap, most_of(most, size),
                      cancel);
}

Csr<double> schwarz(Context& ctx, CsrView<double> const& a, OverlappingParts const& parts,
                    bool restricted) {
  Context::Entry const entry(ctx);
  CsrStorage<double> const here(ctx, a);
  PartsThere const there = parts_from_lists(ctx, a.rows, parts.rows, parts.own, restricted);
  sparse::OwnedPattern const pattern = pattern_of_sum(ctx, there);
  Array<double> sums(ctx.space(), static_cast<std::size_t>(pattern.entries));
  sum_inverses(ctx, here.view(), there, pattern.view(), sums.data());
  return to_host(ctx, pattern.with(std::as_const(sums).data()));
}

/// The parts, and where their sum has entries, if there is room for it.
struct SchwarzFactory::Plan {
  PartsThere parts;
  double products = 0;  ///< entries of the sum, one counted for each part that it is of
  std::optional<sparse::OwnedPattern> pattern;
};

/// The one in the notes, or a new one that is kept there, where there are notes.
std::shared_ptr<SchwarzFactory::Plan> SchwarzFactory::plan(Context& ctx,
                                                           System const& system) const {
  if (system.notes)
    if (auto found = system.notes->look<Plan>(id())) return found;
  Params const p = checked(params_, "schwarz");
  Plan made;
  on_host(ctx, system, "schwarz", [&](CsrView<double> const& a) {
    require_square(Pattern(a));
    bool const restricted = restricts(p, a, system.symmetric);
    Graph const graph = adjacency(Pattern(a));
    Parts const cut = parts_of(graph, p.size, parts_by(p.parts), ctx.cancel_flag());
    Index const most = most_of(p.most, p.size);
    if (p.overlap == 0) {
      made.parts = parts_without_overlap(ctx, cut);
      return;
    }
    if (auto parts = parts_with_overlap(ctx, CsrStorage<double>(ctx, system.matrix).view(), cut,
                                        p.overlap, most, restricted)) {
      made.parts = std::move(*parts);
      return;
    }
    OverlappingParts const lists = with_overlap(graph, cut, p.overlap, most, ctx.cancel_flag());
    made.parts = parts_from_lists(ctx, a.rows, lists.rows, lists.own, restricted);
  });
  made.products = products_of(ctx, made.parts);
  if (12 * made.products < free_memory(ctx)) made.pattern = pattern_of_sum(ctx, made.parts);
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
  auto const plan = this->plan(ctx, system);
  if (system.notes) system.notes->take<Plan>(id());
  if (!plan->pattern)
    throw MemoryError(cat("schwarz: up to ", static_cast<std::int64_t>(plan->products),
                          " entries of the parts' inverses do not fit; take a smaller size"));
  auto const there = [plan](Context& c, CsrView<double> const& a) {
    sparse::OwnedPattern pattern = *std::exchange(plan->pattern, std::nullopt);
    Array<double> sums(c.space(), static_cast<std::size_t>(pattern.entries));
    sum_inverses(c, a, plan->parts, pattern.view(), sums.data());
    std::vector<CsrStorage<double>> M;
    M.push_back(stored(c, std::move(pattern), std::move(sums)));
    return M;
  };
  auto const numbers = [plan](Context& c, CsrView<double> const& a,
                              std::vector<StoredProduct> const& factors) {
    auto memory = c.arena().scope();
    CsrView<double> const& M = factors[0].pattern;
    auto* const sums = memory.take<double>(static_cast<std::size_t>(M.entries));
    sum_inverses(c, a, plan->parts, M, sums);
    factors[0].update(c, sums);
  };
  return from_entries(ctx, system, "schwarz", real(p.values), {.numbers = numbers, .there = there});
}

MemoryNeed SchwarzFactory::memory(Context& ctx, System const& system) const {
  if (by_ranks() && !inside()) return {.space = bytes(system.matrix.rows, system.matrix.entries)};
  if (by_ranks()) {
    MemoryNeed need;
    alone(ctx, [&] { need = inside()->memory(ctx, system); });
    return need;
  }
  auto const plan = this->plan(ctx, system);
  double const entries = plan->pattern ? double(plan->pattern->entries) : plan->products;
  MemoryNeed need = stored_need(ctx, system.matrix.rows, entries, real(params_.values));
  need.space += plan->parts.bytes();
  need.passing = 8 * (entries + most_at_once(ctx, plan->parts));
  need.exact = plan->pattern.has_value();
  return need;
}

double SchwarzFactory::least_seconds(Context& ctx, System const& system) const {
  if (by_ranks()) return inside() ? inside()->least_seconds(ctx, system) : 0;
  double const m = std::min<double>(params_.size, system.matrix.rows);
  bool const device = ctx.space() != Space::host;
  return system.matrix.rows * m * m * (device ? 1e-12 : 0.1e-9 / ctx.threads());
}

}  // namespace tcsolve
