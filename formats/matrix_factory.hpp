// SPDX-License-Identifier: Apache-2.0
/// What factories of operators with a matrix have in common, whatever its format.
#pragma once

#include <array>
#include <memory>

#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/register.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/matrix/scaled.hpp>

namespace tcsolve {

constexpr auto names(Scaling) {
  return std::array{std::pair{Scaling::powers_of_two, "powers_of_two"},
                    std::pair{Scaling::refuse, "refuse"}};
}

constexpr auto names(KeptDiagonal) {
  return std::array{
      std::pair{KeptDiagonal::stored, "stored"}, std::pair{KeptDiagonal::exact, "exact"},
      std::pair{KeptDiagonal::row_sums, "row_sums"}, std::pair{KeptDiagonal::automatic, "auto"}};
}

constexpr auto names(Real) {
  return std::array{std::pair{Real::f64, "fp64"}, std::pair{Real::f32, "fp32"},
                    std::pair{Real::f16, "fp16"}, std::pair{Real::bf16, "bf16"}};
}

/// What every format has.
struct MatrixParams {
  Real values = Real::f64;
  Scaling scale = Scaling::powers_of_two;
  KeptDiagonal diagonal = KeptDiagonal::stored;
  Reorder reorder = Reorder::none;
  static constexpr auto schema() {
    using P = MatrixParams;
    return std::tuple{
        field(&P::values, "values",
              "type the matrix is stored in; `converged` refers to the FP64 matrix whatever is "
              "chosen here"),
        field(&P::scale, "scale",
              "narrow values beyond the range of their type: powers_of_two scales the matrix, rows "
              "and columns alike where it is symmetric; refuse refuses it"),
        field(
            &P::diagonal, "diagonal",
            "what is kept in FP32 beside narrow values, on the diagonal or its blocks: exact, the "
            "diagonal itself; row_sums, what rounding has changed of row sums as well; auto: "
            "row_sums of a symmetric matrix"),
        field(
            &P::reorder, "reorder",
            "renumbers rows and columns for cache locality: rcm (reverse Cuthill-McKee), metis "
            "(parts by METIS), affinity (rows with the same columns together, for many right-hand "
            "sides), or auto: that of rcm and metis which saves more time than it takes over the "
            "expected products, if any. b, x0 and x stay in the order given; preconditioners see "
            "the new one")};
  }
};

/// What a CSR matrix takes.
inline double csr_bytes(Real values, Index rows, Offset entries) {
  return double(entries) * (size_of(values) + 4) + 4 * (double(rows) + 1);
}

/// With parameters that every format has.
class MatrixFactory : public OperatorFactory {
 public:
  /// `only`: the format that is made, one of `among`; null: any of them.
  MatrixFactory(MatrixParams const& params, FormatList const& among, Format const* only)
      : values_(params.values), among_(among), only_(only), reorder_(params.reorder) {
    // A matrix may take long to read: what this build cannot do is refused before.
    if (reorder_ == Reorder::metis) require_metis();
  }
  /// With the CSR matrix that it is made from; where any format will do, csr alone: one that needs
  /// more is taken where there is room.
  double bytes(Index rows, Index, Offset entries) const override {
    double const csr = csr_bytes(values_, rows, entries);
    if (only_ == nullptr || !only_->converted) return csr;
    return only_->estimate(values_, rows, double(entries)) + csr;
  }
  bool exact() const override { return values_ == Real::f64; }
  bool may_borrow() const override { return exact() && (only_ == nullptr || !only_->converted); }
  Reorder reorder() const override { return reorder_; }
  OrderedMatrix order(Context& ctx, Csr<double> const& a, OperatorUse const& use) const override {
    bool const left_alone = use.keep_order && reorder_ == Reorder::automatic;
    bool const decides = only_ == nullptr || reorder_ == Reorder::automatic;
    return ordered(ctx, a,
                   {.asked = left_alone ? Reorder::none : reorder_,
                    .plan = request(ctx, use),
                    .format = only_,
                    .cache = use.cache,
                    .given = use.ready ? use.ready->matrix : nullptr},
                   decides ? table(ctx) : CostTable{});
  }

 protected:
  virtual CostTable table(Context const& ctx) const { return CostTable::shipped(ctx); }
  virtual PlanRequest request(Context const& ctx, OperatorUse const& use) const {
    Real const values = stored(use.vectors);
    // The plan counts A as CSR in `values`; arrays of A that are in place already are free.
    double resident = 0;
    if (use.ready && use.ready->matrix) {
      CsrView<double> const& a = use.ready->matrix->view();
      resident = csr_bytes(values, a.rows, a.entries);
      if (values != Real::f64) resident -= double(a.entries) * size_of(values);
    }
    return {.values = values,
            .vectors = use.vectors,
            .applies = use.applies,
            .columns = use.columns,
            .transpose = use.transpose,
            .persistent = use.persistent,
            .memory = 0.9 * double(ctx.available_memory()) + resident - use.besides,
            .among = &among_};
  }
  /// What values are stored in: no wider than the vectors.
  Real stored(Real vectors) const {
    return values_ == Real::f64 && vectors == Real::f32 ? Real::f32 : values_;
  }
  Real values_;
  FormatList const& among_;

 private:
  Format const* only_;
  Reorder reorder_;
};

/// The matrix that an FP64 operator is made of.
inline CsrView<double> source(Csr<double> const& a, OperatorUse const& use) {
  return use.ready ? use.ready->matrix->view() : a.view();
}

}  // namespace tcsolve
