// SPDX-License-Identifier: Apache-2.0
/// What factories of operators with a matrix have in common, whatever its format.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include <tcsolve/formats/graph_partition.hpp>
#include <tcsolve/formats/scaled.hpp>
#include <tcsolve/operators/planner.hpp>
#include <tcsolve/operators/register.hpp>

namespace tcsolve {

constexpr auto names(Scaling) {
  return std::array{std::pair{Scaling::powers_of_two, "powers_of_two"},
                    std::pair{Scaling::refuse, "refuse"}};
}

constexpr auto names(Real) {
  return std::array{std::pair{Real::f64, "fp64"}, std::pair{Real::f32, "fp32"},
                    std::pair{Real::f16, "fp16"}, std::pair{Real::bf16, "bf16"}};
}

/// What every format has.
struct MatrixParams {
  Real values = Real::f64;
  Reorder reorder = Reorder::none;
  static constexpr auto schema() {
    using P = MatrixParams;
    return std::tuple{
        field(&P::values, "values",
              "type the matrix is stored in; vectors are FP64, and `converged` refers to the "
              "FP64 matrix whatever is chosen here"),
        field(
            &P::reorder, "reorder",
            "rows and columns in an order that keeps the entries of x that are read together "
            "close: reverse Cuthill-McKee, parts by METIS, or auto: the one of them that pays for "
            "itself in the products expected, if any. b, x0 and x stay in the order given; "
            "preconditioners see the new one")};
  }
};

struct ScaledParams {
  MatrixParams matrix;
  Scaling scale = Scaling::powers_of_two;
  static constexpr auto schema() {
    using P = ScaledParams;
    return std::tuple{
        include(&P::matrix),
        field(&P::scale, "scale",
              "a value beyond the range of the stored type: scale rows, and columns, by powers of "
              "two, or refuse the matrix")};
  }
};

/// What a CSR matrix takes.
inline double csr_bytes(Real values, Index rows, Offset entries) {
  return double(entries) * (size_of(values) + 4) + 4 * (double(rows) + 1);
}

/// With parameters that every format has.
class MatrixFactory : public OperatorFactory {
 public:
  explicit MatrixFactory(MatrixParams const& params)
      : values_(params.values), reorder_(params.reorder) {
    // A matrix may take long to read: what this build cannot do is refused before.
    if (reorder_ == Reorder::metis) require_metis();
  }
  bool exact() const override { return values_ == Real::f64; }
  Reorder reorder() const override { return reorder_; }
  OrderedMatrix order(Context& ctx, Csr<double> const& a, OperatorUse const& use) const override {
    bool const left_alone = use.keep_order && reorder_ == Reorder::automatic;
    return ordered(ctx, a,
                   {.asked = left_alone ? Reorder::none : reorder_,
                    .plan = request(ctx, use),
                    .format = format(),
                    .cache = use.cache,
                    .given = use.ready ? use.ready->matrix : nullptr},
                   table(ctx));
  }

 protected:
  /// The only format there is; none: any.
  virtual std::optional<Format> format() const = 0;
  virtual CostTable table(Context const& ctx) const { return CostTable::shipped(ctx); }
  virtual PlanRequest request(Context const& ctx, OperatorUse const& use) const {
    // The plan counts A as CSR in `values`; what of it lies there already is not taken again.
    double resident = 0;
    if (use.ready && use.ready->matrix) {
      CsrView<double> const& a = use.ready->matrix->view();
      resident = csr_bytes(values_, a.rows, a.entries);
      if (values_ != Real::f64) resident -= double(a.entries) * size_of(values_);
    }
    return {.values = values_,
            .applies = use.applies,
            .transpose = use.transpose,
            .persistent = use.persistent,
            .memory = 0.9 * double(ctx.available_memory()) + resident};
  }
  Real values_;

 private:
  Reorder reorder_;
};

/// The matrix that an FP64 operator is made of.
inline CsrView<double> source(Csr<double> const& a, OperatorUse const& use) {
  return use.ready ? use.ready->matrix->view() : a.view();
}

/// The factory of one format; `block` for bsell, 0: the best. Defined in register.cpp.
std::unique_ptr<OperatorFactory> factory_of(Format, ScaledParams const&, Index block);

}  // namespace tcsolve
