// SPDX-License-Identifier: Apache-2.0
/// The product C = A B of two sparse matrices in the Context's space, its pattern apart from its
/// values (Gustavson 1978, Two fast algorithms for sparse matrices: multiplication and permuted
/// transposition, section 2):
///
///     c_ij = sum_k a_ik b_kj      (m x n) = (m x p) (p x n), k ascending
///
///     Product const plan(ctx, a, b);                // where C has entries
///     plan.values(ctx, a, b, c.data());             // as often as the values of A and B change
///     CsrView<double> const C = plan.pattern().with(c.data());
///
/// The pattern is that of the product of patterns: what cancels stays as an explicit zero. Products
/// and sums are rounded one by one in T, in the order of k and from +0 on, without floating-point
/// atomics: the same bits on every run and every backend, and |error| of c_ij is at most
/// l u / (1 - l u) sum_k |a_ik b_kj| for l terms (Higham 2002, Accuracy and stability of numerical
/// algorithms, section 3.1). A NaN or infinity reaches the entries that it is a factor of, alone.
///
/// A row of C is made by a thread, a longer one by 8 or 32 lanes. Its columns are collected in a
/// hash table and sorted; its values are added up in such a table. Tables lie in shared memory; a
/// row has the first of nine sizes that it fits, found from a guess that is checked (Nagasaka,
/// Nukada and Matsuoka 2017, High-performance and memory-saving sparse general matrix-matrix
/// multiplication for NVIDIA Pascal GPU). Rows beyond (ProductLimits) are made together: all their
/// products listed and sorted by row and column (expand, sort, compress: Bell, Dalton and Olson
/// 2012, Exposing fine-grained parallelism in algebraic multigrid methods), a stretch of bounded
/// memory after another. The host's threads do without tables, each with a place for every column
/// of C (Gustavson): the last row that had it, or where its row has it.
///
/// Where unknowns come in nodes, whose entries stand in blocks, patterns, tables and look-ups are
/// of blocks, while sums are those of above (product_blocks_build.hpp); what A does not store of
/// its blocks counts as zero, so that a NaN or infinity reaches other entries of its block too.
///
///   pattern  one or two passes over the products (k, j), 4 bytes each
///   values   one pass over them, 4 + sizeof(T) bytes each, and 4 + sizeof(T) bytes an entry of C
///   memory   the pattern and 4 bytes a row
///   scratch  40 bytes a row, 8 an entry of A and of B; for long rows 28 + sizeof(T) bytes a
///   product of a stretch; on the host
///            4 bytes a column for each thread, together at most 4 an entry of A (pattern) or C
///            (values)
#pragma once

#include <array>
#include <optional>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve::sparse {

/// Which rows of C are sorted instead of tabled. Results do not depend on it.
struct ProductLimits {
  int sizes = 9;  ///< of tables: rows of C fit 11, 23, 47, 95, 191, 383, 767, 1535, 3071 entries
  Offset row = 8192;          ///< entries of a row of A, which one group goes through in turn
  Offset products = 1 << 22;  ///< of a stretch of rows that are sorted, unless it is one row
  Offset walked = 512;        ///< the same of P^T A P without A P, by a lane; 0: by A P
  Offset few = 200'000;       ///< so many short rows of one size, or more, have a thread each
  bool places = true;         ///< the host does without tables
  double keep = 2;            ///< columns for each entry of A and of B, from a count to be sorted
  /// Products for each entry of A that a plan takes on, on the average; 0: any. A few dense rows
  /// make C dense.
  double for_an_entry = 0;
  CancelFlag cancel = {};  ///< of the plan; that of the Context, looked at between stretches
};

/// The unknowns of a node: A has blocks of rows x inner, B of inner x cols.
struct ProductBlocks {
  Index rows = 1, inner = 1, cols = 1;
  bool scalar() const { return rows == 1 && inner == 1 && cols == 1; }
};

/// B, or what is made of it by taking its columns together: column j stands for into[j], and for
/// none where that is negative.
struct RightFactor : PatternView {
  Index const* into = nullptr;  ///< (columns of the matrix) null: each for itself

