// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/stored_levels.hpp>

#include <cmath>
#include <optional>
#include <utility>

#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/operators/cast.hpp>
#include <tcsolve/precond/amg/level_scale.hpp>
#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/sparse/rows.hpp>

namespace tcsolve {
namespace {

/// A plan takes longer than products with a smaller matrix can gain.
constexpr Offset planned_entries = 100'000;

/// Whether a level of so many rows may take the format: of few a whole solve is one kernel where
/// the formats have a form in it.
bool suits(Context const& ctx, Format const& format, Index rows) {
  constexpr Index few = 1 << 16;
  return ctx.device() == nullptr || rows > few || format.can.persistent;
}

/// By the rows alone, where a plan is not to be thorough: what else formats go by takes passes over
/// the matrix that it does not give back. With `bytes` what the first format takes is known too.
Plan plan_of(Context& ctx, CsrView<double> const& a, Survey& seen, PlanRequest const& request,
             CostTable const& table, bool thorough, bool bytes) {
  if (!thorough) return make_plan(seen.most(), request, table);
  if (!bytes) {
    Plan choice = make_choice(ctx, a, seen, request, table);
    if (suits(ctx, choice.taken(), a.rows)) return choice;
  }
  return make_plan(ctx, a, seen, request, table);
}

/// What a matrix of a level is multiplied for.
struct LevelUse {
  double applies;  ///< about
  /// The plan looks for diagonals, tiles and blocks: the finest matrix has the larger part of a
  /// cycle's products, and nodes of several rows have blocks.
  bool thorough;
  /// The values are those of a matrix that the type holds.
  bool holds = false;
};

/// Stores matrices in formats. T is the type of the vectors.
template <class T>
class Store {
 public:
  Store(Context& ctx, AmgParams const& params) : ctx_(ctx), params_(params) {
    if (params.format == "auto")
      table_ = CostTable::shipped(ctx);
    else
      named_ = &formats().at(params.format);
  }

  /// The matrix scaled and rounded to `values`; in FP32 where it would lose an entry that `keep`
  /// (null: none) holds to be strong.
  LevelMatrix<T> operator()(CsrView<double> const& a, LevelScale const& scale,
                            std::uint8_t const* keep, Real values, LevelUse const& use) const {
    LevelMatrix<T> made;
    auto const as = [&]<class S>(S) {
      auto scope = ctx_.arena().scope();
      if (auto const narrow = scaled<S>(a, scale, keep, use.holds, scope))
        made = in_a_format<S>(a, *narrow, Arrays::copied, use);
      return made.A != nullptr;
    };
    if (values == Real::f16 && as(half())) return made;
    if (values == Real::bf16 && as(bfloat16())) return made;
    if constexpr (std::is_same_v<T, double>)
      if (values == Real::f64 && as(double())) return made;
    as(float());
    return made;
  }
  /// FP64 as it is; csr borrows the arrays.
  LevelMatrix<T> as_it_is(CsrView<T> const& a, LevelUse const& use) const {
    return in_a_format<T>(a, a, Arrays::borrowed, use);
  }

  /// New values for what operator() made of `values`; false where it does not hold them, or where
  /// the old ones lost an entry by it and these do not.
  bool renew(LevelMatrix<T> const& made, CsrView<double> const& a, LevelScale const& scale,
             std::uint8_t const* keep, Real values, LevelUse const& use) const {
    if (made.values != values && holds_now(a, scale, keep, values)) return false;
    auto const as = [&]<class S>(S) {
      auto scope = ctx_.arena().scope();
      auto const narrow = scaled<S>(a, scale, keep, use.holds, scope);
      return narrow && give<S>(made, *narrow);
    };
    if (made.values == Real::f16) return as(half());
    if (made.values == Real::bf16) return as(bfloat16());
    if constexpr (std::is_same_v<T, double>)
      if (made.values == Real::f64) return as(double());
    return as(float());
  }
  /// For what as_it_is() made. What csr borrows has its new values already, where it is not the
  /// caller's matrix that lies elsewhere now.
  bool renew_as_it_is(LevelMatrix<T> const& made, CsrView<T> const& a) const {
    if (made.borrowed) {
      CsrView<T> const& at_hand = dynamic_cast<CsrOperator<T> const&>(*made.A).view();
      if (at_hand.values == a.values && at_hand.columns == a.columns) return true;
    }
    return give<T>(made, a);
  }

