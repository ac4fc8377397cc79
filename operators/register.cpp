// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/register.hpp>

#include <array>

#include <tcsolve/formats/graph_partition.hpp>
#include <tcsolve/operators/csr_operator.hpp>
#include <tcsolve/operators/dasp_operator.hpp>
#include <tcsolve/operators/sell_operator.hpp>
#include <tcsolve/operators/spaden_operator.hpp>

namespace tcsolve {

constexpr auto names(Scaling) {
  return std::array{std::pair{Scaling::powers_of_two, "powers_of_two"},
                    std::pair{Scaling::refuse, "refuse"}};
}

/// The type in which a value and an entry of x are multiplied.
enum class Products { vectors, fp16 };
constexpr auto names(Products) {
  return std::array{std::pair{Products::vectors, "vectors"}, std::pair{Products::fp16, "fp16"}};
}

constexpr auto names(Real) {
  return std::array{std::pair{Real::f64, "fp64"}, std::pair{Real::f32, "fp32"},
                    std::pair{Real::f16, "fp16"}};
}

namespace {

constexpr char const* reorder_doc =
    "rows and columns in an order that keeps the entries of x that are read together close: "
    "reverse "
    "Cuthill-McKee, parts by METIS, or auto: the one of them that moves a fifth fewer bytes, if "
    "any. b, x0 and x stay in the order given; preconditioners see the new one";

/// A matrix may take long to read: what this build cannot do is refused before.
Reorder built(Reorder reorder) {
  if (reorder == Reorder::metis) require_metis();
  return reorder;
}

struct ValuesParams {
  Real values = Real::f64;
  Reorder reorder = Reorder::none;
  static constexpr auto schema() {
    return std::tuple{
        field(&ValuesParams::values, "values",
              "type the matrix is stored in; vectors are FP64, and `converged` refers to the "
              "FP64 matrix whatever is chosen here"),
        field(&ValuesParams::reorder, "reorder", reorder_doc)};
  }
};

/// A format whose operators are made from CSR matrices of each value type.
template <template <class, class> class Operator>
class Factory : public OperatorFactory {
 public:
  using Params = ValuesParams;
  explicit Factory(Params const& params)
      : values_(params.values), reorder_(built(params.reorder)) {}
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a) const override {
    switch (values_) {
      case Real::f64: return std::make_shared<Operator<double, double>>(ctx, a.view());
      case Real::f32: return rounded<float>(ctx, a);
      case Real::f16: return rounded<half>(ctx, a);
    }
    throw Error("internal: a value type without an operator");
  }
  bool exact() const override { return values_ == Real::f64; }
  Reorder reorder() const override { return reorder_; }

 protected:
  Real values_;

 private:
  Reorder reorder_;

