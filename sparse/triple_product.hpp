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
/// Where each row of P has one entry at most, or one block, which says what aggregate it is in, A P
/// is not made (triple_product_build.hpp): C has an entry for each pair of aggregates that A
/// couples. The bits are those of the two products; a NaN or infinity of P reaches its rows of C.
///
///   memory   the patterns of P^T, A P and C, and 4 bytes an entry of P; by blocks also those of
///            blocks; of aggregates none of A P
///   scratch  of values(): those of P^T and A P; of aggregates 4 + sizeof(T) bytes a row where some
///            are in none
///   cost     that of the parts; of aggregates two readings of A, one of them without values
#pragma once

#include <optional>
#include <utility>

#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve::sparse {

/// The plan of P^T A P without A P.
struct AggregateProduct {
  ProductPattern made;                  ///< of C; by blocks, of its blocks
  std::optional<BlockFactors> factors;  ///< A and P by blocks
  OwnedPattern pt, entries;             ///< by blocks: those of P^T, and C

  OwnedPattern& pattern() { return factors ? entries : made.pattern; }
  OwnedPattern const& pattern() const { return factors ? entries : made.pattern; }
};
/// By blocks: so many rows of a node, and vectors of an aggregate, have room.
constexpr Index most_node_rows = 8, most_node_vectors = 32;

class TripleProduct {
 public:
  /// Of A (n x n) and P (n x m), canonical, in the Context's space; their values are not read and
  /// may be null. Throws ShapeError where they do not fit, and what Product throws. By blocks where
  /// these pay (Product), of node x node in A, and of node x coarse in P.
  template <class T>
  TripleProduct(Context& ctx, CsrView<T> const& a, CsrView<T> const& p,
                ProductLimits const& limits = {}, Index node = 1, Index coarse = 1)
      : restriction_(ctx, p), a_entries_(a.entries) {
    plan_aggregates(ctx, pattern_there(ctx, "triple product", a), p, limits, {node, node, coarse});
    if (aggregates_) return;
    ap_.emplace(ctx, a, p, limits, ProductBlocks{node, node, coarse});
    c_.emplace(ctx, restriction_.pattern().template with<T>(nullptr),
               ap_->pattern().template with<T>(nullptr), limits,
               ap_->goes_by_blocks() ? ProductBlocks{coarse, node, coarse} : ProductBlocks{});
  }

  /// Of C (m x m).
  OwnedPattern const& pattern() const {
    return aggregates_ ? aggregates_->pattern() : c_->pattern();
  }
  /// The plan of P^T (m x n), for those who multiply by it.
  Transpose const& restriction() const { return restriction_; }
  bool goes_by_blocks() const {
    return aggregates_ ? aggregates_->factors.has_value() : ap_->goes_by_blocks();
  }
  /// Without A P.
  bool goes_by_aggregates() const { return aggregates_.has_value(); }
  /// That the plan holds.
  double bytes() const;
  /// Ends the plan: its pattern for somebody who stores it.
  OwnedPattern release() && {
    return aggregates_ ? std::move(aggregates_->pattern()) : std::move(*c_).release();
  }
  /// The same with the pattern of P^T: that first, then C's.
  std::pair<OwnedPattern, OwnedPattern> release_both() && {
    OwnedPattern pt = std::move(restriction_).release();
    return {std::move(pt), std::move(*this).release()};
  }
  /// Writes the values of C (entries) in the Context's space, of a and p on the patterns that the
  /// plan was made for; T is double or float. Those of P^T, which it goes by, go to `pt` (entries
  /// of P) where that is given. Throws ShapeError where extents or numbers of entries differ.
  template <class T>
  void values(Context&, CsrView<T> const& a, CsrView<T> const& p, T* c, T* pt = nullptr) const;

 private:
  void plan_aggregates(Context&, PatternView const& a, PatternView const& p, ProductLimits const&,
                       ProductBlocks const&);

  Transpose restriction_;
  Offset a_entries_;
  std::optional<AggregateProduct> aggregates_;
  std::optional<Product> ap_, c_;  // where there are none
};

/// P^T A P, once. Errors and cost: as the plan's.
template <class T>
CsrStorage<T> triple_product(Context&, CsrView<T> const& a, CsrView<T> const& p);

}  // namespace tcsolve::sparse

namespace tcsolve {
namespace host {
std::optional<sparse::ProductPattern> aggregate_pattern(Host&, Arena&, PatternView const& a,
                                                        PatternView const& p, PatternView const& pt,
                                                        sparse::ProductLimits const&);
template <class T>
void aggregate_values(Host&, Arena&, sparse::AggregateProduct const&, CsrView<T> const& a,
                      CsrView<T> const& p, PatternView const& pt, T* c);
}  // namespace host
namespace cuda {
std::optional<sparse::ProductPattern> aggregate_pattern(Device&, Arena&, PatternView const& a,
                                                        PatternView const& p, PatternView const& pt,
                                                        sparse::ProductLimits const&);
template <class T>
void aggregate_values(Device&, Arena&, sparse::AggregateProduct const&, CsrView<T> const& a,
                      CsrView<T> const& p, PatternView const& pt, T* c);
}  // namespace cuda
}  // namespace tcsolve
