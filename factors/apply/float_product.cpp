// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/float_product.hpp>

#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <tcsolve/core/half.hpp>
#include <tcsolve/matrix/narrow.hpp>
#include <tcsolve/operators/composite.hpp>

namespace tcsolve {
namespace {

/// R is what the values are stored in: S, or FP32 in place of FP64.
template <class S>
class SharedValues final : public FloatProduct,
                           public std::enable_shared_from_this<SharedValues<S>> {
  static constexpr bool rounds = std::is_same_v<S, double>;
  using R = std::conditional_t<rounds, float, S>;

 public:
  explicit SharedValues(std::shared_ptr<CsrOperator<double, S> const> of) : of_(std::move(of)) {}

  OperatorPtr<float> view(Context& ctx) override {
    std::lock_guard const one(mutex_);
    if (!product_) {
      Context::Entry const entry(ctx);
      fits_ = take_values(ctx);
      if (!fits_) return nullptr;
      product_.emplace(ctx, CsrStorage<R>(ctx, matrix(), Arrays::borrowed));
    }
    if (!fits_) return nullptr;
    return {this->shared_from_this(), &*product_};
  }

  void follow(Context& ctx) override {
    std::lock_guard const one(mutex_);
    if (!product_) return;
    Context::Entry const entry(ctx);
    fits_ = take_values(ctx);
    if (fits_) product_->update_values(ctx, matrix());
  }

 private:
  /// False where a value leaves the range of R.
  bool take_values(Context& ctx) {
    if constexpr (rounds) {
      CsrView<double> const& a = of_->view();
      values_.resize(ctx.space(), static_cast<std::size_t>(a.entries));
      return ctx.visit([&](auto& on) {
        return narrow_values(on, ctx.arena(), a, Beyond::refuse, KeptDiagonal::stored,
                             values_.data())
            .fits;
      });
    } else {
      return true;
    }
  }
  CsrView<R> matrix() const {
    CsrView<S> const& a = of_->view();
    if constexpr (rounds)
      return {a.rows, a.cols, a.entries, a.offsets, a.columns, values_.data(), a.space};
    else
      return a;
  }

  std::mutex mutex_;
  std::shared_ptr<CsrOperator<double, S> const> of_;
  Array<float> values_;  // of S = double
  std::optional<CsrOperator<float, R>> product_;
  bool fits_ = false;
};

/// A under another name.
class Named final : public LinearOperator<float> {
 public:
  Named(std::string name, OperatorPtr<float> A)
      : LinearOperator<float>(A->rows(), A->cols()), name_(std::move(name)), A_(std::move(A)) {}
  void prepare(Context& ctx, Op op) const override { A_->prepare(ctx, op); }
  Traits traits() const override { return A_->traits(); }
  Cost cost(Index k) const override { return A_->cost(k); }
  std::string name() const override { return name_; }

 private:
  void do_apply(Context& ctx, float alpha, In<float> x, float beta, Out<float> y,
                Op op) const override {
    A_->apply(ctx, alpha, x, beta, y, op);
  }
  std::string name_;
  OperatorPtr<float> A_;
};

}  // namespace

template <class S>
std::shared_ptr<FloatProduct> float_product(std::shared_ptr<CsrOperator<double, S> const> of) {
  return std::make_shared<SharedValues<S>>(std::move(of));
}

OperatorPtr<float> float_product_of(std::string name, std::vector<OperatorPtr<float>> factors) {
  OperatorPtr<float> product;
  for (std::size_t k = factors.size(); k-- > 0;) {
    if (!factors[k]) return nullptr;
    product = product ? std::make_shared<Product<float>>(std::move(factors[k]), std::move(product))
                      : std::move(factors[k]);
  }
  return std::make_shared<Named>(std::move(name), std::move(product));
}

template std::shared_ptr<FloatProduct> float_product(
    std::shared_ptr<CsrOperator<double, double> const>);
template std::shared_ptr<FloatProduct> float_product(
    std::shared_ptr<CsrOperator<double, float> const>);
template std::shared_ptr<FloatProduct> float_product(
    std::shared_ptr<CsrOperator<double, half> const>);

}  // namespace tcsolve
