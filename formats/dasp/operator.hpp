// SPDX-License-Identifier: Apache-2.0
/// The product with a DASP matrix (formats/dasp/dasp.hpp).
#pragma once

#include <tcsolve/formats/converted_operator.hpp>
#include <tcsolve/formats/dasp/dasp.hpp>
#include <tcsolve/formats/dasp/ops.hpp>

namespace tcsolve {

/// How the product is made; the defaults are what was measured best (docs/formats/dasp.md).
struct DaspOptions {
  DaspTuning tuning;
  DaspUnitOf unit = DaspUnitOf::automatic;
};

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes   formats/dasp/dasp.hpp
///   memory  besides the matrix: a value for each unit of a long row and a ticket for each such
///           row. One product runs at a time
///   bits    the same on every run
///   throws  what Dasp's constructor throws; Unsupported where half_products meets values that are
///           not half
template <class T, class S = T>
class DaspOperator final : public ConvertedOperator<T, S, Dasp<S>> {
  using Converted = ConvertedOperator<T, S, Dasp<S>>;

 public:
  /// Converts a canonical CSR matrix, in the Context's space or on the host (then it is copied
  /// there for the time of the conversion).
  DaspOperator(Context& ctx, CsrView<S> const& a, DaspOptions const& options = {})
      : Converted(ctx, a, options.tuning) {
    prepare_work(ctx, options);
  }

  Traits traits() const override;
  std::string name() const override { return "dasp"; }
  int loop_num() const { return work_.loop_num; }

 private:
  void prepare_work(Context&, DaspOptions const&);
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  Array<T> parts_;
  Array<unsigned int> tickets_;
  DaspWork<T> work_;
};

}  // namespace tcsolve
