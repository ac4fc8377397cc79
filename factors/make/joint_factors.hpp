// SPDX-License-Identifier: Apache-2.0
/// L D U on given patterns, made and kept where the Context computes: the rows of L and U in one
/// matrix, a place for the diagonal between them.
///
///     B = [ 4 1 . ]      [ 0    1/4  .     ]   D^-1 = [ 1/4           ]
///         [ 2 4 1 ]      [ 1/2  0    1/3.5 ]          [      1/3.5    ]
///         [ . 1 4 ]      [ .    2/7  0     ]          [           1/3.7 ]
///
/// A device starts all rows, those of early levels first; a row waits for the numbers that it is
/// eliminated by (as in factors/triangle.hpp). Every row subtracts in ascending order of
/// columns, so that the numbers are the same on every run, and those of the host but for fused
/// operations.
#pragma once

#include <memory>
#include <optional>

#include <tcsolve/core/context.hpp>
#include <tcsolve/factors/make/incomplete.hpp>
#include <tcsolve/factors/make/level_zero.hpp>
#include <tcsolve/factors/triangle.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve {

/// The pattern of both factors: row i has the entries [begin_i, begin_{i+1}) with ascending
/// columns, and diagonal_i is where it has its diagonal.
struct JointArrays {
  /// The longest row that a device keeps in shared memory, and the longest for which each warp of a
  /// block has room.
  static constexpr Index most_in_shared = 2048, most_of_each = 1024;

  Index rows = 0;
  Index longest_row = 0;  // in entries
  Index short_row = 0;  // twice the mean length of a row, weighted by entries; at most most_of_each
  Offset entries = 0;
  OffsetsView begin;     // (rows + 1)
  OffsetsView diagonal;  // (rows)
  Index const* columns = nullptr;
  Index const* row_of = nullptr;  // (places), by levels; -1 for padding
  Index places = 0;
};

/// The treatment of small pivots. `definite`: a pivot that is not above 1e-12 b_ii fails; otherwise
/// a pivot below `floor` times the size of its row is replaced by that product.
struct PivotRule {
  bool definite = false;
  double floor = 0;
  double shift = 0;  ///< b_ii (1 + shift) takes the place of b_ii
};
/// How many pivots were replaced, and how many failed.
struct PivotCounts {
  unsigned replaced = 0, failed = 0;
};

/// Scratch of an elimination on a device.
struct JointScratch {
  static constexpr std::size_t counter_bytes = 24;
  void* counters = nullptr;     ///< (counter_bytes)
  double* long_rows = nullptr;  ///< (entries of the rows that are longer than short_row)
};

/// JointArrays::short_row, of rows whose lengths have these squares, summed.
Index short_row_of(Index longest_row, double squares, Offset entries);

class JointFactors {
 public:
  /// `patterns`: of a factorisation; their shift is the first one. The object is kept: its numbers
  /// become zeros here, and what to_host() brings later.
  JointFactors(Context&, std::shared_ptr<TriangularFactors> patterns);
  /// Of patterns that were made in the Context's space; they come to the host when they are asked
  /// for there.
  JointFactors(Context&, LevelZero patterns);
  /// U^T D L^T, the factors of B^T, of those of B; with levels of its own. Cost:
  /// sparse/transpose.hpp and level_zero().
  static std::shared_ptr<JointFactors> transposed(Context&, JointFactors const& of);
  /// The same after `of`, which it was made of, has other numbers.
  void transpose_again(Context&, JointFactors const& of);
  /// Numbers from B, a matrix in the Context's space, as factorise_on_pattern() makes them.
  void factorise(Context&, CsrView<double> const& B, double floor);
  /// As cholesky_on_pattern() makes them, L and U apart, with the last shift or a larger one.
  /// Throws MatrixError where B has a diagonal entry that is not positive.
  void factorise_definite(Context&, CsrView<double> const& B);

  /// L, D and U apart, on the host: the same object each time, with the numbers of the last call.
  std::shared_ptr<TriangularFactors const> to_host(Context&) const;

  Index rows() const { return rows_; }
  /// What to_host() gave last; before that, numbers that are 0.
  TriangularFactors const& pattern(Context&) const;
  /// TriangularFactors::complete.
  bool complete() const { return on_host_ && on_host_->complete; }
  Index replaced() const { return replaced_; }
  double shift() const { return shift_; }
  LevelSchedule const& lower_levels() const { return lower_levels_; }
  LevelSchedule const& upper_levels() const { return upper_levels_; }
  /// Without an order.
  TriangleView<double> lower() const;
  TriangleView<double> upper() const;
  double const* inverse_pivots() const { return inverse_pivots_.data(); }
  Offset entries() const { return static_cast<Offset>(values_.size()); }
  double const* values() const { return values_.data(); }
  JointArrays arrays() const;
  /// All of it, zeros for the diagonal.
  CsrView<double> matrix() const;

 private:
  PivotCounts run(Context&, CsrView<double> const& B, PivotRule const&);
  void make_room(Context&, Offset of_long_rows);
  TriangularFactors& patterns(Context&) const;

  Index rows_, longest_row_ = 0, short_row_ = 0;
  mutable std::shared_ptr<TriangularFactors> on_host_;  // null: not asked for yet
  LevelSchedule lower_levels_, upper_levels_;
  Array<std::int32_t> narrow_;  // begin (rows + 1), diagonal (rows), diagonal + 1 (rows)
  Array<std::int64_t> wide_;    // the same where the entries need it
  Array<Index> columns_;
  Array<double> values_, inverse_pivots_;
  Array<double> counters_, long_rows_;  // JointScratch
  Index replaced_ = 0;
  double shift_ = 0;
  std::optional<sparse::Transpose> source_;  // of the transpose of other factors
};

namespace host {
/// `values` on the pattern and `inverse_pivots` (rows) become those of B.
PivotCounts eliminate(Host&, JointArrays const&, double* values, double* inverse_pivots,
                      CsrView<double> const& B, PivotRule const&, JointScratch const&);
}  // namespace host
namespace cuda {
/// Waits for the result.
PivotCounts eliminate(Device&, JointArrays const&, double* values, double* inverse_pivots,
                      CsrView<double> const& B, PivotRule const&, JointScratch const&);
}  // namespace cuda

}  // namespace tcsolve
