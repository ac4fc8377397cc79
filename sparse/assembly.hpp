// SPDX-License-Identifier: Apache-2.0
/// A matrix by its entries (i_k, j_k, v_k), as codes assemble it: in any order, a place as often as
/// elements meet there. The places are found once, and values summed into them as often as they
/// change.
///
///     k      0  1  2  3  4  5                   a = [ v0 + v4    .    v2 ]
///     i      0  1  0  1  0 -1                       [    .    v1 + v3 .  ]
///     j      0  1  2  1  0  1
///     source 0  4  2  1  3                      sorted by row, then column, then k
///     starts 0     2  3     5                   of the places among them
///
///     Assembly const plan(ctx, entries);
///     plan.values(ctx, v, a.data());            // a_s = sum of v_k over its place, k ascending
///
/// A negative number leaves its entry out. The same bits on every backend.
///
///   plan    two radix sorts of 12 bytes an entry (20 from 2^31 entries on)
///   values  4 (8) + 8 bytes an entry, at random, 8 + 4 (8) a place
///   memory  4 (8) bytes an entry and 4 (8) a place beside the pattern; of scratch, 32 (48) an
///   entry
#pragma once

#include <tcsolve/core/coo_view.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve {

namespace sparse {

/// Where the values of the places come from.
struct AssembledPattern {
  OwnedPattern pattern;
  Array<std::int32_t> narrow_source;  ///< (entries kept) where the entries fit 32 bits, else empty
  Array<std::int64_t> wide_source;    ///< (entries kept), or empty
  Array<std::int32_t> narrow_starts;  ///< (places + 1), or empty
  Array<std::int64_t> wide_starts;    ///< (places + 1), or empty
};

class Assembly {
 public:
  /// Of entries in the Context's space, whose values are not read. Throws ShapeError for others,
  /// MatrixError with the number of an entry that lies outside of the matrix.
  Assembly(Context& ctx, CooView const& entries);

  OwnedPattern const& pattern() const { return made_.pattern; }
  Offset entries() const { return entries_; }
  /// Of the matrix, (pattern().entries), from those of the entries; both in the Context's space.
  void values(Context&, double const* from, double* to) const;

 private:
  Offset entries_;
  AssembledPattern made_;
};

}  // namespace sparse

namespace host {
sparse::AssembledPattern assemble_pattern(Host&, Arena&, CooView const& entries);
void assemble_values(Host&, Arena&, sparse::AssembledPattern const&, double const* from,
                     double* to);
}  // namespace host
namespace cuda {
sparse::AssembledPattern assemble_pattern(Device&, Arena&, CooView const& entries);
void assemble_values(Device&, Arena&, sparse::AssembledPattern const&, double const* from,
                     double* to);
}  // namespace cuda
}  // namespace tcsolve
