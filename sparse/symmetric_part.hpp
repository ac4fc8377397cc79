// SPDX-License-Identifier: Apache-2.0
/// The symmetric part of a square matrix, in the Context's space: a pattern that is found once, and
/// values that are made as often as those of A change:
///
///     SymmetricPart const plan(ctx, a);          // the entries of A and of A^T
///     plan.values(ctx, a, h.data());             // h_ij = (a_ij + a_ji) / 2
///
///     A = [ 2 -1  . ]     H = [  2  -.5  -1 ]    an entry that is not stored counts as 0
///         [ .  3  . ]         [ -.5   3   . ]
///         [-2  .  4 ]         [ -1    .   4 ]
///
/// <x, A x> = <x, H x>: H is positive definite where the field of values of A lies to the right of
/// 0 (Saad 2003, section 1.11). The same bits on every backend.
///
///   plan     a transpose (sparse/transpose.hpp) and two merges of each row with its column
///   values   the values of the transpose, and one merge
///   memory   the patterns of A^T and H, and 4 bytes an entry of A
#pragma once

#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve::sparse {

class SymmetricPart {
 public:
  /// Of a, canonical, square, in the Context's space; values are not read and may be null. Throws
  /// ShapeError where it is not.
  SymmetricPart(Context&, CsrView<double> const& a);

  OwnedPattern const& pattern() const { return pattern_; }
  /// The pattern of A is that of H.
  bool keeps_pattern() const { return pattern_.entries == transpose_.pattern().entries; }
  /// That the plan holds.
  double bytes() const {
    double const rows = pattern_.rows, entries = double(transpose_.pattern().entries);
    return 8 * rows + 8 * entries + 4 * double(pattern_.entries);
  }
  /// Writes the values (entries of pattern()) of a on the pattern that the plan was made for.
  /// Throws ShapeError where extents or numbers of entries differ.
  void values(Context&, CsrView<double> const& a, double* h) const;

 private:
  Transpose transpose_;
  OwnedPattern pattern_;
};

}  // namespace tcsolve::sparse

namespace tcsolve {
namespace host {
sparse::OwnedPattern union_pattern(Host&, Arena&, PatternView const& a, PatternView const& t);
void average_values(Host&, Arena&, CsrView<double> const& a, CsrView<double> const& t,
                    OffsetsView const& offsets, double* h);
}  // namespace host
namespace cuda {
sparse::OwnedPattern union_pattern(Device&, Arena&, PatternView const& a, PatternView const& t);
void average_values(Device&, Arena&, CsrView<double> const& a, CsrView<double> const& t,
                    OffsetsView const& offsets, double* h);
}  // namespace cuda
}  // namespace tcsolve
