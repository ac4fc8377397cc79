// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/explicit_inverse.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <tcsolve/factors/stored_product.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/operators/composite.hpp>

namespace tcsolve {

ExplicitInverse::ExplicitInverse(Context& ctx, CsrView<double> const& a, std::string name,
                                 Real values, InverseMaker maker)
    : LinearOperator<double>(a.cols, a.cols),
      name_(std::move(name)),
      values_(values),
      maker_(std::move(maker)),
      entries_of_A_(a.entries) {
  make(ctx, a);
  if (maker_.numbers) make_numbers(ctx, a);
}

void ExplicitInverse::update(Context& ctx, CsrView<double> const& a) {
  maker_.numbers ? make_numbers(ctx, a) : make(ctx, a);
}

void ExplicitInverse::make(Context& ctx, CsrView<double> const& a) {
  std::vector<Csr<double>> made =
      a.space == Space::host ? maker_.make(ctx, a) : maker_.make(ctx, to_host(ctx, a).view());
  factors_.resize(made.size());
  entries_ = 0;
  for (Csr<double> const& f : made) entries_ += f.entries();
  by_stored_type(values_, [&]<class S>(S) {
    for (std::size_t k = 0; k < made.size(); ++k) {
      ctx.cancel_flag().check();
      factors_[k] = stored_product<S>(ctx, std::move(made[k]), factors_[k]);
    }
  });
  if (product_) return;
  product_ = factors_.back();
  for (std::size_t k = factors_.size() - 1; k-- > 0;)
    product_ = std::make_shared<Product<double>>(factors_[k], product_);
}

void ExplicitInverse::make_numbers(Context& ctx, CsrView<double> const& a) {
  Context::Entry const entry(ctx);
  CsrStorage<double> const here(ctx, a);
  std::vector<StoredFactor> stored;
  by_stored_type(values_, [&]<class S>(S) {
    for (OperatorPtr<double> const& f : factors_)
      stored.push_back({csr_pattern<S>(*f), std::const_pointer_cast<LinearOperator<double>>(f)});
  });
  maker_.numbers(ctx, here.view(), stored);
}

std::string ExplicitInverse::details() const {
  char ratio[32];
  std::snprintf(
      ratio, sizeof ratio, "%.2f",
      static_cast<double>(entries_) / static_cast<double>(std::max<Offset>(1, entries_of_A_)));
  return cat(entries_, " entries, ", ratio, " times A's", text_.empty() ? "" : "; ", text_);
}

}  // namespace tcsolve