 private:
  /// Nothing where 16 bits lose an entry, unless it is known that they hold them all.
  template <class S>
  std::optional<CsrView<S>> scaled(CsrView<double> const& a, LevelScale const& scale,
                                   std::uint8_t const* keep, bool holds,
                                   Arena::Scope& scope) const {
    S* const values = scope.take<S>(static_cast<std::size_t>(a.entries));
    if (holds || sizeof(S) > 2)
      scale_entries(ctx_, a, scale, values);
    else if (scale_entries(ctx_, a, scale, keep, values))
      return std::nullopt;
    return CsrView<S>{a.rows, a.cols, a.entries, a.offsets, a.columns, values, a.space};
  }

  /// Whether 16 bits that have lost an entry hold these.
  bool holds_now(CsrView<double> const& a, LevelScale const& scale, std::uint8_t const* keep,
                 Real values) const {
    auto scope = ctx_.arena().scope();
    if (values == Real::f16) return scaled<half>(a, scale, keep, false, scope).has_value();
    return values == Real::bf16 && scaled<bfloat16>(a, scale, keep, false, scope).has_value();
  }

  template <class S>
  bool give(LevelMatrix<T> const& made, CsrView<S> const& a) const {
    try {
      std::get<Maker<T, S>>(made.format->makers).update_values(ctx_, *made.A, a);
      return true;
    } catch (MatrixError const&) {
    } catch (Unsupported const&) {}
    return false;
  }

  template <class S>
  LevelMatrix<T> in_a_format(CsrView<double> const& a, CsrView<S> const& stored, Arrays arrays,
                             LevelUse const& use) const {
    auto const made = [&](Format const& format, Survey const* seen) -> LevelMatrix<T> {
      LevelMatrix<T> one{nullptr, &format, real_of<S>,
                         !format.converted && arrays == Arrays::borrowed};
      if (!format.converted)
        one.A = std::make_shared<CsrOperator<T, S>>(ctx_, CsrStorage<S>(ctx_, stored, arrays),
                                                    CsrNorm::left_out);
      else
        try {
          one.A = format.make<T, S>(ctx_, stored, seen);
        } catch (MatrixError const&) {
        } catch (Unsupported const&) {
        } catch (MemoryError const&) {}
      return one;
    };
    PlanRequest const request{
        .values = real_of<S>, .vectors = real_of<T>, .applies = use.applies, .persistent = false};
    Format const& csr = formats().source();
    if (named_ == nullptr && a.entries < planned_entries) return made(csr, nullptr);
    Survey seen = survey(ctx_, a);
    if (named_ != nullptr) {
      seen.look(ctx_, a);
      if (why_not(*named_, seen.least(), request).empty())
        if (auto one = made(*named_, &seen); one.A) return one;
      return made(csr, nullptr);
    }
    Plan const plan = plan_of(ctx_, a, seen, request, *table_, use.thorough, false);
    for (Candidate const& c : plan.candidates)
      if (c.excluded.empty() && suits(ctx_, *c.format, a.rows))
        if (auto one = made(*c.format, &seen); one.A) return one;
    return made(csr, nullptr);
  }

