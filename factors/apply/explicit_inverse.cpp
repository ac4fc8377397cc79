// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/explicit_inverse.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/operators/composite.hpp>

namespace tcsolve {

ExplicitInverse::ExplicitInverse(Context& ctx, CsrView<double> const& a, HostMatrix& host,
                                 std::string name, Real values, InverseMaker maker)
    : LinearOperator<double>(a.cols, a.cols),
      name_(std::move(name)),
      values_(values),
      maker_(std::move(maker)),
      entries_of_A_(a.entries) {
  if (maker_.there) {
    Context::Entry const entry(ctx);
    CsrStorage<double> const here(ctx, a);
    keep(ctx, maker_.there(ctx, here.view()));
    return;
  }
  make(ctx, host.of(ctx, a));
  if (maker_.numbers) make_numbers(ctx, a);
}

void ExplicitInverse::update(Context& ctx, CsrView<double> const& a, HostMatrix& host) {
  maker_.numbers ? make_numbers(ctx, a) : make(ctx, host.of(ctx, a));
}

void ExplicitInverse::make(Context& ctx, CsrView<double> const& on_host) {
  keep(ctx, maker_.make(ctx, on_host));
}

/// The factors become products in the type that they are stored in.
template <class Matrix>
void ExplicitInverse::keep(Context& ctx, std::vector<Matrix> made) {
  factors_.resize(made.size());
  by_stored_type(values_, [&]<class S>(S) {
    for (std::size_t k = 0; k < made.size(); ++k) {
      ctx.cancel_flag().check();
      store<S>(ctx, std::move(made[k]), factors_[k]);
    }
  });
  entries_ = 0;
  for (StoredProduct const& f : factors_) entries_ += f.pattern.entries;
  if (product_) return;
  product_ = factors_.back().product;
  for (std::size_t k = factors_.size() - 1; k-- > 0;)
    product_ = std::make_shared<Product<double>>(factors_[k].product, product_);
}

void ExplicitInverse::make_numbers(Context& ctx, CsrView<double> const& a) {
  Context::Entry const entry(ctx);
  CsrStorage<double> const here(ctx, a);
  maker_.numbers(ctx, here.view(), factors_);
}

std::shared_ptr<LinearOperator<float> const> ExplicitInverse::on_floats(Context& ctx) const {
  std::vector<OperatorPtr<float>> factors;
  for (StoredProduct const& f : factors_) factors.push_back(f.floats->view(ctx));
  return float_product_of(name_, std::move(factors));
}

std::string kept_entries(Offset kept, Offset of_A) {
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f",
                static_cast<double>(kept) / static_cast<double>(std::max<Offset>(1, of_A)));
  return cat(kept, " entries, ", ratio, " times A's");
}

std::string ExplicitInverse::details() const { return kept_entries(entries_, entries_of_A_); }

}  // namespace tcsolve
