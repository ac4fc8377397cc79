// SPDX-License-Identifier: Apache-2.0
/// A matrix without some of its entries, in the Context's space: which are kept is a byte for each
/// entry, made by strong_entries() or any rule of the caller's. The pattern is made once, values as
/// often as those of A change:
///
///     strong_entries(ctx, a, 0.08, keep);      // |a_ij| > theta sqrt(|a_ii a_jj|), or i = j
///     Filter const plan(ctx, a, keep, Lump::diagonal);
///     plan.values(ctx, a, f.data());
///
///     f_ij = a_ij                                where kept
///     f_ii = a_ii + sum of the a_ij that are not  with Lump::diagonal, so that row sums stay
///
/// It is with such a matrix that smoothed aggregation smooths (after Vanek, Mandel and Brezina
/// 1996, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic
/// problems). Dropped entries are added up in T by ascending column, from +0 on, before they are
/// added to a_ii: the same bits on every backend.
///
///   plan    two passes over the matrix, 16 bytes a row of scratch
///   memory  a byte an entry of A, and the pattern
///   values  one pass over both matrices, a row by one thread
#pragma once

#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve::sparse {

enum class Lump {
  none,     ///< dropped entries are lost
  diagonal  ///< they are added to the diagonal entry of their row
};

/// keep_k = 1 for the entries k = (i, j) with i = j or |a_ij| > theta sqrt(|a_ii|) sqrt(|a_jj|),
/// else 0; a diagonal entry that is not stored counts as 0, a NaN is kept. keep (entries) in the
/// Context's space; T is double or float; the test is made in FP64. Throws ShapeError unless the
/// matrix is square and lies there. Cost: one pass, 8 bytes an entry at random.
template <class T>
void strong_entries(Context&, CsrView<T> const& a, double theta, std::uint8_t* keep);

/// What a filter finds out.
struct FilteredPattern {
  OwnedPattern pattern;
  Array<std::uint8_t> keep;  ///< (entries of A)
  Lump lump = Lump::none;
};

class Filter {
 public:
  /// Of a, canonical and in the Context's space, as keep (entries of a), which is copied; values of
  /// a are not read and may be null. Throws ShapeError for a matrix in another space, MatrixError
  /// where a row is to be lumped that keeps no diagonal entry.
  template <class T>
  Filter(Context& ctx, CsrView<T> const& a, std::uint8_t const* keep, Lump lump = Lump::none)
      : Filter(ctx, pattern_there(ctx, "filter", a), keep, lump) {}

  OwnedPattern const& pattern() const { return made_.pattern; }
  /// Ends the plan: its pattern for somebody who stores it.
  OwnedPattern release() && { return std::move(made_.pattern); }
  /// That the plan holds.
  double bytes() const { return bytes_of(made_.pattern) + double(made_.keep.bytes()); }
  /// Writes the values (entries of pattern()) in the Context's space, of a on the pattern that the
  /// plan was made for; T is double or float. Throws ShapeError where extents or numbers of entries
  /// differ.
  template <class T>
  void values(Context&, CsrView<T> const& a, T* to) const;

 private:
  Filter(Context&, PatternView const& a, std::uint8_t const* keep, Lump);
  FilteredPattern made_;
};

}  // namespace tcsolve::sparse

namespace tcsolve {
namespace host {
template <class T>
void mark_strong(Host&, Arena&, CsrView<T> const& a, double theta, std::uint8_t* keep);
sparse::FilteredPattern filter_pattern(Host&, Arena&, PatternView const& a,
                                       std::uint8_t const* keep, sparse::Lump);
template <class T>
void filter_values(Host&, Arena&, sparse::FilteredPattern const&, CsrView<T> const& a, T* to);
}  // namespace host
namespace cuda {
template <class T>
void mark_strong(Device&, Arena&, CsrView<T> const& a, double theta, std::uint8_t* keep);
sparse::FilteredPattern filter_pattern(Device&, Arena&, PatternView const& a,
                                       std::uint8_t const* keep, sparse::Lump);
template <class T>
void filter_values(Device&, Arena&, sparse::FilteredPattern const&, CsrView<T> const& a, T* to);
}  // namespace cuda
}  // namespace tcsolve
