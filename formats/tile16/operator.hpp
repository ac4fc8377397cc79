// SPDX-License-Identifier: Apache-2.0
/// Products with a matrix in tiles (formats/tile16/tile16.hpp): of dense vectors, and of sparse
/// ones.
#pragma once

#include <tcsolve/formats/converted_operator.hpp>
#include <tcsolve/formats/tile16/ops.hpp>
#include <tcsolve/operators/multiplies_sparse.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. Of sparse vectors also
/// y = alpha A^T x + beta y, by A^T in tiles, which is stored from the first such product on.
///
///   bytes    formats/tile16/tile16.hpp; of sparse vectors those of the tiles that meet x
///   memory   for sparse vectors, from the first on: 4 bytes a tile and an entry of the rest, and
///            sizeof(T) + 1 a row; where x had most of its tiles 2 sizeof(T) a row more
///   bits     the same on every run: a row is added in storage order
template <class T, class S = T>
class Tile16Operator final : public ConvertedOperator<T, S, Tile16<S>>, public MultipliesSparse<T> {
 public:
  Tile16Operator(Context& ctx, CsrView<S> const& a, Tile16Tuning const& tuning = {})
      : ConvertedOperator<T, S, Tile16<S>>(ctx, a, tuning) {}

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "tile16"; }
  SparseProductNotes multiply_sparse(Context&, SparseProduct<T> const& how,
                                     SparseVector<T> const& x, SparseVector<T>& y) const override;

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;

  // One product runs at a time, as Context's rule is.
  mutable StoredTilesBelow below_, below_transposed_;
  mutable SpmspvMemory<T> memory_;
  mutable Vector<T> dense_x_, dense_sums_;
};

}  // namespace tcsolve
