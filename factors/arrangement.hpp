// SPDX-License-Identifier: Apache-2.0
/// A matrix prepared for a factorisation: scaled, with large entries on its diagonal, in an order
/// that suits the factors.
///
///     B = P R A C Q^T        b_ij = r_i a_{row(i), column(j)} c_j
///     A^-1 = C Q^T B^-1 P R  what stands for B^-1 stands for A^-1 between two permutations
///
///     matching   rows go where their largest entries meet the diagonal; its scaling makes these 1
///                and all others at most 1 (graph/match/matching.hpp)
///     scaling    without a matching: 1 / sqrt |a_ii| on both sides, or the largest entry of each
///                row and column
///     order      rows and columns alike, by the graph of B + B^T
///
/// With nodes, blocks of rows that belong together, B is made of whole blocks: zeros are stored
/// where a block has an entry elsewhere, the order is one of nodes, and within a node, where
/// nothing is symmetric, rows go where its own diagonal block has its pivots.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/core/cancel.hpp>
#include <tcsolve/factors/arranged_view.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

enum class UseMatching { automatic, off, on };
constexpr auto names(UseMatching) {
  return std::array{std::pair{UseMatching::automatic, "auto"}, std::pair{UseMatching::off, "off"},
                    std::pair{UseMatching::on, "on"}};
}

enum class FactorScaling { none, diagonal, largest };
constexpr auto names(FactorScaling) {
  return std::array{std::pair{FactorScaling::none, "none"},
                    std::pair{FactorScaling::diagonal, "diagonal"},
                    std::pair{FactorScaling::largest, "largest"}};
}

enum class FactorOrder { automatic, none, rcm, amd, metis, colours };
constexpr auto names(FactorOrder) {
  return std::array{
      std::pair{FactorOrder::automatic, "auto"}, std::pair{FactorOrder::none, "none"},
      std::pair{FactorOrder::rcm, "rcm"},        std::pair{FactorOrder::amd, "amd"},
      std::pair{FactorOrder::metis, "metis"},    std::pair{FactorOrder::colours, "colours"}};
}

struct ArrangementParams {
  UseMatching matching = UseMatching::automatic;
  FactorScaling scaling = FactorScaling::largest;
  FactorOrder order = FactorOrder::automatic;

  static constexpr auto schema() {
    using P = ArrangementParams;
    return std::tuple{
        field(&P::matching, "matching",
              "permute rows so that the product of the diagonal is largest, and scale by that "
              "matching; auto where a diagonal entry is small beside its row"),
        field(&P::scaling, "scaling",
              "where nothing is matched: by the root of the diagonal, or by the largest entry of "
              "each row and column"),
        field(&P::order, "order",
              "of the factors: rcm, amd (little fill), metis (nested dissection: little fill, few "
              "steps), colours (fewest steps); auto takes amd where fill is kept, else none")};
  }
};

/// P R and C Q^T: what stands on both sides of a factorised matrix. Row i of the factors is row
/// row[i] of A times row_scale[i].
struct TwoSided {
  std::vector<Index> row, column;
  std::vector<double> row_scale, column_scale;
  /// Of the transposed matrix.
  TwoSided transposed() const { return {column, row, column_scale, row_scale}; }
  /// P R and C Q^T, one entry a row and a column.
  Csr<double> entering() const;
  Csr<double> leaving() const;
};

class Arrangement {
 public:
  Arrangement() = default;
  /// Of a square host matrix; `symmetric`: rows and columns are permuted and scaled alike, and
  /// nothing is matched. Throws ShapeError, MatrixError (a value that is not finite), NotBuilt
  /// (order: metis). Cost: of the matching and the order, and two passes.
  /// `nodes`: the first rows of blocks (matrix/blocks.hpp), which nothing is matched across; empty:
  /// none.
  Arrangement(CsrView<double> const& a, ArrangementParams const& params, bool symmetric,
              CancelFlag cancel = {}, std::vector<Index> nodes = {});
  /// New values on the pattern of A: permutations and the factors of a matching stay, other scaling
  /// is made again. Cost: a pass. After Cancelled or OutOfTime the values are of no use.
  void update(CsrView<double> const& a, CancelFlag cancel = {});

  /// B, canonical.
  Csr<double> const& matrix() const { return matrix_; }
  TwoSided const& sides() const { return sides_; }
  /// How many rows have a column of their own, where they were matched; else all.
  Index rank() const { return rank_; }
  /// The first rows of the nodes in B; empty: none.
  std::vector<Index> const& nodes() const { return nodes_; }
  /// How the scales follow from new values.
  ScaledBy scaling_by_values() const {
    if (matched_ || scaling_ == FactorScaling::none) return ScaledBy::nothing;
    return symmetric_ || scaling_ == FactorScaling::diagonal ? ScaledBy::diagonal
                                                             : ScaledBy::largest;
  }
  /// Where an entry of B lies in A; -1: nowhere, it is 0.
  std::vector<Offset> const& source() const { return source_; }
  /// "matching: 12 rows moved; order: amd".
  std::string text() const;

 private:
  void scale(CsrView<double> const& a, CancelFlag cancel);
  void order(CsrView<double> const& a, CancelFlag cancel);
  void order_nodes(CsrView<double> const& a, CancelFlag cancel);
  void place_pivots(CsrView<double> const& a);
  void fill(CsrView<double> const& a, CancelFlag cancel);
  void fill_blocks(CsrView<double> const& a);
  FactorScaling scaling_ = FactorScaling::none;
  bool symmetric_ = false, matched_ = false;
  Index moved_ = 0, rank_ = 0;
  FactorOrder order_ = FactorOrder::none;
  Csr<double> matrix_;
  std::vector<Offset> source_;
  TwoSided sides_;
  std::vector<Index> nodes_;
};

}  // namespace tcsolve
