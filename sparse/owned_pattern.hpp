// SPDX-License-Identifier: Apache-2.0
/// The pattern of a canonical CSR matrix that owns its arrays in a Context's space: what a plan of
/// this floor has found out, without values.
#pragma once

#include <utility>

#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve::sparse {

struct OwnedPattern {
  Index rows = 0, cols = 0;
  Offset entries = 0;
  Space space = Space::host;
  Array<std::int32_t> narrow_offsets;  ///< (rows + 1) where the entries fit 32 bits, else empty
  Array<std::int64_t> wide_offsets;    ///< (rows + 1), or empty
  Array<Index> columns;                ///< (entries)

  OffsetsView offsets() const {
    return wide_offsets.size() > 0 ? OffsetsView(wide_offsets.data())
                                   : OffsetsView(narrow_offsets.data());
  }
  /// The matrix with these values (entries), which lie in the same space; borrows both.
  template <class T>
  CsrView<T> with(T const* values) const {
    return {rows, cols, entries, offsets(), columns.data(), values, space};
  }
  PatternView view() const { return with<double>(nullptr); }
};

inline double bytes_of(OwnedPattern const& a) {
  return double(a.narrow_offsets.bytes()) + double(a.wide_offsets.bytes()) +
         double(a.columns.bytes());
}

/// The matrix that takes over a pattern and the values made for it.
template <class T>
CsrStorage<T> stored(Context& ctx, OwnedPattern pattern, Array<T> values) {
  return CsrStorage<T>(ctx, pattern.rows, pattern.cols,
                       {std::move(pattern.narrow_offsets), std::move(pattern.wide_offsets),
                        std::move(pattern.columns), std::move(values)});
}

/// The pattern of a; throws ShapeError unless it lies where the Context computes.
template <class T>
PatternView pattern_there(Context const& ctx, char const* what, CsrView<T> const& a) {
  if (a.space != ctx.space())
    throw ShapeError(cat(what, ": a matrix lies on the ", name(a.space),
                         ", the Context computes on the ", name(ctx.space()),
                         "; bring it there with CsrStorage"));
  return a;
}

/// Throws ShapeError unless the matrix that values come from has the extents that the plan was made
/// for.
template <class T>
void require_planned(char const* what, CsrView<T> const& a, Index rows, Index cols,
                     Offset entries) {
  if (a.rows != rows || a.cols != cols || a.entries != entries)
    throw ShapeError(cat(what, ": planned for a matrix of ", rows, " x ", cols, " with ", entries,
                         " entries, given ", a.rows, " x ", a.cols, " with ", a.entries,
                         "; another pattern needs another plan"));
}

}  // namespace tcsolve::sparse
