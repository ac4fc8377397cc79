// SPDX-License-Identifier: Apache-2.0
/// A matrix of FP64 values in a format that stores narrower ones, scaled by powers of two where
/// they would leave the range of their type (matrix/scaled.hpp), with what is kept of the diagonal
/// beside them:
///
///     Operator        rounded values, plain
///     Corrected       the same, and a diagonal in FP32 (operators/corrected.hpp), where one is kept
///     Rescaled        A: what was scaled is undone (operators/rescaled.hpp), or by the driver of a
///                     method (solvers/driver/equilibration.hpp), where it costs nothing
#pragma once

#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

#include <tcsolve/matrix/scaled.hpp>
#include <tcsolve/operators/corrected.hpp>
#include <tcsolve/operators/rescaled.hpp>

namespace tcsolve {

/// How values become narrower.
struct NarrowRule {
  Scaling scale = Scaling::powers_of_two;
  KeptDiagonal diagonal = KeptDiagonal::stored;
};

/// Vectors of T, values stored as S by Operator. Memory besides the format: 4 bytes a row and
/// column where they are scaled by different powers of two, and 4 for each entry of the diagonal
/// blocks that are kept beside it.
template <class T, class S, class Operator>
class NarrowOperator final : public Rescaled<T> {
 public:
  /// Throws MatrixError where no scaling holds the values, or FP32 vectors would not hold the
  /// scales; and what Operator throws.
  template <class... Options>
  static std::shared_ptr<LinearOperator<T>> of(Context& ctx, CsrView<double> const& a,
                                               NarrowRule const& rule, Options const&... options) {
    NarrowCsr<S> narrow(ctx, a, beyond(rule.scale), rule.diagonal);
    Beside beside(ctx, narrow);
    std::shared_ptr<Operator> B;
    if constexpr (std::is_constructible_v<Operator, Context&, CsrStorage<S>, Options const&...>)
      B = std::make_shared<Operator>(ctx, std::move(narrow).owned(ctx), options...);
    else
      B = std::make_shared<Operator>(ctx, narrow.view(), options...);
    std::shared_ptr<Corrected<T>> corrected;
    if (rule.diagonal != KeptDiagonal::stored)
      corrected = std::make_shared<Corrected<T>>(B, std::move(beside.diagonal), beside.block);
    return std::make_shared<NarrowOperator>(ctx, std::move(B), std::move(corrected),
                                            std::move(beside), rule);
  }

  /// What goes with a rounded matrix: what it was scaled by, and what is kept of its diagonal.
  struct Beside {
    int shift = 0, block = 1;
    Exponents rows, columns;
    Array<float> diagonal;
    NarrowFigures figures;
    double norm = 0;  ///< ||A||, where rows or columns are scaled
    Beside(Context& ctx, NarrowCsr<S>& a) {
      Narrowed const& made = a.powers();
      constexpr int most = std::is_same_v<T, float> ? 60 : 1000;
      if (made.farthest > most)
        throw MatrixError(cat("rows or columns are to be scaled by 2^", made.farthest,
                              ", which is outside the range of the vectors; use wider vectors"));
      bool const uneven = made.row_exponents.size() > 0 || made.column_exponents.size() > 0;
      if (uneven) norm = a.unscaled_norm(ctx);
      Narrowed taken = a.take_powers();
      shift = taken.shift, block = taken.block;
      diagonal = std::move(taken.diagonal);
      figures = taken.figures;
      auto const shared = [](Array<std::int32_t>& e) {
        return e.size() > 0 ? std::make_shared<Array<std::int32_t> const>(std::move(e)) : nullptr;
      };
      rows = shared(taken.row_exponents);
      columns = taken.symmetric ? rows : shared(taken.column_exponents);
    }
    double norm_of(LinearOperator<T> const& B) const {
      return rows || columns ? norm : std::ldexp(B.norm_estimate(), -shift);
    }
  };
  NarrowOperator(Context& ctx, std::shared_ptr<Operator> B, std::shared_ptr<Corrected<T>> corrected,
                 Beside const& beside, NarrowRule const& rule)
      : Rescaled<T>(ctx, corrected ? OperatorPtr<T>(corrected) : OperatorPtr<T>(B), beside.shift,
                    beside.rows, beside.columns, beside.norm_of(*B)),
        stored_(std::move(B)),
        corrected_(std::move(corrected)),
        rule_(rule),
        figures_(beside.figures) {}

  void update_from(Context& ctx, CsrView<double> const& a) override { round(ctx, a); }
  std::optional<NarrowFigures> figures() const override { return figures_; }

 private:
  template <class From>
  void round(Context& ctx, CsrView<From> const& a) {
    auto memory = ctx.arena().scope();
    NarrowCsr<S> narrow(ctx, a, beyond(rule_.scale), rule_.diagonal, memory);
    CsrView<S> const view = narrow.view();
    Beside beside(ctx, narrow);  // what may throw comes first
    stored_->update_values(ctx, view);
    if (corrected_) corrected_->correct_by(std::move(beside.diagonal), beside.block);
    figures_ = beside.figures;
    this->rescale(ctx, beside.shift, beside.rows, beside.columns, beside.norm_of(*stored_));
  }
  void do_update_values(Context& ctx, CsrView<T> const& a) override {
    if constexpr (std::is_same_v<T, S>) {
      stored_->update_values(ctx, a);
      if (corrected_) corrected_->correct_by({}, 1);
      figures_ = {};
      this->rescale(ctx, 0, nullptr, nullptr, stored_->norm_estimate());
    } else {
      round(ctx, a);
    }
  }

  std::shared_ptr<Operator> stored_;
  std::shared_ptr<Corrected<T>> corrected_;  // stored_ and its diagonal; null: nothing is kept
  NarrowRule rule_;
  NarrowFigures figures_;
};

}  // namespace tcsolve
