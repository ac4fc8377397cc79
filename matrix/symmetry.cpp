// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/symmetry.hpp>

#include <vector>

namespace tcsolve {

// With columns ascending, the entries left of the diagonal of a row are met in their order by the
// rows above it; next[j] is the first of row j that has not been met.
bool is_symmetric(CsrView<double> const& a) {
  if (a.rows != a.cols) return false;
  std::vector<double> scale(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) scale[i] = row_scale(a, i);
  auto const same = [&](Index i, Index j, double x, double y) {
    return are_mirrors(x, y, scale[i], scale[j]);
  };
  std::vector<Offset> next(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) next[i] = a.offsets[i];
  // Entries of row j in columns before i that no row above has met: their mirrors are not stored.
  auto const pass_by = [&](Index j, Index i) {
    for (Offset& k = next[j]; k < a.offsets[j + 1] && a.columns[k] < i; ++k)
      if (!same(j, a.columns[k], a.values[k], 0)) return false;
    return true;
  };
  for (Index i = 0; i < a.rows; ++i) {
    if (!pass_by(i, i)) return false;
    for (Offset k = next[i]; k < a.offsets[i + 1]; ++k) {
      Index const j = a.columns[k];
      if (j == i) continue;
      if (!pass_by(j, i)) return false;
      bool const stored = next[j] < a.offsets[j + 1] && a.columns[next[j]] == i;
      if (!same(i, j, a.values[k], stored ? a.values[next[j]] : 0)) return false;
      next[j] += stored;
    }
  }
  return true;
}

}  // namespace tcsolve
