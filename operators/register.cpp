// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/register.hpp>

#include <array>

#include <tcsolve/operators/csr_operator.hpp>

namespace tcsolve {

constexpr auto names(Real) {
  return std::array{std::pair{Real::f64, "fp64"}, std::pair{Real::f32, "fp32"},
                    std::pair{Real::f16, "fp16"}};
}

namespace {

struct CsrParams {
  Real values = Real::f64;
  static constexpr auto schema() {
    return std::tuple{
        field(&CsrParams::values, "values",
              "type the matrix is stored in; vectors are FP64, and `converged` refers to the "
              "FP64 matrix whatever is chosen here")};
  }
};

class CsrFactory final : public OperatorFactory {
 public:
  using Params = CsrParams;
  explicit CsrFactory(Params const& params) : values_(params.values) {}
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a) const override {
    switch (values_) {
      case Real::f64: return std::make_shared<CsrOperator<double>>(ctx, a.view());
      case Real::f32: return std::make_shared<CsrOperator<double, float>>(ctx, converted<float>(a));
      case Real::f16: return std::make_shared<CsrOperator<double, half>>(ctx, converted<half>(a));
    }
    throw Error("internal: a value type without an operator");
  }
  double bytes(Index rows, Index, Offset entries) const override {
    return double(entries) * (size_of(values_) + 4) + 4 * (double(rows) + 1);
  }
  bool exact() const override { return values_ == Real::f64; }

 private:
  Real values_;
};

}  // namespace

void register_operators(OperatorRegistry& r) {
  r.add<CsrFactory>("csr", "compressed sparse rows; cuSPARSE on a device, Kokkos on the host");
}

}  // namespace tcsolve
