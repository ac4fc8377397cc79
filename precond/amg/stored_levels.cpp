// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/stored_levels.hpp>

#include <cmath>
#include <optional>
#include <utility>

#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/precond/amg/level_scale.hpp>
#include <tcsolve/precond/amg/symmetric_operator.hpp>

namespace tcsolve {
namespace {

/// A plan takes longer than products with a smaller matrix can gain.
constexpr Offset planned_entries = 100'000;

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

  struct Stored {
    OperatorPtr<T> A;
    Real values;
  };
  /// The matrix scaled and rounded to `values`; in FP32 where it would lose an entry that `keep`
  /// (null: none) holds to be strong. `applies`: how often it is multiplied by, about.
  Stored operator()(CsrView<double> const& a, LevelScale const& scale, std::uint8_t const* keep,
                    Real values, double applies) const {
    if (values == Real::f16)
      if (auto A = scaled<half>(a, scale, keep, applies)) return {A, values};
    if (values == Real::bf16)
      if (auto A = scaled<bfloat16>(a, scale, keep, applies)) return {A, values};
    if constexpr (std::is_same_v<T, double>)
      if (values == Real::f64) return {scaled<double>(a, scale, nullptr, applies), values};
    return {scaled<float>(a, scale, nullptr, applies), Real::f32};
  }
  /// FP64 as it is; csr borrows the arrays.
  OperatorPtr<T> as_it_is(CsrView<T> const& a, double applies) const {
    return in_a_format<T>(a, a, Arrays::borrowed, applies);
  }

 private:
  template <class S>
  OperatorPtr<T> scaled(CsrView<double> const& a, LevelScale const& scale, std::uint8_t const* keep,
                        double applies) const {
    Array<S> values(ctx_.space(), static_cast<std::size_t>(a.entries));
    bool const lost = scale_entries(ctx_, a, scale, keep, values.data());
    if (lost && sizeof(S) == 2) return nullptr;
    CsrView<S> const narrow{a.rows,    a.cols,        a.entries, a.offsets,
                            a.columns, values.data(), a.space};
    return in_a_format<S>(a, narrow, Arrays::copied, applies);
  }

  template <class S>
  OperatorPtr<T> in_a_format(CsrView<double> const& a, CsrView<S> const& stored, Arrays arrays,
                             double applies) const {
    Survey seen = survey(ctx_, a);
    auto const made = [&](Format const& format) -> OperatorPtr<T> {
      if (!format.converted)
        return std::make_shared<CsrOperator<T, S>>(ctx_, CsrStorage<S>(ctx_, stored, arrays));
      try {
        return format.make<T, S>(ctx_, stored, &seen);
      } catch (MatrixError const&) {
      } catch (Unsupported const&) {
      } catch (MemoryError const&) {}
      return nullptr;
    };
    PlanRequest const request{
        .values = real_of<S>, .vectors = real_of<T>, .applies = applies, .persistent = false};
    if (named_ != nullptr) {
      seen.look(ctx_, a);
      if (why_not(*named_, seen.least(), request).empty())
        if (auto A = made(*named_)) return A;
      return made(formats().source());
    }
    if (a.entries < planned_entries) return made(formats().source());
    Plan const plan = make_plan(ctx_, a, seen, request, *table_);
    for (Candidate const& c : plan.candidates)
      if (c.excluded.empty())
        if (auto A = made(*c.format)) return A;
    return made(formats().source());
  }

  Context& ctx_;
  AmgParams const& params_;
  std::optional<CostTable> table_;
  Format const* named_ = nullptr;
};

/// The matrix G of full rows with these values.
template <class T>
OperatorPtr<T> full_rows(Context& ctx, CsrView<double> const& G, T const* values) {
  CsrView<T> const all{G.rows, G.cols, G.entries, G.offsets, G.columns, values, G.space};
  return std::make_shared<CsrOperator<T, T>>(ctx, CsrStorage<T>(ctx, all, Arrays::copied));
}

}  // namespace

AmgTypes types_of(Context const& ctx, AmgParams const& p) {
  // Narrow types are to be measured on a device before they are its default.
  AmgTypes types{ctx.device() != nullptr ? Real::f64 : Real::f32,
                 p.vectors == AmgVectors::f64 ? Real::f64 : Real::f32};
  switch (p.values) {
    case AmgValues::automatic: break;
    case AmgValues::f64: types.values = Real::f64; break;
    case AmgValues::f32: types.values = Real::f32; break;
    case AmgValues::f16: types.values = Real::f16; break;
    case AmgValues::bf16: types.values = Real::bf16; break;
  }
  if (p.vectors == AmgVectors::automatic && types.values == Real::f64) types.vectors = Real::f64;
  return types;
}

