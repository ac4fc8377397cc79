// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/ranked_inverse.hpp>

#include <utility>

#include <tcsolve/distributed/operator.hpp>
#include <tcsolve/operators/composite.hpp>

namespace tcsolve {
namespace {

class RankedInverse final : public LinearOperator<double> {
 public:
  RankedInverse(std::string name, OperatorPtr<double> product, std::string details)
      : LinearOperator<double>(product->rows(), product->cols()),
        name_(std::move(name)),
        product_(std::move(product)),
        details_(std::move(details)) {}
  void prepare(Context& ctx, Op op) const override { product_->prepare(ctx, op); }
  Traits traits() const override { return product_->traits(); }
  Cost cost(Index k) const override { return product_->cost(k); }
  std::string name() const override { return name_; }
  std::string details() const override { return details_; }

 private:
  void do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                Op op) const override {
    product_->apply(ctx, alpha, x, beta, y, op);
  }
  std::string name_;
  OperatorPtr<double> product_;
  std::string details_;
};

}  // namespace

DistributedMatrix const* matrix_of_ranks(Context const& ctx, System const& system) {
  if (!ctx.communicator().extends_sums()) return nullptr;
  auto const* const all = dynamic_cast<DistributedOperator const*>(system.A.get());
  return all != nullptr ? &all->matrix() : nullptr;
}

std::unique_ptr<Preconditioner> from_ranked_rows(Context& ctx, System const& given,
                                                 std::string name, Real values,
                                                 RankedFactors make) {
  auto const made = [name, values, make = std::move(make)](Context& c, System const& system) {
    DistributedMatrix const& a = *matrix_of_ranks(c, system);
    if (a.rows() != a.columns())
      throw ShapeError(
          cat(name, " needs a square matrix, A is ", a.rows().size(), " x ", a.columns().size()));
    Ranks& ranks = all_ranks(c);
    OperatorPtr<double> product;
    double entries = 0;
    for (GlobalRows const& factor : make(c, ranks, a)) {
      OperatorPtr<double> next =
          admitted(name, [&] { return product_of(c, factor, a.rows(), values); });
      for (double const one : gather(ranks, static_cast<double>(factor.columns.size())))
        entries += one;
      product = product ? std::make_shared<Product<double>>(product, next) : next;
    }
    return std::make_shared<RankedInverse>(name, product,
                                           kept_entries(static_cast<Offset>(entries), a.entries()));
  };
  return std::make_unique<Remade>(ctx, given, made);
}

GlobalRows with_global_columns(Csr<double> const& a, std::vector<std::int64_t> const& numbers) {
  GlobalRows out;
  out.offsets = a.offsets;
  out.values = a.values;
  for (Index const j : a.columns) out.columns.push_back(numbers[static_cast<std::size_t>(j)]);
  return out;
}

}  // namespace tcsolve
