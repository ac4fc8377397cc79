// SPDX-License-Identifier: Apache-2.0
/// M x = C Q^T (L D U)^-1 P R x with factors cut to parts (factors/apply/parts_view.hpp): block
/// Jacobi with the factors of each part, one launch.
#pragma once

#include <memory>
#include <mutex>

#include <tcsolve/core/array.hpp>
#include <tcsolve/factors/apply/parts_view.hpp>
#include <tcsolve/factors/arrange/arrangement.hpp>
#include <tcsolve/factors/make/incomplete.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// The most rows of a part: their unknowns fit the shared memory of every device.
constexpr Index most_part_rows = 4096;

/// Factors stored as S, in FP64 arithmetic; one column at a time. M is symmetric where L^T = U.
/// M^T is made of the transposed factors when it is first asked for.
template <class S = double>
class PartsInverse final : public LinearOperator<double> {
 public:
  using Host = std::shared_ptr<TriangularFactors const>;
  /// Parts of `part` rows. Throws MatrixError where an entry is beyond the range of S.
  PartsInverse(Context&, Host factors, TwoSided const& sides, Index part);
  /// Factors of the same patterns with other values; recordings stay valid.
  void update(Context&, Host factors, TwoSided const& sides);

  void prepare(Context&, Op) const override;
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "factors_by_parts"; }
  Index parts() const { return view_.parts; }
  /// Of the factors' entries outside the diagonal, how many are left out.
  Offset left_out() const { return left_out_; }

 private:
  struct Triangle {
    Array<Index> level_begin, level;
    Array<std::uint16_t> row, column;
    Array<Offset> begin;
    Array<S> values;
  };
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  PartTriangle<S> place(Context&, Triangle&, Csr<double> const& triangle, bool lower);

  PartsView<S> view_;
  Triangle lower_, upper_;
  Array<Index> from_, to_;
  Array<double> row_scale_, inverse_pivots_, column_scale_;
  Offset entries_ = 0, left_out_ = 0;
  Host factors_;  // for M^T
  TwoSided sides_;
  mutable std::once_flag transposed_once_;
  mutable std::unique_ptr<PartsInverse> transposed_;
};

}  // namespace tcsolve