  Context& ctx_;
  AmgParams const& params_;
  std::optional<CostTable> table_;
  Format const* named_ = nullptr;
};

/// The matrices of levels are those of the hierarchy.
template <class T>
bool stored_as_it_is(Context const& ctx, AmgParams const& params) {
  return std::is_same_v<T, double> && types_of(ctx, params).values == Real::f64;
}

}  // namespace

AmgTypes types_of(Context const& ctx, AmgParams const& p) {
  AmgTypes types{Real::f32, p.vectors == AmgVectors::f64 ? Real::f64 : Real::f32};
  bool const named = p.values != AmgValues::automatic;
  switch (named ? p.values : automatic_values(ctx.device() != nullptr)) {
    case AmgValues::automatic: break;
    case AmgValues::f64: types.values = Real::f64; break;
    case AmgValues::f32: types.values = Real::f32; break;
    case AmgValues::f16: types.values = Real::f16; break;
    case AmgValues::bf16: types.values = Real::bf16; break;
  }
  bool const wide = types.values == Real::f64 || p.fp64_levels > 0;
  if (p.vectors == AmgVectors::automatic && wide) types.vectors = Real::f64;
  return types;
}

Real values_of(Context const& ctx, AmgParams const& p, std::size_t level) {
  return static_cast<int>(level) < p.fp64_levels ? Real::f64 : types_of(ctx, p).values;
}

double stored_bytes(Context& ctx, AmgParams const& params, Real values, CsrView<double> const& a,
                    double applies, bool thorough, bool held_anyway) {
  auto const [all, vectors] = types_of(ctx, params);
  bool const borrowed = held_anyway && all == Real::f64 && vectors == Real::f64;
  double const csr =
      borrowed ? 0.0 : (double(size_of(values)) + 4) * double(a.entries) + 4.0 * a.rows;
  if (params.format != "auto" || a.entries < planned_entries) return csr;
  Survey seen = survey(ctx, a);
  PlanRequest const request{
      .values = values, .vectors = vectors, .applies = applies, .persistent = false};
  Plan const plan = plan_of(ctx, a, seen, request, CostTable::shipped(ctx), thorough, true);
  for (Candidate const& c : plan.candidates)
    if (c.excluded.empty() && suits(ctx, *c.format, a.rows))
      return c.format->converted ? c.bytes : csr;
  return csr;
}

template <class T>
void StoredLevels<T>::take_inverse(Context& ctx, AmgHierarchy const& made, std::size_t l, int h,
                                   double const* scale) {
  StoredLevel<T>& to = levels_[l];
  CsrView<double> const G = made.inverse()->view();
  to.values = real_of<T>;
  LevelScale const by{h, scale, scale, true, true};
  Held& held = held_[l];
  if (made.symmetric()) {
    if (!held.inverse)
      held.inverse = std::make_shared<SymmetricOperator<T>>(
          Array<T>(ctx.space(), static_cast<std::size_t>(G.entries)), G.rows);
    scale_entries(ctx, G, by, held.inverse->values());
    to.inverse = held.inverse;
    return;
  }
  auto scope = ctx.arena().scope();
  T* const values = scope.template take<T>(static_cast<std::size_t>(G.entries));
  scale_entries(ctx, G, by, values);
  CsrView<T> const all{G.rows, G.cols, G.entries, G.offsets, G.columns, values, G.space};
  if (held.general)
    held.general->update_values(ctx, all);
  else
    held.general = std::make_shared<CsrOperator<T>>(ctx, CsrStorage<T>(ctx, all, Arrays::copied),
                                                    CsrNorm::left_out);
  to.inverse = held.general;
}

template <class T>
template <class F>
void StoredLevels<T>::with_scaled(Context& ctx, CsrView<double> a, int h, double const* scale,
                                  F const& f) {
  auto scope = ctx.arena().scope();
  auto const room = [&] {
    return scope.template take<double>(static_cast<std::size_t>(a.entries));
  };
  if (scale != nullptr) {
    auto* const scaled = room();
    scale_entries(ctx, a, {-h, scale, scale}, scaled);
    a.values = scaled;
  }
  auto* const values = room();
  submit(ctx, FillZeroRows{a.rows, a, values});
  a.values = values;
  f(a);
}

template <class T>
void StoredLevels<T>::take_smoother(Context& ctx, AmgHierarchy const& made, std::size_t l, int h,
                                    double const* scale) {
  std::optional<LevelSmoother>& held = held_[l].smoother;
  with_scaled(ctx, made.matrix(l), h, scale, [&](CsrView<double> const& a) {
    if (held)
      held->update(ctx, a);
    else
      held.emplace(ctx, made.params().smoother, real_of<T>, a, made.params().lanczos_steps);
  });
  StoredLevel<T>& to = levels_[l];
  to.S = on_vectors_of<T>(ctx, held->S());
  fill<T>(ctx, to.weights.view(), T(held->weight()));
}

template <class T>
bool StoredLevels<T>::take_factors(Context& ctx, AmgHierarchy const& made, std::size_t l, int h,
                                   double const* scale) {
  std::optional<CoarseFactors>& held = held_[l].factors;
  StoredLevel<T>& to = levels_[l];
  auto const refused = [&](char const* why) {
    ctx.log(Severity::note, cat("amg: coarse: direct: ", why, "; the coarsest level is smoothed"));
    held.reset();
    to.inverse = nullptr;
    return false;
  };
  try {
    with_scaled(ctx, made.matrix(l), h, scale, [&](CsrView<double> const& a) {
      if (held)
        held->update(ctx, a);
      else
        held.emplace(ctx, real_of<T>, a, made.symmetric());
    });
  } catch (SetupError const& e) { return refused(e.what()); } catch (MatrixError const& e) {
    return refused(e.what());
  } catch (MemoryError const& e) { return refused(e.what()); }
  to.inverse = on_vectors_of<T>(ctx, held->M());
  to.values = real_of<T>;
  return true;
}

template <class T>
template <class F>
void StoredLevels<T>::take_numbers(Context& ctx, AmgHierarchy const& made, F const& f) {
  bool const as_it_is = stored_as_it_is<T>(ctx, made.params());
  double const products = 2.0 * made.params().degree * amg_iterations;
  std::size_t const all = made.levels().size();
  auto scope = ctx.arena().scope();
  std::vector<double*> scales(all, nullptr);
  int h = 0;
  for (std::size_t l = 0; l < all && !as_it_is; ++l) {
    CsrView<double> const a = made.matrix(l);
    if (l == 0) scale_.resize(ctx.space(), static_cast<std::size_t>(a.rows));
    Out<double> const s = l == 0 ? scale_.view() : scope.template vector<double>(a.rows);
    sparse::diagonal<double>(ctx, a, s);
    if (l == 0) h = largest_exponent(ctx, s);
    level_scale(ctx, h, s);
    scales[l] = s.data;
  }
  factor_ = std::ldexp(1.0, -h);
  for (std::size_t l = 0; l < all; ++l) {
    AmgLevel const& from = made.levels()[l];
    StoredLevel<T>& to = levels_[l];
    CsrView<double> const a = made.matrix(l);
    Real const values = values_of(ctx, made.params(), l);
    double const *const own = scales[l], *const next =
                                             made.is_coarsest(l) ? nullptr : scales[l + 1];
    to.rows = from.rows;
    to.lambda_max = from.lambda_max;
    ctx.cancel_flag().check();
    if (made.is_coarsest(l) && made.inverse()) {
      take_inverse(ctx, made, l, h, own);
      continue;
    }
    if (made.is_coarsest(l) && made.params().coarse == AmgCoarse::direct &&
        take_factors(ctx, made, l, h, own))
      continue;
    to.weights.resize(ctx.space(), static_cast<std::size_t>(a.rows));
    if constexpr (std::is_same_v<T, double>)
      if (as_it_is) copy<double, double>(ctx, from.weights.view(), to.weights.view());
    bool const by_operator = level_smoother_factory(made.params().smoother, Real::f64) != nullptr;
    if (by_operator)
      take_smoother(ctx, made, l, h, own);
    else if (!as_it_is)
      scale_weights(ctx, from.weights.data(), h, own, a.rows, to.weights.data());
    bool const given = as_it_is && l == 0 && made.params().format == "auto";
    if constexpr (std::is_same_v<T, double>)
      if (given) to.A = from.A;
    if (!given) {
      std::uint8_t const* const keep =
          made.is_coarsest(l) ? nullptr : made.transfer(l).endangered();
      bool const thorough = l == 0 || made.node_rows(l) > 1;
      f(held_[l].A, a, LevelScale{-h, own, own}, keep, values, LevelUse{products, thorough});
      to.A = held_[l].A.A, to.values = held_[l].A.values;
    }
    if (made.is_coarsest(l)) continue;
    AmgTransfer const& transfer = made.transfer(l);
    to.gain = transfer.plain() ? made.params().overcorrection : 1;
    LevelUse const once{amg_iterations, false};
    f(held_[l].P, transfer.P(), LevelScale{0, own, next, true, false}, nullptr, values, once);
    LevelUse const as_P{once.applies, once.thorough, true};
    f(held_[l].R, transfer.R(), LevelScale{0, next, own, false, true}, nullptr, held_[l].P.values,
      as_P);
    to.P = held_[l].P.A, to.R = held_[l].R.A;
  }
}

template <class T>
StoredLevels<T>::StoredLevels(Context& ctx, AmgHierarchy const& made)
    : levels_(made.levels().size()), held_(levels_.size()) {
  bool const as_it_is = stored_as_it_is<T>(ctx, made.params());
  Store<T> const store(ctx, made.params());
  take_numbers(ctx, made,
               [&](LevelMatrix<T>& held, CsrView<double> const& a, LevelScale const& scale,
                   std::uint8_t const* keep, Real values, LevelUse const& use) {
                 if constexpr (std::is_same_v<T, double>)
                   if (as_it_is) {
                     held = store.as_it_is(a, use);
                     return;
                   }
                 held = store(a, scale, keep, values, use);
               });
}

template <class T>
bool StoredLevels<T>::renew(Context& ctx, AmgHierarchy const& made) {
  bool const as_it_is = stored_as_it_is<T>(ctx, made.params());
  Store<T> const store(ctx, made.params());
  bool holds = made.levels().size() == levels_.size();
  if (!holds) return false;
  take_numbers(ctx, made,
               [&](LevelMatrix<T>& held, CsrView<double> const& a, LevelScale const& scale,
                   std::uint8_t const* keep, Real values, LevelUse const& use) {
                 holds = holds && held.A;  // solved before, and not now
                 if (!holds) return;
                 if constexpr (std::is_same_v<T, double>)
                   if (as_it_is) {
                     holds = store.renew_as_it_is(held, a);
                     return;
                   }
                 holds = store.renew(held, a, scale, keep, values, use);
               });
  return holds;
}

template <class T>
std::vector<AmgInPlace> StoredLevels<T>::in_place() const {
  std::vector<AmgInPlace> read;
  for (std::size_t l = 0; l + 1 < held_.size(); ++l)
    read.push_back({held_[l].P.borrowed, held_[l].R.borrowed, held_[l + 1].A.borrowed});
  return read;
}

template <class T>
std::string StoredLevels<T>::summary() const {
  std::string text;
  for (StoredLevel<T> const& l : levels_)
    text +=
        cat(text.empty() ? "" : ", ", (l.inverse ? l.inverse : l.A)->name(), " ", name(l.values));
  return cat(text, "; the coarsest is ",
             held_.back().factors     ? "factored"
             : levels_.back().inverse ? "inverted"
                                      : "smoothed");
}

template <class T>
HierarchyFacts StoredLevels<T>::facts(AmgHierarchy const& made) const {
  HierarchyFacts facts = made.facts();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    StoredLevel<T> const& stored = levels_[l];
    LevelFacts& level = facts.levels[l];
    level.values = name(stored.values);
    level.formats = held_[l].factors ? "factors"
                    : stored.inverse ? "inverse"
                    : stored.P
                        ? cat(stored.A->name(), ", ", stored.P->name(), ", ", stored.R->name())
                        : stored.A->name();
    if (stored.S) {
      level.formats += cat("; ", stored.S->name());
      level.bytes += stored.S->cost(0).bytes;
    }
    for (auto const& part : {stored.A, stored.P, stored.R, stored.inverse})
      if (part)
        level.bytes += part->cost(1).bytes - sizeof(T) * (double(part->rows()) + part->cols());
  }
  return facts;
}

template <class T>
std::vector<double> StoredLevels<T>::product_times(Context& ctx) const {
  constexpr double seconds = 0.02;  // of each level
  std::vector<double> times;
  for (StoredLevel<T> const& l : levels_)
    times.push_back(time_product<T>(ctx, *(l.inverse ? l.inverse : l.A), seconds, 1).median);
  return times;
}

template class StoredLevels<double>;
template class StoredLevels<float>;

}  // namespace tcsolve
