// SPDX-License-Identifier: Apache-2.0
/// The product P^T A P in the Context's space: the Galerkin operator of a coarser space whose basis
/// are the columns of P (Trottenberg, Oosterlee and Schueller 2001, Multigrid, appendix A). Its
/// pattern is found once, its values as often as those of A and P change:
///
///     C = P^T (A P)         (m x m) = (m x n) (n x n) (n x m)
///
///     TripleProduct const plan(ctx, a, p);
///     plan.values(ctx, a, p, c.data());
///
/// Two products (sparse/product.hpp) and a transpose (sparse/transpose.hpp), each of whose sums is
/// taken in order: the same bits on every run and backend. Where A is symmetric C is symmetric but
/// for rounding.
///
///   memory   the patterns of P^T, A P and C, and 4 bytes an entry of P; by blocks also those of
///   blocks scratch  of values(): those of P^T and A P cost     that of the parts
#pragma once

#include <utility>

#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve::sparse {

class TripleProduct {
 public:
  /// Of A (n x n) and P (n x m), canonical, in the Context's space; their values are not read and
  /// may be null. Throws ShapeError where they do not fit, and what Product throws. By blocks where
  /// these pay (Product), of node x node in A, and of node x coarse in P.
  template <class T>
  TripleProduct(Context& ctx, CsrView<T> const& a, CsrView<T> const& p,
                ProductLimits const& limits = {}, Index node = 1, Index coarse = 1)
      : restriction_(ctx, p),
        ap_(ctx, a, p, limits, {node, node, coarse}),
        c_(ctx, restriction_.pattern().template with<T>(nullptr),
           ap_.pattern().template with<T>(nullptr), limits,
           ap_.goes_by_blocks() ? ProductBlocks{coarse, node, coarse} : ProductBlocks{}) {}

  /// Of C (m x m).
  OwnedPattern const& pattern() const { return c_.pattern(); }
  /// The plan of P^T (m x n), for those who multiply by it.
  Transpose const& restriction() const { return restriction_; }
  bool goes_by_blocks() const { return ap_.goes_by_blocks(); }
  /// That the plan holds.
  double bytes() const { return restriction_.bytes() + ap_.bytes() + c_.bytes(); }
  /// Ends the plan: its pattern for somebody who stores it.
  OwnedPattern release() && { return std::move(c_).release(); }
  /// The same with the pattern of P^T: that first, then C's.
  std::pair<OwnedPattern, OwnedPattern> release_both() && {
    return {std::move(restriction_).release(), std::move(c_).release()};
  }
  /// Writes the values of C (entries) in the Context's space, of a and p on the patterns that the
  /// plan was made for; T is double or float. Those of P^T, which it goes by, go to `pt` (entries
  /// of P) where that is given. Throws ShapeError where extents or numbers of entries differ.
  template <class T>
  void values(Context&, CsrView<T> const& a, CsrView<T> const& p, T* c, T* pt = nullptr) const;

 private:
  Transpose restriction_;
  Product ap_, c_;
};

/// P^T A P, once. Errors and cost: as the plan's.
template <class T>
CsrStorage<T> triple_product(Context&, CsrView<T> const& a, CsrView<T> const& p);

}  // namespace tcsolve::sparse