  template <class S>
  static OperatorPtr<double> rounded(Context& ctx, Csr<double> const& a) {
    if constexpr (std::is_constructible_v<Operator<double, S>, Context&, Csr<S>>)
      return std::make_shared<Operator<double, S>>(ctx, converted<S>(a));
    else
      return std::make_shared<Operator<double, S>>(ctx, converted<S>(a).view());
  }
};

class CsrFactory final : public Factory<CsrOperator> {
 public:
  using Factory::Factory;
  double bytes(Index rows, Index, Offset entries) const override {
    return double(entries) * (size_of(values_) + 4) + 4 * (double(rows) + 1);
  }
};

struct ScaledParams {
  Real values = Real::f64;
  Scaling scale = Scaling::powers_of_two;
  Reorder reorder = Reorder::none;
  static constexpr auto schema() {
    using P = ScaledParams;
    return std::tuple{
        field(&P::values, "values",
              "type the matrix is stored in; vectors are FP64, and `converged` refers to the "
              "FP64 matrix whatever is chosen here"),
        field(&P::scale, "scale",
              "a value beyond the range of the stored type: scale rows, and columns, by powers of "
              "two, or refuse the matrix"),
        field(&P::reorder, "reorder", reorder_doc)};
  }
};

struct DaspParams {
  Real values = Real::f64;
  Scaling scale = Scaling::powers_of_two;
  Products multiply = Products::vectors;
  Reorder reorder = Reorder::none;
  static constexpr auto schema() {
    using P = DaspParams;
    return std::tuple{
        field(&P::values, "values",
              "type the matrix is stored in; vectors are FP64, and `converged` refers to the "
              "FP64 matrix whatever is chosen here"),
        field(&P::scale, "scale",
              "a value beyond the range of the stored type: scale rows, and columns, by powers of "
              "two, or refuse the matrix"),
        field(
            &P::multiply, "multiply",
            "fp16: x is rounded to fp16 too (infinite beyond 65504; the solvers' own vectors have "
            "norms near 1), sums are FP32; with `values: fp16` alone. vectors: "
            "products in the type of the vectors"),
        field(&P::reorder, "reorder", reorder_doc)};
  }
};

class DaspFactory final : public OperatorFactory {
 public:
  using Params = DaspParams;
  explicit DaspFactory(Params const& params) : params_(params) {
    built(params_.reorder);
    if (params_.multiply == Products::fp16 && params_.values != Real::f16)
      throw Unsupported("dasp: `multiply: fp16` needs `values: fp16`");
  }
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a) const override {
    DaspOptions options;
    if (params_.multiply == Products::fp16) options.unit = DaspUnitOf::half_products;
    switch (params_.values) {
      case Real::f64: return std::make_shared<DaspOperator<double>>(ctx, a.view(), options);
      case Real::f32:
        return std::make_shared<DaspOperator<double, float>>(ctx, scaled<float>(a, params_.scale),
                                                             options);
      case Real::f16:
        return std::make_shared<DaspOperator<double, half>>(ctx, scaled<half>(a, params_.scale),
                                                            options);
    }
    throw Error("internal: a value type without an operator");
  }
  bool exact() const override { return params_.values == Real::f64; }
  Reorder reorder() const override { return params_.reorder; }
  /// With an eighth of padding; with the CSR matrix it is made from.
  double bytes(Index rows, Index, Offset entries) const override {
    return 1.125 * double(entries) * (size_of(params_.values) + 2) + 10 * double(rows) +
           double(entries) * (size_of(params_.values) + 4) + 4 * (double(rows) + 1);
  }

 private:
  Params params_;
};

class SpadenFactory final : public OperatorFactory {
 public:
  using Params = ScaledParams;
  explicit SpadenFactory(Params const& params) : params_(params) { built(params_.reorder); }
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a) const override {
    switch (params_.values) {
      case Real::f64: return std::make_shared<SpadenOperator<double>>(ctx, a.view());
      case Real::f32:
        return std::make_shared<SpadenOperator<double, float>>(ctx,
                                                               scaled<float>(a, params_.scale));
      case Real::f16:
        return std::make_shared<SpadenOperator<double, half>>(ctx, scaled<half>(a, params_.scale));
    }
    throw Error("internal: a value type without an operator");
  }
  bool exact() const override { return params_.values == Real::f64; }
  Reorder reorder() const override { return params_.reorder; }
  /// With eight entries a block; with the CSR matrix it is made from.
  double bytes(Index rows, Index, Offset entries) const override {
    return double(entries) * (size_of(params_.values) + 2) + 4.5 * double(rows) +
           double(entries) * (size_of(params_.values) + 4) + 4 * (double(rows) + 1);
  }

 private:
  Params params_;
};

class SellFactory final : public Factory<SellOperator> {
 public:
  using Factory::Factory;
  /// Where neighbouring rows are equally long; with the CSR matrix it is made from.
  double bytes(Index rows, Index, Offset entries) const override {
    return double(entries) * (size_of(values_) + 2) + 5 * double(rows) +
           double(entries) * (size_of(values_) + 4) + 4 * (double(rows) + 1);
  }
};

}  // namespace

void register_operators(OperatorRegistry& r) {
  r.add<CsrFactory>("csr", "compressed sparse rows; cuSPARSE on a device, Kokkos on the host");
  r.add<SellFactory>(
      "sell", "slices of 32 rows, 16-bit column numbers; one pass with <x, A x>; no transpose");
  r.add<DaspFactory>("dasp",
                     "rows by length in blocks of 8 x 4 for the matrix unit (DASP); any row "
                     "lengths; no transpose");
  r.add<SpadenFactory>(
      "spaden",
      "bitmaps of 8 x 8 blocks with packed values (bitBSR); more than 32 entries a "
      "row; no transpose");
}

}  // namespace tcsolve
