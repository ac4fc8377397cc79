// SPDX-License-Identifier: Apache-2.0
/// What operators have in common whose matrix is the CSR matrix in another format, value for value.
/// Products are their own.
#pragma once

#include <optional>
#include <type_traits>

#include <tcsolve/kernels/norm_inf.hpp>
#include <tcsolve/matrix/scaled.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// An operator that can give back the entries that it was made of.
class HoldsEntries {
 public:
  virtual ~HoldsEntries() = default;
  /// A on the host, canonical, with the FP64 values that it was given; nothing where these have
  /// been rounded or the format has no way back. Cost: a conversion and a copy to the host.
  virtual std::optional<Csr<double>> entries(Context&) const = 0;
};

/// Values stored as S in a Matrix, vectors and sums of T. No transpose.
template <class T, class S, class Matrix>
class ConvertedOperator : public LinearOperator<T>, public HoldsEntries {
 public:
  /// The same pattern with new values (LinearOperator). Cost: Matrix::update_values, and a pass for
  /// the norm where Matrix does not take it along.
  void update_values(Context& ctx, CsrView<S> const& a) {
    Context::Entry const entry(ctx);
    CsrStorage<S> const here(ctx, a);
    matrix_.update_values(ctx, here.view());
    norm_ = norm(ctx, here.view());
  }
  using LinearOperator<T>::update_values;

  Cost cost(Index k) const override {
    double const entries = double(matrix_.view().entries);
    double const vectors = double(k) * (double(this->rows()) + this->cols()) * sizeof(T);
    return {2 * entries * k, double(matrix_.bytes()) + vectors,
            entries > 0 ? double(matrix_.stored()) / entries : 1};
  }
  /// ||A||_inf, taken once from the stored values.
  double norm_estimate() const override { return norm_; }
  Matrix const& matrix() const { return matrix_; }
  bool sums_exactly() const override { return all_double; }
  std::optional<Csr<double>> entries(Context& ctx) const override {
    if constexpr (all_double && requires { matrix_.to_csr(ctx); }) return matrix_.to_csr(ctx);
    return std::nullopt;
  }

 protected:
  /// Converts a canonical CSR matrix, in the Context's space or on the host (then it is copied
  /// there for the time of the conversion). Throws what Matrix's constructor throws.
  template <class... Tuning>
  ConvertedOperator(Context& ctx, CsrView<S> const& a, Tuning const&... tuning)
      : ConvertedOperator(Here{Context::Entry(ctx)}, ctx, CsrStorage<S>(ctx, a).view(), tuning...) {
  }

 private:
  struct Here {
    Context::Entry entry;
  };
  template <class... Tuning>
  ConvertedOperator(Here const&, Context& ctx, CsrView<S> const& here, Tuning const&... tuning)
      : LinearOperator<T>(here.rows, here.cols),
        matrix_(ctx, here, tuning...),
        norm_(norm(ctx, here)) {}

  double norm(Context& ctx, CsrView<S> const& here) const {
    if constexpr (requires { matrix_.norm_inf(); })
      return matrix_.norm_inf();
    else if constexpr (requires { matrix_.norm_inf(ctx); })
      return matrix_.norm_inf(ctx);
    else
      return norm_inf(ctx, here);
  }

  static constexpr bool all_double = std::is_same_v<T, double> && std::is_same_v<S, double>;
  void do_exact_residual(Context& ctx, ResidualVectors const& v) const override {
    if constexpr (all_double) tcsolve::exact_residual(ctx, matrix_.view(), v);
  }

  void do_update_values(Context& ctx, CsrView<T> const& a) override {
    if constexpr (std::is_same_v<T, S>) {
      update_values(ctx, a);
    } else {
      auto memory = ctx.arena().scope();
      update_values(ctx, NarrowCsr<S>(ctx, a, Beyond::refuse_infinite, memory).view());
    }
  }

  Matrix matrix_;

 protected:
  double norm_;
};

}  // namespace tcsolve
