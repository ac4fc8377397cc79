// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/factorisation.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/factors/apply/approximate_inverse.hpp>
#include <tcsolve/factors/apply/factored_inverse.hpp>
#include <tcsolve/factors/apply/on_host.hpp>
#include <tcsolve/factors/apply/parts_inverse.hpp>
#include <tcsolve/factors/apply/swept_inverse.hpp>
#include <tcsolve/factors/make/block_factors.hpp>
#include <tcsolve/factors/make/complete.hpp>
#include <tcsolve/formats/choose/cost_model.hpp>
#include <tcsolve/matrix/blocks.hpp>
#include <tcsolve/operators/composite.hpp>

namespace tcsolve {
namespace {

/// Levels from which a product with approximate inverses is quicker on a device.
constexpr Index many_levels = 60;

/// Seconds that both triangular solves take on a device: a level waits for the one before, and its
/// rows for their entries (docs/internals/factorisations.md).
double device_seconds(FactorRates const& r, double entries, Index rows, Index levels) {
  return r.solve +
         levels * (r.solve_level + r.solve_wait * 0.5 * entries / std::max<Index>(1, rows));
}

/// And on the host, with the two copies of a vector.
double host_seconds(FactorRates const& r, double entries, Index rows) {
  return r.host_copies + r.host_entries * entries + r.host_rows * rows;
}

/// What an elimination on a pattern takes.
struct Elimination {
  double subtractions = 0, levels = 0, entries = 0, upper = 0;
  Index rows = 0;
  bool complete = false;
};

/// Whether the device makes the numbers sooner than the host
/// (docs/internals/factorisations.md): the host takes a subtraction after the other, the device
/// waits for its levels.
bool quicker_on_device(FactorRates const& r, Elimination const& e) {
  double const row = e.upper / std::max<Index>(1, e.rows);
  double const host = (e.complete ? r.host_complete : r.host_subtraction) * e.subtractions +
                      r.host_number * e.entries;
  double const device =
      r.make + e.levels * (r.make_level + r.make_wait * row) + r.make_subtraction * e.subtractions;
  return device < host;
}

Elimination elimination_on(TriangularFactors const& patterns) {
  Elimination e{.levels = static_cast<double>(level_order(patterns.lower, true).levels()),
                .entries = static_cast<double>(patterns.entries()),
                .upper = static_cast<double>(patterns.upper.entries()),
                .rows = patterns.lower.rows,
                .complete = patterns.complete};
  for (Index const k : patterns.lower.columns)
    e.subtractions +=
        static_cast<double>(patterns.upper.offsets[k + 1] - patterns.upper.offsets[k]);
  return e;
}

/// Entries that the factors may have: of 80 % of the memory that is free, at 30 bytes an entry
/// while they are made: 12 for a column and a number, 12 more where arrays grow, 6 for a transpose;
/// 40 where they are copied to another form.
Offset most_entries(FactorRecipe const& recipe) {
  double const bytes = recipe.block != 1 || recipe.values != Real::f64 ? 40 : 30;
  return static_cast<Offset>(0.8 * static_cast<double>(available_memory()) / bytes);
}

/// Of a host Context beside this one.
ContextOptions host_options(Context const& ctx) {
  ContextOptions options = ctx.options();
  options.stream = nullptr;
  return options;
}

}  // namespace

bool quicker_on_device(FactorRates const& rates, PlanThere const& plan) {
  LevelZero const& p = plan.pattern;
  Elimination const e{.subtractions = static_cast<double>(p.subtractions),
                      .levels = static_cast<double>(p.lower_levels.levels),
                      .entries = static_cast<double>(p.entries),
                      .upper = static_cast<double>(p.upper),
                      .rows = p.rows};
  return quicker_on_device(rates, e);
}

ArrangementParams arrangement_of(FactorRecipe const& recipe) {
  ArrangementParams params = recipe.arrangement;
  if (params.order == FactorOrder::automatic)
    params.order = recipe.fill == FillIn::by_size ? FactorOrder::amd : FactorOrder::none;
  return params;
}

std::vector<Index> nodes_of(FactorRecipe const& recipe, CsrView<double> const& a) {
  if (recipe.block == 1) return {};
  if (recipe.block == 0) return natural_blocks(a, most_unknowns);
  if (a.rows % recipe.block != 0)
    throw MatrixError(cat("'block' = ", recipe.block, " does not divide ", a.rows,
                          " rows; take a divisor, or 0, which finds nodes of any size"));
  return uniform_blocks(a.rows, recipe.block);
}

Dropping dropping_of(FactorRecipe const& recipe, Csr<double> const& B) {
  double const mean = static_cast<double>(B.entries()) / std::max<Index>(B.rows, 1);
  double const most = std::ceil(recipe.fill_factor * mean);
  return {recipe.drop_tolerance, static_cast<Index>(std::min<double>(most, B.rows))};
}

Factorisation::Factorisation(Context& ctx, FactorPlan plan, FactorRecipe recipe)
    : LinearOperator<double>(plan.rows, plan.rows),
      recipe_(std::move(recipe)),
      entries_of_A_(plan.entries) {
  if (plan.there) {
    sides_ = std::move(plan.there->sides);
    arranged_ = std::move(plan.there->B);
    joint_ = std::make_shared<JointFactors>(ctx, std::move(plan.there->pattern));
    decided_ = true;
    make_joint_numbers(ctx);
    make_inverse(ctx);
    return;
  }
  CancelFlag const cancel = ctx.cancel_flag();
  if (recipe_.fill == FillIn::complete) complete_order(plan, recipe_, cancel);
  arrangement_ = std::move(plan.arrangement);
  order_ = std::move(plan.order);
  sides_ = arrangement_.sides();
  Csr<double> const& B = arrangement_.matrix();
  factors_ = std::make_shared<TriangularFactors>();
  if (recipe_.fill == FillIn::complete) {
    factorise_completely(cancel);
  } else if (plan.factors) {
    factors_ = std::move(plan.factors);
  } else if (recipe_.fill == FillIn::by_level) {
    *factors_ = fill_pattern(B, recipe_.level, most_entries(recipe_), cancel);
    factorise_on_pattern(ctx);
  } else {
    auto const little = static_cast<Offset>(recipe_.complete_below * entries_of_A_);
    auto complete = little > 0 ? complete_pattern(B, little, cancel) : std::nullopt;
    Dropping const dropping = dropping_of(recipe_, B);
    if (complete) {
      *factors_ = std::move(*complete);
      factorise_on_pattern(ctx);
    } else if (recipe_.symmetric) {
      *factors_ = threshold_cholesky(B, dropping, most_entries(recipe_), cancel);
    } else {
      *factors_ = threshold_lu(B, dropping, recipe_.pivot_floor, most_entries(recipe_), cancel);
    }
  }
  if (recipe_.right_factor) keep_right_factor();
  make_inverse(ctx);
}

void Factorisation::update(Context& ctx, CsrView<double> const& a, HostMatrix& host) {
  if (joint_) {
    Context::Entry const entry(ctx);
    arranged_->update(ctx, CsrStorage<double>(ctx, a).view(), sides_);
    make_joint_numbers(ctx);
    return make_inverse(ctx);
  }
  arrangement_.update(host.of(ctx, a));
  sides_ = arrangement_.sides();
  if (recipe_.fill == FillIn::complete) {
    factorise_completely(ctx.cancel_flag());
    drop_inverse();
    first_ = second_ = {};
    ++revision_;
  } else {
    factorise_on_pattern(ctx);
  }
  if (recipe_.right_factor) keep_right_factor();
  make_inverse(ctx);
}

/// Numbers on the patterns that there are. Which of both makes them is decided once, for factors
/// by size at the first update.
void Factorisation::factorise_on_pattern(Context& ctx) {
  Csr<double> const& B = arrangement_.matrix();
  if (!std::exchange(decided_, true) && ctx.space() != Space::host && !recipe_.right_factor &&
      arrangement_.nodes().empty() &&
      quicker_on_device(CostTable::shipped(ctx).factors, elimination_on(*factors_))) {
    // What M is made of stays where this fails.
    joint_ = std::make_shared<JointFactors>(
        ctx, inverse_ ? std::make_shared<TriangularFactors>(*factors_) : factors_);
    arranged_ = std::make_shared<ArrangedValues>(ctx, arrangement_);
    try {
      make_joint_numbers(ctx);
    } catch (...) {  // the factors that there are stay
      joint_ = nullptr, arranged_ = nullptr;
      throw;
    }
    factors_ = nullptr;
    if (inverse_) ++revision_;
    drop_inverse();
    return;
  }
  if (recipe_.symmetric)
    cholesky_on_pattern(B, *factors_, ctx.cancel_flag());
  else
    tcsolve::factorise_on_pattern(B, recipe_.pivot_floor, *factors_, ctx.cancel_flag());
}

void Factorisation::make_joint_numbers(Context& ctx) {
  if (recipe_.symmetric)
    joint_->factorise_definite(ctx, arranged_->matrix());
  else
    joint_->factorise(ctx, arranged_->matrix(), recipe_.pivot_floor);
}

std::shared_ptr<TriangularFactors const> Factorisation::factors(Context& ctx) const {
  return joint_ ? joint_->to_host(ctx) : factors_;
}

void Factorisation::factorise_completely(CancelFlag cancel) {
  Csr<double> const& B = arrangement_.matrix();
  if (arrangement_.rank() < B.rows)
    throw MatrixError(cat("the matrix is singular: of its ", B.rows, " rows, ", arrangement_.rank(),
                          " can be given columns of their own"));
  CompleteFactors complete;
  try {
    complete =
        recipe_.symmetric ? complete_cholesky(B, *order_, cancel) : complete_lu(B, *order_, cancel);
  } catch (SingularColumn const& e) {
    throw SingularColumn(arrangement_.sides().column[static_cast<std::size_t>(e.column)]);
  }
  factors_ = std::make_shared<TriangularFactors>(std::move(complete.factors));
  TwoSided const& outer = arrangement_.sides();
  for (Index i = 0; i < B.rows; ++i) {
    sides_.row[i] = outer.row[complete.row[i]];
    sides_.row_scale[i] = outer.row_scale[complete.row[i]];
    sides_.column[i] = outer.column[complete.column[i]];
    sides_.column_scale[i] = outer.column_scale[complete.column[i]];
  }
}

/// P A P^T = C^-1 L D L^T C^-1, so that R^-1 = C L^-T D^-1/2, between permutations.
void Factorisation::keep_right_factor() {
  Csr<double>& L = factors_->lower;
  L.columns = std::vector<Index>();
  L.values = std::vector<double>();
  std::fill(L.offsets.begin(), L.offsets.end(), 0);
  for (double& d : factors_->inverse_pivots) d = std::sqrt(d);
  std::fill(sides_.row_scale.begin(), sides_.row_scale.end(), 1.0);
}

/// What the exact solves go through.
std::shared_ptr<TriangularFactors const> Factorisation::exact_factors(Context& ctx) const {
  if (arrangement_.nodes().empty()) return factors(ctx);
  return std::make_shared<TriangularFactors>(by_blocks(*factors_, arrangement_.nodes()));
}

void Factorisation::choose_solves(Context& ctx) {
  if (ctx.space() == Space::host)
    recipe_.solves = recipe_.solves == TriangularSolves::isai ||
                             recipe_.solves == TriangularSolves::sweeps ||
                             recipe_.solves == TriangularSolves::parts
                         ? recipe_.solves
                         : TriangularSolves::exact;
  if (recipe_.solves != TriangularSolves::automatic) return;
  auto const entries = static_cast<double>(joint_ ? joint_->entries() : factors_->entries());
  Index const lower = joint_ ? joint_->lower_levels().levels
                      : recipe_.right_factor
                          ? 1
                          : level_order(exact_factors(ctx)->lower, true).levels();
  recipe_.solves = TriangularSolves::exact;
  if (recipe_.fill == FillIn::by_level) {
    if (lower > many_levels) recipe_.solves = TriangularSolves::isai;
    return;
  }
  Index const upper =
      joint_ ? joint_->upper_levels().levels : level_order(factors_->upper, false).levels();
  FactorRates const rates = CostTable::shipped(ctx).factors;
  if (host_seconds(rates, entries, rows()) < device_seconds(rates, entries, rows(), lower + upper))
    recipe_.solves = TriangularSolves::host;
}

void Factorisation::drop_inverse() {
  inverse_ = nullptr;
  renew_ = nullptr;
}

template <class S>
void Factorisation::make_isai(Context& ctx) {
  if (recipe_.corrections > 0 && joint_)  // of numbers that lie in the Context's space
    return keep(std::make_shared<SweptInverse<S>>(ctx, *joint_, sides_, recipe_.corrections,
                                                  recipe_.symmetric),
                [this](Context& c, SweptInverse<S>& inverse) {
                  inverse.update(c, *joint_, sides_, recipe_.symmetric);
                });
  if (recipe_.corrections > 0 && !recipe_.right_factor) {
    auto const made = factors(ctx);
    ApproximateTriangles const W = triangular_inverses(ctx, *made, recipe_.symmetric);
    return keep(std::make_shared<SweptInverse<S>>(ctx, *made, sides_, recipe_.corrections, &W),
                [this](Context& c, SweptInverse<S>& inverse) {
                  auto const now = factors(c);
                  ApproximateTriangles const V = triangular_inverses(c, *now, recipe_.symmetric);
                  inverse.update(c, *now, sides_, &V);
                });
  }
  auto const store_inverses = [this](Context& c) {
    InverseFactors inverses =
        inverse_factors(c, *factors(c), sides_, recipe_.symmetric && !recipe_.right_factor);
    store<S>(c, std::move(inverses.first), first_);
    store<S>(c, std::move(inverses.second), second_);
  };
  store_inverses(ctx);
  inverse_ = std::make_shared<Product<double>>(second_.product, first_.product);
  renew_ = store_inverses;
}

template <class S>
void Factorisation::make_on_host(Context& ctx) {
  if (!host_) host_ = std::make_shared<Context>(Backend::host, host_options(ctx));
  auto const made = std::make_shared<FactoredInverse<S>>(*host_, exact_factors(ctx), sides_);
  levels_ = made->levels();
  inverse_ = std::make_shared<OnHost>(host_, made);
  renew_ = [this, made](Context& c) { made->update(*host_, exact_factors(c), sides_); };
}

/// `factors(ctx)` are those that there are now.
template <class S, class Factors>
void Factorisation::make_exact(Context& ctx, Factors const& factors) {
  // Incomplete factors meet a sparse vector once in a solve, if at all.
  auto const reaches =
      recipe_.fill == FillIn::complete ? ReachOnDevice::searched : ReachOnDevice::never;
  auto const made = std::make_shared<FactoredInverse<S>>(ctx, factors(ctx), sides_, reaches);
  levels_ = made->levels();
  keep(made, [this, factors](Context& c, FactoredInverse<S>& inverse) {
    inverse.update(c, factors(c), sides_);
  });
}

void Factorisation::make_inverse(Context& ctx) {
  ctx.cancel_flag().check();
  choose_solves(ctx);
  if (inverse_) return renew_(ctx);
  by_stored_type(recipe_.values, [&]<class S>(S) {
    switch (recipe_.solves) {
      case TriangularSolves::isai: return make_isai<S>(ctx);
      case TriangularSolves::sweeps:
        return keep(std::make_shared<SweptInverse<S>>(ctx, *factors(ctx), sides_, recipe_.sweeps),
                    [this](Context& c, SweptInverse<S>& inverse) {
                      inverse.update(c, *factors(c), sides_);
                    });
      case TriangularSolves::parts:
        return keep(std::make_shared<PartsInverse<S>>(ctx, factors(ctx), sides_, recipe_.part),
                    [this](Context& c, PartsInverse<S>& inverse) {
                      inverse.update(c, factors(c), sides_);
                    });
      case TriangularSolves::host: return make_on_host<S>(ctx);
      default:
        if (joint_)
          return make_exact<S>(
              ctx, [this](Context&) { return std::shared_ptr<JointFactors const>(joint_); });
        return make_exact<S>(ctx, [this](Context& c) { return exact_factors(c); });
    }
  });
}

std::shared_ptr<LinearOperator<float> const> Factorisation::on_floats(Context& ctx) const {
  if (!first_.product) return float_product_of(name(), {inverse_->on_floats(ctx)});
  return float_product_of(name(), {second_.floats->view(ctx), first_.floats->view(ctx)});
}

bool Factorisation::found_singular() const {
  if (joint_ ? !joint_->complete() : !factors_->complete) return false;
  // Of a Cholesky factorisation: not positive, and positive where the diagonal is a little larger.
  constexpr double least_shift = 1e-3;
  double const shift = joint_ ? joint_->shift() : factors_->shift;
  Index const replaced = joint_ ? joint_->replaced() : factors_->replaced;
  return replaced > 0 || (shift > 0 && shift <= least_shift);
}

std::string Factorisation::details() const {
  Index const replaced = joint_ ? joint_->replaced() : factors_->replaced;
  double const shift = joint_ ? joint_->shift() : factors_->shift;
  Offset const kept = joint_ ? joint_->entries() : factors_->entries();
  double const entries = static_cast<double>(kept);
  double const of_A = static_cast<double>(std::max<Offset>(1, entries_of_A_));
  std::string text = arrangement_.text();
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", entries / of_A);
  text += cat(text.empty() ? "" : "; ", kept, " entries, ", ratio, " times A's");
  if (auto const& nodes = arrangement_.nodes(); !nodes.empty())
    text += cat("; by blocks, ", nodes.size() - 1, " nodes");
  if (joint_ ? joint_->complete() : factors_->complete) text += "; complete, since fill is little";
  if (recipe_.fill == FillIn::complete) text += "; by Eigen on the host";
  if (replaced > 0) text += cat("; ", replaced, " small pivots replaced");
  if (shift > 0) text += cat("; diagonal shifted by ", shift, " of itself");
  if (joint_) text += "; made on the device";
  if (recipe_.right_factor) text += "; its right factor";
  if (recipe_.solves == TriangularSolves::isai)
    text += cat("; sparse approximate inverses of the factors",
                recipe_.right_factor ? "" : cat(", corrected ", recipe_.corrections, " times"));
  else if (recipe_.solves == TriangularSolves::parts)
    text += cat("; solved in parts of ", recipe_.part, " rows");
  else if (recipe_.solves == TriangularSolves::sweeps)
    text += cat("; ", recipe_.sweeps, " Jacobi sweeps for each factor");
  else
    text += cat("; triangular solves in ", levels_, " levels",
                recipe_.solves == TriangularSolves::host ? ", on the host" : "");
  return text;
}

}  // namespace tcsolve
