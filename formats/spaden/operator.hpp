// SPDX-License-Identifier: Apache-2.0
/// The product with a bitBSR matrix (formats/spaden/spaden.hpp).
#pragma once

#include <tcsolve/formats/converted_operator.hpp>
#include <tcsolve/formats/spaden/ops.hpp>
#include <tcsolve/formats/spaden/spaden.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes   formats/spaden/spaden.hpp
///   memory  besides the matrix: the parts of long rows. One
///           product runs at a time
///   bits    the same on every run
///   throws  what Spaden's constructor throws
template <class T, class S = T>
class SpadenOperator final : public ConvertedOperator<T, S, Spaden<S>> {
  using Converted = ConvertedOperator<T, S, Spaden<S>>;

 public:
  /// Converts a canonical CSR matrix, in the Context's space or on the host (then it is copied
  /// there for the time of the conversion).
  SpadenOperator(Context& ctx, CsrView<S> const& a, SpadenTuning const& tuning = {})
      : Converted(ctx, a, tuning) {
    prepare_work(ctx, tuning);
  }

  Traits traits() const override;
  std::string name() const override { return "spaden"; }

 private:
  void prepare_work(Context&, SpadenTuning const&);
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  Array<T> parts_;
  SpadenWork<T> work_;
};

}  // namespace tcsolve
