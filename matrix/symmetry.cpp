// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/symmetry.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tcsolve {
namespace {

constexpr double rounding = 1e-12;

}  // namespace

// With columns ascending, the entries left of the diagonal of a row are met in their order by the
// rows above it.
bool is_symmetric(CsrView<double> const& a) {
  if (a.rows != a.cols) return false;
  std::vector<Offset> next(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) next[i] = a.offsets[i];
  for (Index i = 0; i < a.rows; ++i) {
    // What is left of the diagonal has been met by now.
    if (next[i] < a.offsets[i + 1] && a.columns[next[i]] < i) return false;
    for (Offset k = next[i]; k < a.offsets[i + 1]; ++k) {
      Index const j = a.columns[k];
      if (j == i) continue;
      Offset& mirrored = next[j];
      if (mirrored == a.offsets[j + 1] || a.columns[mirrored] != i) return false;
      double const x = a.values[k], y = a.values[mirrored];
      if (!(std::abs(x - y) <= rounding * std::max(std::abs(x), std::abs(y)))) return false;
      ++mirrored;
    }
  }
  return true;
}

}  // namespace tcsolve
