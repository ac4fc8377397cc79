// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/auto_factory.hpp>

#include <tcsolve/formats/choose/lazy_operator.hpp>
#include <tcsolve/formats/choose/sparse_rates.hpp>
#include <tcsolve/io/plan_cache.hpp>
#include <tcsolve/version.hpp>

namespace tcsolve {

namespace {

/// Null where the values are to be scaled before csr holds them in fewer bits: such a matrix is
/// converted at once.
OperatorPtr<double> lazily(Context& ctx, CsrView<double> const& a, Plan const& plan) {
  try {
    return convert_lazily(ctx, a, plan);
  } catch (MatrixError const& e) {
    if (plan.request.values == Real::f64) throw;
    ctx.log(Severity::note, cat("format: not csr: ", e.what()));
    return nullptr;
  }
}

/// What was measured before, if it can still be had.
Format const* remembered(DiskCache const& cache, std::string const& key, Plan const& plan) {
  auto const known = cache.get(key);
  if (!known) return nullptr;
  for (Candidate const& c : plan.candidates)
    if (c.excluded.empty() && *known == c.format->name) return c.format;
  return nullptr;
}

/// The fastest by the clock, measured once for a pattern where there is a cache.
template <class Make>
OperatorPtr<double> measured(Context& ctx, Csr<double> const& a, Plan const& plan, double budget,
                             std::string const& device, DiskCache const* cache, Make const& make) {
  auto const timed = [&] {
    auto answer = autotune<double>(ctx, plan, budget, make);
    ctx.log(Severity::note, cat("format: ", text(answer)));
    return answer;
  };
  if (cache == nullptr) return timed().best;
  std::string const columns =
      plan.request.columns > 1 ? cat(plan.request.columns, " columns, ") : "";
  std::string const key = cat("format ", name(plan.request.values), ", ", columns, device, ", ",
                              version::release, ", ", pattern_key(a));
  if (Format const* const kept = remembered(*cache, key, plan)) {
    auto A = make(*kept);
    ctx.log(Severity::note, cat("format: ", kept->name, ", as measured before"));
    return A;
  }
  auto const answer = timed();
  std::string const why = cache->put(key, answer.taken->name);
  if (!why.empty()) ctx.log(Severity::note, cat("format: not kept in the cache: ", why));
  return answer.best;
}

}  // namespace

AutoFactory::AutoFactory(Params const& params, FormatList const& among)
    : MatrixFactory(params.matrix, among, nullptr), params_(params) {
  if (params_.conversion == Conversion::lazy && params_.autotune == Autotune::measure)
    throw Unsupported(
        "`autotune: measure` converts before the solve, `conversion: lazy` after it has begun; "
        "take one of them");
  if (!params_.calibration.empty()) table_ = CostTable::load(params_.calibration, among);
}

OperatorPtr<double> AutoFactory::build(Context& ctx, Csr<double> const& a,
                                       OperatorUse const& use) const {
  if (params_.autotune == Autotune::measure && ctx.options().deterministic)
    throw Unsupported(
        "`autotune: measure` chooses by the clock, and two runs may differ in their bits; it "
        "needs `deterministic: false`");
  if (params_.conversion == Conversion::lazy && ctx.options().deterministic)
    throw Unsupported(
        "`conversion: lazy` switches by the clock, and two runs may differ in their bits; it "
        "needs `deterministic: false`");
  Real const values = stored(use.vectors);
  if (params_.conversion == Conversion::lazy && use.vectors != Real::f64)
    throw Unsupported("`conversion: lazy` is for FP64 vectors; take `conversion: before`");
  OrderedMatrix given;
  OperatorUse here = use;
  if (use.ready == nullptr) given = as_given(ctx, a), here.ready = &given;
  CsrView<double> const& lies = here.ready->matrix->view();
  if (needs_no_plan(ctx, here)) {
    ctx.log(Severity::note, cat("format: ", among_.source().name, " (of ", lies.entries,
                                " entries: no format is weighed for so few)"));
    return among_.source()
        .factory.with(params_.matrix, among_.source(), among_)
        ->build(ctx, a, use);
  }
  CostTable const table = this->table(ctx);
  PlanRequest const request = this->request(ctx, here);
  Survey seen = here.ready->survey ? *here.ready->survey : survey(ctx, lies, among_);
  auto const all = [&] {
    seen.look(ctx, lies);
    return make_plan(seen.least(), request, table);
  };
  bool const tries =
      params_.autotune == Autotune::measure || params_.conversion == Conversion::lazy;
  Plan const plan = tries ? all() : make_plan(ctx, lies, seen, request, table);
  if (ctx.observed()) ctx.log(Severity::detail, text(plan));
  auto const make = [&](Format const& format) -> OperatorPtr<double> {
    if (values == Real::f64 && format.converted) {
      auto A = make_operator<double>(ctx, lies, format, &seen);
      decide_by_rates(*A, &table);
      return A;
    }
    // In FP64 csr may keep the arrays it is made of: what was given, not a copy that goes.
    OperatorUse with = values == Real::f64 ? use : here;
    with.seen = &seen, with.rates = &table;
    return format.factory.with(params_.matrix, format, among_)->build(ctx, a, with);
  };
  if (params_.autotune == Autotune::measure)
    return measured(ctx, a, plan, params_.budget, table.device, use.cache, make);
  if (params_.conversion == Conversion::lazy)
    if (auto A = lazily(ctx, source(a, values == Real::f64 ? use : here), plan)) return A;
  return first_possible(ctx, plan, make, all);
}

/// To weigh formats takes as long as some hundred products with a matrix of so few entries, in any
/// of them: on the host, which has no launch to spare.
bool AutoFactory::needs_no_plan(Context const& ctx, OperatorUse const& use) const {
  constexpr Offset few = 1000;
  return ctx.space() == Space::host && use.ready != nullptr && use.ready->matrix != nullptr &&
         use.ready->matrix->view().entries <= few && use.columns == 1 &&
         stored(use.vectors) == Real::f64 && params_.autotune == Autotune::none &&
         params_.conversion == Conversion::before && params_.expected_applies == 0 && !table_;
}

OrderedMatrix AutoFactory::order(Context& ctx, Csr<double> const& a, OperatorUse const& use) const {
  bool const left_alone = reorder() == Reorder::none || reorder() == Reorder::automatic;
  if (!left_alone || !needs_no_plan(ctx, use)) return MatrixFactory::order(ctx, a, use);
  OrderedMatrix ready;
  ready.order.measured = false;
  ready.matrix = use.ready->matrix;
  return ready;
}

CostTable AutoFactory::table(Context const& ctx) const {
  return table_ ? *table_ : CostTable::shipped(ctx);
}

PlanRequest AutoFactory::request(Context const& ctx, OperatorUse const& use) const {
  PlanRequest request = MatrixFactory::request(ctx, use);
  if (params_.expected_applies > 0) request.applies = params_.expected_applies;
  return request;
}

}  // namespace tcsolve
