// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/normal_ic/normal_ic.hpp>

#include <algorithm>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/precond/from_factors.hpp>

namespace tcsolve {
namespace {

Csr<double> normal_matrix_of(Context& ctx, System const& system) {
  return with_host(ctx, system,
                   [&](CsrView<double> const& a) { return normal_matrix(a, ctx.cancel_flag()); });
}

/// The factors of A^T A, which is made anew for new values.
class OwnedNormalFactors final : public Preconditioner {
 public:
  explicit OwnedNormalFactors(std::unique_ptr<Preconditioner> factors)
      : factors_(std::move(factors)) {}
  OperatorPtr<double> view() const override { return factors_->view(); }
  void update(Context& ctx, System const& system) override {
    Csr<double> const N = normal_matrix_of(ctx, system);
    factors_->update(ctx, {N.view(), nullptr});
  }

 private:
  std::unique_ptr<Preconditioner> factors_;
};

}  // namespace

Csr<double> normal_matrix(CsrView<double> const& a, CancelFlag cancel) {
  double products = 0;
  for (Index i = 0; i < a.rows; ++i) {
    auto const length = static_cast<double>(a.offsets[i + 1] - a.offsets[i]);
    products += length * length;
  }
  if (24 * products > available_memory())
    throw MemoryError(cat("normal_ic: A^T A may have ", static_cast<std::int64_t>(products),
                          " entries, since A has long rows; take column_scaling"));
  Csr<double> const t = transpose(a);
  Csr<double> N;
  N.rows = N.cols = a.cols;
  std::vector<double> sum(a.cols, 0.0);
  std::vector<Index> last(a.cols, -1), columns;
  CancelEvery at_times(cancel, std::int64_t{1} << 20);  // products
  for (Index j = 0; j < a.cols; ++j) {
    columns.assign(1, j);
    last[j] = j;
    sum[j] = 0;
    for (Offset e = t.offsets[j]; e < t.offsets[j + 1]; ++e) {
      Index const i = t.columns[e];
      at_times.add(4 + a.offsets[i + 1] - a.offsets[i]);
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        Index const c = a.columns[k];
        if (last[c] != j) {
          last[c] = j;
          sum[c] = 0;
          columns.push_back(c);
        }
        sum[c] += t.values[e] * a.values[k];
      }
    }
    std::ranges::sort(columns);
    if (sum[j] == 0) sum[j] = 1;
    for (Index const c : columns) {
      N.columns.push_back(c);
      N.values.push_back(sum[c]);
    }
    N.offsets.push_back(N.entries());
  }
  return N;
}

FactorRecipe NormalIcFactory::recipe() const {
  Params const& p = checked(params_, "normal_ic");
  return {.name = "normal_ic",
          .symmetric = true,
          .right_factor = true,
          .fill = FillIn::by_size,
          .drop_tolerance = p.drop_tolerance,
          .fill_factor = p.fill_factor,
          .arrangement = {UseMatching::off, FactorScaling::diagonal, p.order},
          .values = real(p.values),
          .solves = p.triangular,
          .sweeps = p.sweeps};
}

std::unique_ptr<Preconditioner> NormalIcFactory::build(Context& ctx, System const& system) const {
  if (system.notes && system.notes->look<FactorPlan>(id()))
    return std::make_unique<OwnedNormalFactors>(from_factors(ctx, system, recipe(), id()));
  Csr<double> const N = normal_matrix_of(ctx, system);
  return std::make_unique<OwnedNormalFactors>(
      from_factors(ctx, {N.view(), nullptr}, recipe(), id()));
}

MemoryNeed NormalIcFactory::memory(Context& ctx, System const& system) const {
  Csr<double> const N = normal_matrix_of(ctx, system);
  MemoryNeed need = factors_need(ctx, {N.view(), nullptr, system.notes}, recipe(), id());
  need.passing += 12.0 * static_cast<double>(N.entries() + system.matrix.entries);
  return need;
}

}  // namespace tcsolve
