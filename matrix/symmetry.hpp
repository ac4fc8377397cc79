// SPDX-License-Identifier: Apache-2.0
/// Whether a matrix is symmetric in its entries.
#pragma once

#include <cmath>
#include <limits>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// s_i = sqrt |a_ii|; of a row with a_ii = 0 the root of its largest entry.
TCSOLVE_HD double row_scale(CsrView<double> const& a, std::int64_t i) {
  double diagonal = 0, largest = 0;
  for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
    double const size = magnitude(a.values[k]);
    if (a.columns[k] == i) diagonal = size;
    largest = size > largest ? size : largest;
  }
  return std::sqrt(diagonal > 0 ? diagonal : largest);
}

/// Whether x = a_ij and y = a_ji agree up to what rounding explains:
///
///     |x - y| <= 1e-12 max(|x|, |y|) + 8 eps s_i s_j
///
/// The second term is that of sums whose parts cancel: finite elements add entries of size up to
/// s_i s_j, and the rounding errors of a sum that is 0 differ between the triangles.
TCSOLVE_HD bool are_mirrors(double x, double y, double scale_i, double scale_j) {
  constexpr double of_the_pair = 1e-12;
  constexpr double of_the_rows = 8 * std::numeric_limits<double>::epsilon();
  double const one = magnitude(x), other = magnitude(y);
  return magnitude(x - y) <=
         of_the_pair * (one > other ? one : other) + of_the_rows * scale_i * scale_j;
}

/// Whether all a_ij and a_ji are mirrors; an entry that is not stored is 0. D A D is judged as A
/// is, for any diagonal D and a diagonal of A without zeros. False for a matrix that is not square,
/// or has a NaN off its diagonal.
///
/// Of a canonical matrix on the host, or in the Context's space. Cost: two passes, and for each
/// entry above the diagonal a look at its mirror, which is found at once in matrices of stencils
/// and by bisection of its row in others; for those below too where some have no mirror.
bool is_symmetric(CsrView<double> const& a);
bool is_symmetric(Context&, CsrView<double> const& a);

/// Whether a_ij and a_ji are both stored, with the same bits, or neither is: for whoever keeps one
/// triangle alone. Of a canonical matrix on the host or in the Context's space. Cost: one pass, and
/// the same looks.
bool mirrors_bit_by_bit(Context&, CsrView<double> const& a);

namespace host {
bool mirrors_bit_by_bit(Host&, Arena&, CsrView<double> const& a);
}  // namespace host
namespace cuda {
bool mirrors_bit_by_bit(Device&, Arena&, CsrView<double> const& a);
}  // namespace cuda

}  // namespace tcsolve
