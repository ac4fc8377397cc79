// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/stored_levels.hpp>

#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/precond/amg/level_scale.hpp>
#include <tcsolve/precond/amg/symmetric_operator.hpp>

namespace tcsolve {
namespace {

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
    // A plan takes longer than products with a small matrix can gain.
    constexpr Offset small = 100'000;
    if (a.entries < small) return made(formats().source());
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

/// Iterations that a conversion is to pay for.
constexpr double iterations = 25;

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

template <class T>
StoredLevels<T>::StoredLevels(Context& ctx, AmgHierarchy const& made) {
  AmgParams const& params = made.params();
  Real const values = types_of(ctx, params).values;
  bool const as_it_is = std::is_same_v<T, double> && values == Real::f64;
  Store<T> const store(ctx, params);
  double const products = 2.0 * params.degree * iterations;
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
      to.inverse = std::make_shared<SymmetricOperator<T>>(std::move(values), a.rows);
      to.values = real_of<T>;
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
    to.P = as(transfer.P(), {0, own, next, true, false}, nullptr, values, iterations).A;
    to.R = as(transfer.R(), {0, next, own, false, true}, nullptr, values, iterations).A;
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
void StoredLevels<T>::log_table(Context& ctx, AmgHierarchy const& made) const {
  ctx.log(
      Severity::detail,
      "amg: level       rows     entries  a row  strength  entries of P  values  MB      A, P, R");
  auto const megabytes = [](StoredLevel<T> const& l) {
    double bytes = 0;
    for (auto const& part : {l.A, l.P, l.R, l.inverse})
      if (part) bytes += part->cost(1).bytes - sizeof(T) * (double(part->rows()) + part->cols());
    return 1e-6 * bytes;
  };
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    AmgLevel const& level = made.levels()[l];
    StoredLevel<T> const& stored = levels_[l];
    bool const last = made.is_coarsest(l);
    char line[160];
    std::snprintf(line, sizeof line, "amg: %5zu %10d %11lld %6.1f  %8.4f  %12lld  %-6s  %-6.3g  ",
                  l + 1, static_cast<int>(level.rows), static_cast<long long>(level.entries),
                  double(level.entries) / std::max<Index>(1, level.rows), level.strength,
                  last ? 0LL : static_cast<long long>(made.transfer(l).interpolation_entries()),
                  name(stored.values), megabytes(stored));
    std::string const names =
        stored.inverse ? "inverse"
        : last         ? stored.A->name()
                       : cat(stored.A->name(), ", ", stored.P->name(), ", ", stored.R->name());
    ctx.log(Severity::detail, line + names);
  }
  for (auto const& [part, what] : names(SetupPart{})) {
    char line[96];
    std::snprintf(line, sizeof line, "amg: %-20s %8.2f ms", what, 1e3 * made.clock().seconds(part));
    ctx.log(Severity::detail, line);
  }
}

template class StoredLevels<double>;
template class StoredLevels<float>;

}  // namespace tcsolve
