// SPDX-License-Identifier: Apache-2.0
/// M x with M given by its entries, M = F_1 F_2 ...: what the sparse approximate inverses have in
/// common. An application is a product with each factor, nothing waits for anything.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tcsolve/factors/apply/stored_product.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/matrix/host_matrix.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// What makes the factors of M.
struct InverseMaker {
  /// For a matrix on the host. Called again for new values on the same pattern, it gives factors of
  /// the same patterns.
  std::function<std::vector<Csr<double>>(Context&, CsrView<double> const& a)> make;
  /// Where there is one, it makes the numbers, from a matrix in the Context's space, and `make` is
  /// called once, for the patterns.
  std::function<void(Context&, CsrView<double> const& a, std::vector<StoredProduct> const&)>
      numbers;
  /// Where there is one, it makes the factors from a matrix in the Context's space, patterns and
  /// numbers, and `make` is not called; `numbers` makes those of new values.
  std::function<std::vector<CsrStorage<double>>(Context&, CsrView<double> const& a)> there;
};

/// "12345 entries, 0.62 times A's".
std::string kept_entries(Offset kept, Offset of_A);

/// Applied where the Context computes. M^T is offered.
class ExplicitInverse final : public LinearOperator<double> {
 public:
  /// Of a matrix in either space; `host` is its side on the host, where that is needed. `values`:
  /// the type that the factors are stored in. Throws what `make` throws, MatrixError for values
  /// beyond the range of that type.
  ExplicitInverse(Context&, CsrView<double> const& a, HostMatrix& host, std::string name,
                  Real values, InverseMaker maker);
  /// New values on the pattern of A; recordings stay valid. Throws as the constructor.
  void update(Context&, CsrView<double> const& a, HostMatrix& host);

  void prepare(Context& ctx, Op op) const override { product_->prepare(ctx, op); }
  Traits traits() const override { return product_->traits(); }
  Cost cost(Index k) const override { return product_->cost(k); }
  std::string name() const override { return name_; }
  /// A product with each factor on FP32 vectors (factors/apply/float_product.hpp): FP64 factors are
  /// rounded once, 4 bytes an entry more, narrower ones are shared. It follows update(). Null where
  /// an entry leaves the range of FP32.
  std::shared_ptr<LinearOperator<float> const> on_floats(Context&) const override;
  /// kept_entries().
  std::string details() const override;

 private:
  void do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                Op op) const override {
    product_->apply(ctx, alpha, x, beta, y, op);
  }
  void make(Context&, CsrView<double> const& on_host);
  template <class Matrix>
  void keep(Context&, std::vector<Matrix> made);
  void make_numbers(Context&, CsrView<double> const& a);

  std::string name_;
  Real values_;
  InverseMaker maker_;
  Offset entries_ = 0, entries_of_A_;
  std::vector<StoredProduct> factors_;
  OperatorPtr<double> product_;
};

}  // namespace tcsolve
