// SPDX-License-Identifier: Apache-2.0
/// Orders and reordered matrices, computed in the space of the matrix (definitions:
/// graph/reorder/cuthill_mckee.hpp, permutation.hpp, locality.hpp). Each is one template over a
/// backend (kernels/convert.hpp): cuthill_mckee_build.hpp, permute_build.hpp, locality_build.hpp.
///
///   host   Kokkos
///   cuda   one warp per row; all searches are one cooperative kernel, and so are all numbers
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/matrix/csr_arrays.hpp>

namespace tcsolve {

/// Limits beyond which the parallel search by levels is slower than the serial search by vertices.
/// 0: no limit.
struct CuthillMckeeLimits {
  Offset longest = 0;  ///< entries of a row, which a single warp processes
  Offset levels = 0;   ///< of all searches together; a level costs one to three barriers or kernels
  /// Searches and numbers are a cooperative kernel each, where the device can run one; false: a
  /// level is one kernel of a search and two of the numbering.
  bool one_kernel = true;
};

/// Sums over blocks of 32 rows (graph/reorder/locality.hpp).
struct LocalitySums {
  Offset profile = 0, sectors = 0;
  Index bandwidth = 0, wide_blocks = 0;
};

namespace host {
/// Writes old_numbers (rows) of reverse_cuthill_mckee() to host memory. Returns false and writes
/// nothing if a limit is exceeded; the search stops at the limit, at most 15 levels beyond it with
/// a kernel a level.
bool cuthill_mckee(Host&, Arena&, PatternView const& a, CuthillMckeeLimits const&,
                   Index* old_numbers);
/// P A P^T, rows in ascending order; old_numbers and new_numbers (rows) in the space of `a`.
template <class S>
CsrArrays<S> permute(Host&, Arena&, CsrView<S> const& a, Index const* old_numbers,
                     Index const* new_numbers);
LocalitySums measure_locality(Host&, Arena&, PatternView const& a);
}  // namespace host

namespace cuda {
bool cuthill_mckee(Device&, Arena&, PatternView const& a, CuthillMckeeLimits const&,
                   Index* old_numbers);
template <class S>
CsrArrays<S> permute(Device&, Arena&, CsrView<S> const& a, Index const* old_numbers,
                     Index const* new_numbers);
LocalitySums measure_locality(Device&, Arena&, PatternView const& a);
}  // namespace cuda

}  // namespace tcsolve