double stored_bytes(Context& ctx, AmgParams const& params, CsrView<double> const& a,
                    double applies) {
  auto const [values, vectors] = types_of(ctx, params);
  bool const borrowed = values == Real::f64 && vectors == Real::f64;
  double const csr =
      borrowed ? 0.0 : (double(size_of(values)) + 4) * double(a.entries) + 4.0 * a.rows;
  if (params.format != "auto" || a.entries < planned_entries) return csr;
  Survey seen = survey(ctx, a);
  Plan const plan = make_plan(
      ctx, a, seen, {.values = values, .vectors = vectors, .applies = applies, .persistent = false},
      CostTable::shipped(ctx));
  Candidate const& taken = plan.candidates.front();
  return taken.format->converted ? taken.bytes : csr;
}

template <class T>
StoredLevels<T>::StoredLevels(Context& ctx, AmgHierarchy const& made) {
  AmgParams const& params = made.params();
  Real const values = types_of(ctx, params).values;
  bool const as_it_is = std::is_same_v<T, double> && values == Real::f64;
  Store<T> const store(ctx, params);
  double const products = 2.0 * params.degree * amg_iterations;
  int const h = as_it_is ? 0 : largest_exponent(ctx, made.matrix(0));
  std::vector<Array<double>> scales;
  auto const scale_of = [&](std::size_t l) { return as_it_is ? nullptr : scales[l].data(); };
  for (std::size_t l = 0; l < made.levels().size(); ++l) {
    CsrView<double> const a = made.matrix(l);
    if (as_it_is) continue;
    scales.emplace_back(ctx.space(), static_cast<std::size_t>(a.rows));
    level_scale(ctx, a, h, scales[l].data());
  }
  for (std::size_t l = 0; l < made.levels().size(); ++l) {
    AmgLevel const& from = made.levels()[l];
    StoredLevel<T>& to = levels_.emplace_back();
    CsrView<double> const a = made.matrix(l);
    double const *const own = scale_of(l), *const next =
                                               made.is_coarsest(l) ? nullptr : scale_of(l + 1);
    auto const as = [&](CsrView<double> const& m, LevelScale const& scale, std::uint8_t const* keep,
                        Real type, double applies) -> typename Store<T>::Stored {
      if constexpr (std::is_same_v<T, double>)
        if (as_it_is) return {store.as_it_is(m, applies), Real::f64};
      return store(m, scale, keep, type, applies);
    };
    to.rows = from.rows;
    to.lambda_max = from.lambda_max;
    ctx.cancel_flag().check();
    if (made.is_coarsest(l) && made.inverse()) {
      CsrView<double> const G = made.inverse()->view();
      Array<T> values(ctx.space(), static_cast<std::size_t>(G.entries));
      scale_entries(ctx, G, {h, own, own, true, true}, nullptr, values.data());
      to.values = real_of<T>;
      if (made.symmetric())
        to.inverse = std::make_shared<SymmetricOperator<T>>(std::move(values), a.rows);
      else
        to.inverse = full_rows<T>(ctx, G, values.data());
      continue;
    }
    to.weights = Array<T>(ctx.space(), static_cast<std::size_t>(a.rows));
    if constexpr (std::is_same_v<T, double>)
      if (as_it_is) copy<double, double>(ctx, from.weights.view(), to.weights.view());
    if (!as_it_is) scale_weights(ctx, from.weights.data(), h, own, a.rows, to.weights.data());
    bool const given = as_it_is && l == 0 && params.format == "auto";
    if constexpr (std::is_same_v<T, double>)
      if (given) to.A = from.A;
    if (!given) {
      std::uint8_t const* const keep = made.is_coarsest(l) ? nullptr : made.transfer(l).strong();
      auto A = as(a, {-h, own, own}, keep, values, products);
      to.A = std::move(A.A), to.values = A.values;
    }
    if (made.is_coarsest(l)) continue;
    AmgTransfer const& transfer = made.transfer(l);
    to.P = as(transfer.P(), {0, own, next, true, false}, nullptr, values, amg_iterations).A;
    to.R = as(transfer.R(), {0, next, own, false, true}, nullptr, values, amg_iterations).A;
  }
  if (as_it_is) return;
  scale_ = std::move(scales.front());
  factor_ = std::ldexp(1.0, -h);
}

template <class T>
std::string StoredLevels<T>::summary() const {
  std::string text;
  for (StoredLevel<T> const& l : levels_)
    text +=
        cat(text.empty() ? "" : ", ", (l.inverse ? l.inverse : l.A)->name(), " ", name(l.values));
  return text;
}

template <class T>
HierarchyFacts StoredLevels<T>::facts(AmgHierarchy const& made) const {
  HierarchyFacts facts = made.facts();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    StoredLevel<T> const& stored = levels_[l];
    LevelFacts& level = facts.levels[l];
    level.values = name(stored.values);
    level.formats = stored.inverse ? "inverse"
                    : stored.P
                        ? cat(stored.A->name(), ", ", stored.P->name(), ", ", stored.R->name())
                        : stored.A->name();
    for (auto const& part : {stored.A, stored.P, stored.R, stored.inverse})
      if (part)
        level.bytes += part->cost(1).bytes - sizeof(T) * (double(part->rows()) + part->cols());
  }
  return facts;
}

template class StoredLevels<double>;
template class StoredLevels<float>;

}  // namespace tcsolve
