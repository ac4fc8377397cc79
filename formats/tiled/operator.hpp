// SPDX-License-Identifier: Apache-2.0
/// The product with panels (formats/tiled/tiled.hpp).
#pragma once

#include <tcsolve/formats/converted_operator.hpp>
#include <tcsolve/formats/tiled/ops.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose. Workspace:
/// a column of each segment of a long row for each column of y; and a copy of a column-major x
/// where the model says so. Bytes, bits and errors: formats/tiled/tiled.hpp.
template <class T, class S = T>
class TiledOperator final : public ConvertedOperator<T, S, Tiled<S>> {
 public:
  TiledOperator(Context& ctx, CsrView<S> const& a, TiledTuning const& tuning = {})
      : ConvertedOperator<T, S, Tiled<S>>(ctx, a, tuning) {}

  Traits traits() const override;
  std::string name() const override { return "tiled"; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
};

}  // namespace tcsolve
