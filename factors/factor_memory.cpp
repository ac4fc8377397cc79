// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/factor_memory.hpp>

#include <algorithm>
#include <numeric>

#include <tcsolve/factors/make/complete.hpp>

namespace tcsolve {
namespace {

/// Rows that are factorised to learn how much is kept by size.
constexpr Index sample = 20000;

bool pattern_is_symmetric(Csr<double> const& B) {
  Csr<double> const T = transpose(B.view());
  return T.offsets == B.offsets && T.columns == B.columns;
}

/// Of the entries outside the diagonal, those whose row and column are in one part.
double within_parts(Csr<double> const& B, Index part) {
  Offset inside = 0, all = 0;
  for (Index i = 0; i < B.rows; ++i)
    for (Index const j : B.row_columns(i)) {
      if (i == j) continue;
      ++all;
      inside += i / part == j / part;
    }
  return all > 0 ? static_cast<double>(inside) / static_cast<double>(all) : 1;
}

FillCount count(Context& ctx, FactorPlan& plan, FactorRecipe const& recipe) {
  Csr<double> const& B = plan.arrangement.matrix();
  CancelFlag const cancel = ctx.cancel_flag();
  switch (recipe.fill) {
    case FillIn::by_level: return count_by_level(ctx, B, recipe.level, plan.arrangement.nodes());
    case FillIn::complete: {
      Permutation const& order = complete_order(plan, recipe, cancel);
      FillCount all = *count_complete(B, order, 0, cancel);
      if (recipe.symmetric) return all;
      if (!pattern_is_symmetric(B)) all = count_unsymmetric(ctx, B, order, all);
      all.exact = false;
      return all;
    }
    default: break;
  }
  auto const little = static_cast<Offset>(recipe.complete_below * static_cast<double>(B.entries()));
  if (little > 0)
    if (auto const all = count_complete(B, Permutation::identity(B.rows), little, cancel))
      return *all;
  Dropping const dropping = dropping_of(recipe, B);
  auto const factorise = [&](Csr<double> const& part) {
    return recipe.symmetric ? threshold_cholesky(part, dropping, 0, cancel)
                            : threshold_lu(part, dropping, recipe.pivot_floor, 0, cancel);
  };
  if (B.rows > sample) return count_by_size(B, sample, factorise);
  plan.factors = std::make_shared<TriangularFactors>(factorise(B));
  return count_of(*plan.factors);
}

}  // namespace

MemoryNeed stored_need(Context const& ctx, Index rows, double entries, Real values) {
  double const offset = ctx.space() == Space::host ? 8 : 4;
  return {.host = 0, .space = entries * (4.0 + size_of(values)) + offset * rows};
}

double most_factor_bytes(FactorRecipe const& recipe, Index rows, Offset entries_of_A) {
  double const n = rows;
  // Whole blocks around single entries, and the factors in two forms.
  double const unknowns = recipe.block == 0 ? most_unknowns : recipe.block;
  double const forms = recipe.block == 1 ? 1 : 2;
  double const z = std::min(n * n, unknowns * unknowns * static_cast<double>(entries_of_A));
  double kept = n * n;
  if (recipe.fill == FillIn::by_size)
    kept = 2 * (std::max(recipe.fill_factor, recipe.complete_below) * z + n);
  else if (recipe.fill == FillIn::by_level && recipe.level == 0)
    kept = 2 * z;
  constexpr double each = 12 + 8 + 12 + 30;  // as made, where from, as stored, passing
  return forms * each * std::min(kept, n * n) + 20 * z + 1200 * n;
}

MemoryNeed factorisation_need(Context const& ctx, FactorRecipe const& recipe, Index rows,
                              Offset entries_of_B, FillCount const& fill) {
  double const n = rows, z = static_cast<double>(entries_of_B);
  double stored = fill.lower + fill.upper;
  MemoryNeed need;
  need.exact = fill.exact;
  need.host = 20 * z + 8 * n + 2 * 24 * n;  // B, where its entries come from; permutations, scales
  need.host += 12 * stored + 24 * n;        // the factors
  bool const on_device = ctx.space() != Space::host;
  // A device keeps B, where its entries come from, and the factors that it makes on a pattern
  // (factors/arrange/arranged_values.hpp, factors/make/joint_factors.hpp).
  bool const joint = on_device && !recipe.right_factor && !fill.by_blocks &&
                     (recipe.fill == FillIn::by_level || fill.exact);
  if (joint) need.space += 16 * z + 20 * n;
  auto const add = [&](double entries) { need += stored_need(ctx, rows, entries, recipe.values); };
  auto const add_diagonals = [&] {
    for (int part = 0; part < 3; ++part) need += stored_need(ctx, rows, n, Real::f64);
  };
  switch (recipe.solves) {
    case TriangularSolves::isai:
      if (recipe.corrections > 0 && !recipe.right_factor) {
        add(fill.lower);
        add(fill.upper);
        add_diagonals();
      }
      add(fill.lower + n);
      add(fill.upper + n);
      if (joint) need.space += 12 * stored + 28 * n;
      need.passing += 16 * (stored + 2 * n);
      break;
    case TriangularSolves::parts: {
      // What stays within parts, as if the factors were as A.
      double const inside = stored > 0 ? fill.inside * stored : 0;
      need.space += (2.0 + size_of(recipe.values)) * inside + 74 * n;
      if (joint) need.host += 12 * stored + 24 * n;
      if (joint) need.space += 12 * stored + 28 * n;
      break;
    }
    case TriangularSolves::sweeps:
      add(fill.lower);
      add(fill.upper);
      add_diagonals();
      if (joint) need.space += 12 * stored + 28 * n;
      break;
    default: {
      if (fill.by_blocks) {  // the factors by blocks, beside those by entries
        stored += n;         // two triangles of each diagonal block become a whole one
        need.host += 12 * stored + 32 * n + 4 * n;
      }
      bool const apart = recipe.solves == TriangularSolves::host || recipe.values != Real::f64;
      if (joint && apart) need.space += 12 * stored + 28 * n;
      if (joint && stored > 0.5 * JointArrays::most_of_each * n) need.space += 8 * stored;  // long
      double const places = fill.lower_places + fill.upper_places;
      double const offsets = 2 * (on_device ? 4 : 8) * n;
      need.host += 4 * places + 24 * n;  // levels, sides
      bool const on_host = !on_device || recipe.solves == TriangularSolves::host;
      (recipe.solves == TriangularSolves::host ? need.host : need.space) += 4 * places + 48 * n;
      bool const searched = recipe.fill == FillIn::complete && !fill.by_blocks;
      if (!on_host && searched)  // ReachSearch, and columns where they are not rows
        need.space += 24 * n + (fill.lower != fill.upper ? 4 * stored + 8 * n : 0);
      if (!on_host || fill.by_blocks || recipe.values != Real::f64)  // else the factors serve
        (recipe.solves == TriangularSolves::host ? need.host : need.space) +=
            (4.0 + size_of(recipe.values)) * stored + offsets;
      need.passing += 12 * std::max(fill.lower, fill.upper) + (fill.by_blocks ? 12 * stored : 0);
    }
  }
  // Arrays that grow; Eigen's own factors. By rows: work arrays, and copies that are sorted.
  if (recipe.fill == FillIn::by_size) need.passing = std::max(need.passing, 12 * stored);
  if (recipe.fill == FillIn::complete) {
    need.passing = std::max(need.passing, 8 * stored);
    need.host += 8 * n;  // the order
  }
  need.passing += 200 * n;
  return need;
}

double least_complete_seconds(Context& ctx, FactorPlan& plan, FactorRecipe const& recipe) {
  FillCount const& fill = count_fill(ctx, plan, recipe);
  double const triangle = std::max(fill.lower, fill.upper);
  constexpr double each = 0.25e-9;  // a multiplication of a column by itself is made once or twice
  return each * triangle * triangle / std::max<Index>(1, plan.rows);
}

FactorPlan plan_factors(Context& ctx, CsrView<double> const& a, FactorRecipe const& recipe) {
  FactorPlan plan;
  plan.rows = a.rows;
  plan.entries = a.entries;
  plan.arrangement = Arrangement(a, arrangement_of(recipe), recipe.symmetric, ctx.cancel_flag(),
                                 nodes_of(recipe, a));
  return plan;
}

std::optional<FactorPlan> plan_there(Context& ctx, CsrView<double> const& a,
                                     FactorRecipe const& recipe) {
  ArrangementParams const params = arrangement_of(recipe);
  bool const exact_or_isai = recipe.solves == TriangularSolves::automatic ||
                             recipe.solves == TriangularSolves::exact ||
                             recipe.solves == TriangularSolves::isai;
  if (recipe.fill != FillIn::by_level || recipe.level != 0 || recipe.block != 1 ||
      recipe.right_factor || !exact_or_isai || params.order != FactorOrder::none || a.rows == 0 ||
      a.rows != a.cols || a.space != ctx.space())
    return std::nullopt;
  if (!recipe.symmetric &&
      (params.matching == UseMatching::on ||
       (params.matching == UseMatching::automatic && has_small_diagonal(ctx, a))))
    return std::nullopt;
  // A level takes a device some microseconds, and a host's loops some nanoseconds an entry.
  auto const most_levels =
      static_cast<Index>(std::min<Offset>(256 + a.entries / 2000, Offset{1} << 24));
  auto pattern = level_zero(ctx, a, most_levels);
  if (!pattern) return std::nullopt;
  FactorPlan plan;
  plan.rows = a.rows;
  plan.entries = a.entries;
  plan.fill = FillCount{.lower = static_cast<double>(pattern->lower),
                        .upper = static_cast<double>(pattern->upper),
                        .lower_places = static_cast<double>(pattern->lower_levels.places),
                        .upper_places = static_cast<double>(pattern->upper_levels.places)};
  ScaledBy scaling = ScaledBy::nothing;
  if (params.scaling != FactorScaling::none)
    scaling = recipe.symmetric || params.scaling == FactorScaling::diagonal ? ScaledBy::diagonal
                                                                            : ScaledBy::largest;
  auto const n = static_cast<std::size_t>(a.rows);
  TwoSided sides;
  sides.row.resize(n);
  std::iota(sides.row.begin(), sides.row.end(), Index{0});
  sides.column = sides.row;
  sides.row_scale.assign(n, 1.0);
  sides.column_scale.assign(n, 1.0);
  auto B = std::make_shared<ArrangedValues>(ctx, a, scaling);
  B->update(ctx, a, sides);
  plan.there.emplace(PlanThere{std::move(*pattern), std::move(B), std::move(sides)});
  return plan;
}

Permutation const& complete_order(FactorPlan& plan, FactorRecipe const& recipe, CancelFlag cancel) {
  if (!plan.order) plan.order = complete_order(plan.arrangement.matrix(), recipe.symmetric, cancel);
  return *plan.order;
}

FillCount const& count_fill(Context& ctx, FactorPlan& plan, FactorRecipe const& recipe) {
  if (!plan.fill) plan.fill = count(ctx, plan, recipe);
  return *plan.fill;
}

MemoryNeed factorisation_need(Context& ctx, FactorPlan& plan, FactorRecipe const& recipe) {
  FillCount fill = count_fill(ctx, plan, recipe);
  if (recipe.symmetric) fill.lower = fill.upper;  // L = U^T
  if (plan.there) {
    MemoryNeed need = factorisation_need(ctx, recipe, plan.rows, plan.entries, fill);
    // The host has no B and no arrangement around it, and the factors' pattern for isai alone; the
    // entries of B need not be told where they come from.
    double const n = plan.rows, z = static_cast<double>(plan.entries);
    need.host -= 20 * z + 32 * n;
    need.space -= 4 * z;
    if (recipe.solves != TriangularSolves::isai)
      need.host -=
          12 * (fill.lower + fill.upper) + 24 * n + 4 * (fill.lower_places + fill.upper_places);
    return need;
  }
  Csr<double> const& B = plan.arrangement.matrix();
  if (recipe.solves == TriangularSolves::parts) fill.inside = within_parts(B, recipe.part);
  if (recipe.right_factor) {
    fill.lower = 0;
    fill.lower_places = plan.rows;
  }
  return factorisation_need(ctx, recipe, plan.rows, B.entries(), fill);
}

}  // namespace tcsolve
