// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/choose/sparse_rates.hpp>

#include <algorithm>

#include <tcsolve/formats/choose/planner.hpp>

namespace tcsolve {

void dense_by_plan(Context& ctx, CsrOperator<double>& A, CostTable const* table) {
  Context::Entry const entry(ctx);
  CostTable const by = table != nullptr ? *table : CostTable::shipped(ctx);
  CsrView<double> const& a = A.view();
  Survey seen = survey(ctx, a);
  seen.look(ctx, a);
  double const resident = formats().source().layout(seen.least(), Real::f64).stored;
  Plan plan = make_plan(
      seen.least(),
      {.persistent = false, .memory = 0.9 * double(ctx.available_memory()) + resident}, by);
  std::erase_if(plan.candidates, [](Candidate const& c) { return !c.excluded.empty(); });
  std::ranges::stable_sort(plan.candidates, {}, &Candidate::product);
  for (Candidate const& c : plan.candidates) {
    try {
      DenseProduct<double> best{.us = c.product};
      if (c.format->converted)
        best.A = make_operator<double>(ctx, a, *c.format, &seen);
      else
        best.A = std::make_shared<CsrOperator<double>>(ctx, a, Arrays::borrowed);
      decide_by_rates(A, &by);
      return A.dense_by(std::move(best));
    } catch (MemoryError const&) {
      if (!c.format->converted) throw;
    } catch (MatrixError const&) {  // more padding than was foreseen
    }
  }
}

}  // namespace tcsolve
