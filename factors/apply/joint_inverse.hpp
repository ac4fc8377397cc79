// SPDX-License-Identifier: Apache-2.0
/// Sparse approximate inverses of both triangles of joint factors, made where they lie
/// (factors/apply/approximate_inverse.hpp says what W is). W_L and W_U lie as L and U do, and share
/// the ones of their diagonals:
///
///     row i of the factors     l_i0  l_i1 |  0  | u_i3  u_i4
///     row i of W               w_i0  w_i1 |  1  | w_i3  w_i4
///                              W_L with its diagonal
///                                            W_U with its diagonal
///
/// A row needs rows of L and U alone, so that nothing waits: a device gives each row a warp.
#pragma once

#include <tcsolve/factors/make/joint_factors.hpp>

namespace tcsolve {

/// Which entries of a joint row.
enum class JointPart { lower, lower_with_diagonal, upper, upper_with_diagonal };

/// The entries [first, last) of row i.
TCSOLVE_HD void range_of(JointArrays const& f, JointPart part, Index i, Offset& first,
                         Offset& last) {
  bool const lower = part == JointPart::lower || part == JointPart::lower_with_diagonal;
  bool const diagonal =
      part == JointPart::lower_with_diagonal || part == JointPart::upper_with_diagonal;
  first = lower ? f.begin[i] : f.diagonal[i] + !diagonal;
  last = lower ? f.diagonal[i] + diagonal : f.begin[i + 1];
}

// invert_triangles: W of `values` on the pattern f. `symmetric`: U = L^T, and W_U becomes W_L^T.
//
//   cost   a row of L takes the rows of L that it names, a row of U those of U
//   bits   the same on every run
//
// take_part: the entries of a part, row after row, to `to`.
namespace host {
void invert_triangles(Host&, JointArrays const& f, double const* values, bool symmetric, double* W);
void take_part(Host&, JointArrays const& f, double const* values, JointPart part,
               OffsetsView offsets, double* to);
}  // namespace host
namespace cuda {
void invert_triangles(Device&, JointArrays const& f, double const* values, bool symmetric,
                      double* W);
void take_part(Device&, JointArrays const& f, double const* values, JointPart part,
               OffsetsView offsets, double* to);
}  // namespace cuda

}  // namespace tcsolve
