// SPDX-License-Identifier: Apache-2.0
/// The transpose of a CSR matrix, in the Context's space: a pattern that is found once, and values
/// that are gathered as often as they change.
///
///     Transpose const plan(ctx, a);                 // the pattern of A^T
///     plan.values(ctx, a.values, at.data());        // (A^T)_ji = a_ij
///     CsrView<double> const t = plan.pattern().with(at.data());
///
/// Entries are sorted by their column, stably, so that those of a column keep the order of their
/// rows: the transpose of a canonical matrix is canonical, and the same bits on every backend.
///
///   plan    on a device, where A's pattern is that of A^T: a search in row j for entry ij; else
///           a radix sort of 12 bytes an entry (20 from 2^31 entries on)
///   values  one gather: 4 (8) + 2 sizeof(T) bytes an entry, values of A at random
///   memory  4 (8) bytes an entry beside the pattern; of scratch, 24 (40)
#pragma once

#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve::sparse {

/// Where the entries of A^T come from in A.
struct TransposedPattern {
  OwnedPattern pattern;               ///< of A^T
  Array<std::int32_t> narrow_source;  ///< (entries) where they fit 32 bits, else empty
  Array<std::int64_t> wide_source;    ///< (entries), or empty
};

class Transpose {
 public:
  /// Of a, canonical and in the Context's space; its values are not read and may be null. Throws
  /// ShapeError for a matrix in another space.
  template <class T>
  Transpose(Context& ctx, CsrView<T> const& a)
      : Transpose(ctx, pattern_there(ctx, "transpose", a)) {}

  OwnedPattern const& pattern() const { return made_.pattern; }
  /// Ends the plan: its pattern for somebody who stores it.
  OwnedPattern release() && { return std::move(made_.pattern); }
  /// That the plan holds.
  double bytes() const {
    return bytes_of(made_.pattern) + double(made_.narrow_source.bytes()) +
           double(made_.wide_source.bytes());
  }
  /// to_k = from_(source_k): the values (entries) of A, in the Context's space, as those of A^T. T
  /// is any type that values are stored in.
  template <class T>
  void values(Context&, T const* from, T* to) const;

 private:
  Transpose(Context&, PatternView const& a);
  TransposedPattern made_;
};

/// A^T, once. Errors and cost: as the plan's.
template <class T>
CsrStorage<T> transposed(Context&, CsrView<T> const& a);

}  // namespace tcsolve::sparse

namespace tcsolve {
namespace host {
sparse::TransposedPattern transpose_pattern(Host&, Arena&, PatternView const& a);
template <class T>
void transpose_values(Host&, Arena&, sparse::TransposedPattern const&, T const* from, T* to);
}  // namespace host
namespace cuda {
sparse::TransposedPattern transpose_pattern(Device&, Arena&, PatternView const& a);
template <class T>
void transpose_values(Device&, Arena&, sparse::TransposedPattern const&, T const* from, T* to);
}  // namespace cuda
}  // namespace tcsolve