  RightFactor() = default;
  RightFactor(PatternView const& b) : PatternView(b) {}
  template <class T>
  RightFactor(CsrView<T> const& b) : PatternView(b) {}
  RightFactor(PatternView const& b, Index const* into, Index columns) : PatternView(b), into(into) {
    cols = columns;
  }
  TCSOLVE_HD Index column(Offset q) const {
    return into == nullptr ? columns[q] : into[columns[q]];
  }
};

/// What the first pass of a product finds out; by blocks, of their pattern.
struct ProductPattern {
  static constexpr int sizes = 9;
  OwnedPattern pattern;
  Array<Index> order;                     ///< rows by the size of their tables
  std::array<Offset, sizes + 2> begin{};  ///< of each size in `order`, then of the long rows
  ProductLimits limits;
};

/// A and B of a product by blocks: the patterns of their blocks.
struct BlockFactors {
  ProductBlocks sizes;
  OwnedPattern a, b;
};

/// Those of a product by blocks that gains by it: B has no others than full ones, and A stores half
/// of its blocks or more.
std::optional<BlockFactors> factors_by_blocks(Context&, PatternView const& a, PatternView const& b,
                                              ProductBlocks const&);

class Product {
 public:
  /// Of matrices in the Context's space, canonical; their values are not read and may be null.
  /// Throws ShapeError where cols of A are not rows of B, or one lies in another space; SizeError
  /// where a single row sums 2^31 products or more and has no table, or the limit is passed, which
  /// the host knows before it begins; MemoryError where C does not fit; Cancelled and OutOfTime. By
  /// `blocks` where B has no others than full ones, and A stores half of its blocks or more: then C
  /// has full blocks.
  template <class T>
  Product(Context& ctx, CsrView<T> const& a, CsrView<T> const& b, ProductLimits const& limits = {},
          ProductBlocks const& blocks = {})
      : Product(ctx, pattern_there(ctx, "product", a), pattern_there(ctx, "product", b), limits,
                blocks) {}

  OwnedPattern const& pattern() const { return factors_ ? entries_ : made_.pattern; }
  /// Ends the plan: its pattern for somebody who stores it.
  OwnedPattern release() && { return std::move(factors_ ? entries_ : made_.pattern); }
  bool goes_by_blocks() const { return factors_.has_value(); }
  /// That the plan holds.
  double bytes() const;
  /// Writes the values of C (entries) in the Context's space, of a and b on the patterns that the
  /// plan was made for; T is double or float. Throws ShapeError where extents or numbers of entries
  /// differ.
  template <class T>
  void values(Context&, CsrView<T> const& a, CsrView<T> const& b, T* c) const;

 private:
  Product(Context&, PatternView const& a, PatternView const& b, ProductLimits const&,
          ProductBlocks const&);
  ProductPattern made_;
  std::optional<BlockFactors> factors_;  // by blocks
  OwnedPattern entries_;                 // of C, by blocks
  Index inner_ = 0;
  Offset a_entries_ = 0, b_entries_ = 0;
};

/// A B, once. Errors and cost: as the plan's.
template <class T>
CsrStorage<T> product(Context&, CsrView<T> const& a, CsrView<T> const& b);

}  // namespace tcsolve::sparse

namespace tcsolve {
namespace host {
sparse::ProductPattern product_pattern(Host&, Arena&, PatternView const& a,
                                       sparse::RightFactor const& b, sparse::ProductLimits const&);
template <class T>
void product_values(Host&, Arena&, sparse::ProductPattern const&, CsrView<T> const& a,
                    CsrView<T> const& b, T* c);
template <class T>
void block_product_values(Host&, Arena&, sparse::ProductPattern const&, sparse::BlockFactors const&,
                          CsrView<T> const& a, T const* b, T* c);
}  // namespace host
namespace cuda {
sparse::ProductPattern product_pattern(Device&, Arena&, PatternView const& a,
                                       sparse::RightFactor const& b, sparse::ProductLimits const&);
template <class T>
void product_values(Device&, Arena&, sparse::ProductPattern const&, CsrView<T> const& a,
                    CsrView<T> const& b, T* c);
template <class T>
void block_product_values(Device&, Arena&, sparse::ProductPattern const&,
                          sparse::BlockFactors const&, CsrView<T> const& a, T const* b, T* c);
}  // namespace cuda
}  // namespace tcsolve
