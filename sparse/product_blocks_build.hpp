// SPDX-License-Identifier: Apache-2.0
/// The values of C = A B by blocks, written once for both backends (sparse/groups.hpp). A block row
/// of C is one group's, whose lanes are columns of the blocks of a row of B:
///
///                 b b b | b b b                one block of A, R x K; a row of B with two blocks
///        a a   x  b b b | b b b   lanes 0 .. 5
///        a a
///
/// A block of B is looked up once in the row of C. Entry (i, j) of C sums its products in the order
/// of k from +0 on, as entry by entry (product_build.hpp): what a block does not store counts as
/// +0, which changes no sum. Sums lie in the memory of the group, in the order of C; rows that do
/// not fit there are added up where C is.
#pragma once

#include <tcsolve/sparse/groups.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/product_build.hpp>
#include <tcsolve/sparse/rounded.hpp>

namespace tcsolve::sparse {

/// A row of A as its block row has it.
template <class T>
struct RowInBlocks {
  T const* values;
  Index const* columns;
  Offset length;
  bool full;  ///< all entries of all blocks are stored

  /// Row `row`, of block row I, whose blocks have `inner` columns.
  TCSOLVE_HD RowInBlocks(CsrView<T> const& a, PatternView const& blocks, std::int64_t row,
                         std::int64_t I, int inner)
      : values(a.values + a.offsets[row]),
        columns(a.columns + a.offsets[row]),
        length(a.offsets[row + 1] - a.offsets[row]),
        full(length == (blocks.offsets[I + 1] - blocks.offsets[I]) * inner) {}
  /// Entry t of block m of the row, whose column of blocks is k.
  TCSOLVE_HD T entry(Offset m, Index k, int inner, int t) const {
    if (full) return values[m * inner + t];
    auto const column = static_cast<Index>(k * inner + t);
    Offset const at = first_not_below(columns, length, column);
    return at < length && columns[at] == column ? values[at] : T(0);
  }
};

/// R x K blocks of A, K x C of B; 0: as the sizes say.
template <class T, int R, int K, int C>
struct SumBlockRow {
  static constexpr int at_once = 32;  // blocks of B
  ProductBlocks sizes;
  CsrView<T> a;
  PatternView a_blocks, b_blocks, c_blocks;
  T const* b;
  T* c;
  Index const* rows;
  bool fits;  ///< in the memory of the group

  TCSOLVE_HD int height() const { return R > 0 ? R : sizes.rows; }
  TCSOLVE_HD int inner() const { return K > 0 ? K : sizes.inner; }
  TCSOLVE_HD int width() const { return C > 0 ? C : sizes.cols; }

  static std::size_t least_bytes(ProductBlocks const& s) {
    return std::size_t(s.rows) * s.inner * sizeof(T) + at_once * sizeof(Index);
  }
  static std::size_t bytes(ProductBlocks const& s, Index columns) {
    return least_bytes(s) + std::size_t(columns) * s.rows * s.cols * sizeof(T);
  }

  /// Entry (i, t) of block m of block row I of A, whose column of blocks is k.
  TCSOLVE_HD T entry(std::int64_t I, Offset m, Index k, int i, int t) const {
    return RowInBlocks<T>(a, a_blocks, I * height() + i, I, inner()).entry(m, k, inner(), t);
  }

  template <class Group>
  TCSOLVE_HD void operator()(Group const& group, std::int64_t at) const {
    Index const I = rows[at];
    Offset const first = c_blocks.offsets[I];
    auto const blocks = static_cast<Index>(c_blocks.offsets[std::int64_t{I} + 1] - first);
    Index const row = blocks * width(), all = height() * row;
    Index const* const columns = c_blocks.columns + first;
    T* const to = c + first * height() * width();
    std::size_t const of_a = std::size_t(height()) * inner() * sizeof(T);
    auto const block = group.template strip<T>(0);
    auto const slot = group.template strip<Index>(of_a);
    T* const sum = fits ? &group.template strip<T>(of_a + at_once * sizeof(Index))[0] : to;
    for (Index e = group.lane(); e < all; e += group.lanes()) sum[e] = T(0);
    Offset const begin = a_blocks.offsets[I], end = a_blocks.offsets[std::int64_t{I} + 1];
    for (Offset p = begin; p < end; ++p) {
      Index const k = a_blocks.columns[p];
      Stretch const of_b = stretch_of(b_blocks.offsets, k);
      auto const length = static_cast<Index>(of_b.end - of_b.begin);
      T const* const from = b + of_b.begin * inner() * width();
      for (Index q0 = 0; q0 < length; q0 += at_once) {
        Index const n = length - q0 < at_once ? length - q0 : at_once;
        group.sync();
        for (int e = group.lane(); q0 == 0 && e < height() * inner(); e += group.lanes())
          block[e] = entry(I, p - begin, k, e / inner(), e % inner());
        for (Index q = group.lane(); q < n; q += group.lanes())
          slot[q] = first_not_below(columns, blocks, b_blocks.columns[of_b.begin + q0 + q]);
        group.sync();
        for (Index x = group.lane(); x < n * width(); x += group.lanes()) {
          Index const q = x / width(), s = x - q * width();
          T const* const column = from + q0 * width() + x;
          T* const here = sum + slot[q] * width() + s;
          if constexpr (K > 0) {
            T of_column[K];
            for (int t = 0; t < K; ++t) of_column[t] = column[t * length * width()];
            for (int i = 0; i < height(); ++i) {
              T value = here[i * row];
              for (int t = 0; t < K; ++t)
                value = sum_of(value, product_of(block[i * K + t], of_column[t]));
              here[i * row] = value;
            }
          } else {
            for (int i = 0; i < height(); ++i) {
              T value = here[i * row];
              for (int t = 0; t < inner(); ++t)
                value =
                    sum_of(value, product_of(block[i * inner() + t], column[t * length * width()]));
              here[i * row] = value;
            }
          }
        }
      }
    }
    group.sync();
    if (!fits) return;
    for (Index e = group.lane(); e < all; e += group.lanes()) to[e] = sum[e];
  }
};

template <int R, int K, int C, class T, class On>
void sum_block_rows(On& on, ProductPattern const& made, BlockFactors const& factors,
                    CsrView<T> const& a, T const* b, T* c) {
  using Sum = SumBlockRow<T, R, K, C>;
  Sum const sum{
      factors.sizes,     a,   factors.a.view(), factors.b.view(), made.pattern.view(), b, c,
      made.order.data(), true};
  auto const of_size = [&](Offset first, Offset count, Index columns) {
    Sum own = sum;
    std::size_t const bytes = Sum::bytes(factors.sizes, columns);
    own.rows += first, own.fits = bytes <= most_scratch;
    on.each_group(count, 32, own.fits ? bytes : Sum::least_bytes(factors.sizes), own);
  };
  each_size(made.limits, 0, 32, made.begin, [&](int s, int, Offset first, Offset count) {
    of_size(first, count, limit_of(s) - 1);
  });
  Offset const first = made.begin[long_rows];
  if (Offset const count = made.begin[done_rows] - first; count > 0)
    of_size(first, count, made.pattern.cols);
}

template <class T, class On>
void block_product_values(On& on, ProductPattern const& made, BlockFactors const& factors,
                          CsrView<T> const& a, T const* b, T* c) {
  ProductBlocks const& s = factors.sizes;
  auto const is = [&](Index rows, Index inner, Index cols) {
    return s.rows == rows && s.inner == inner && s.cols == cols;
  };
  if (is(3, 3, 3)) return sum_block_rows<3, 3, 3>(on, made, factors, a, b, c);
  if (is(3, 3, 6)) return sum_block_rows<3, 3, 6>(on, made, factors, a, b, c);
  if (is(6, 3, 6)) return sum_block_rows<6, 3, 6>(on, made, factors, a, b, c);
  if (is(6, 6, 6)) return sum_block_rows<6, 6, 6>(on, made, factors, a, b, c);
  sum_block_rows<0, 0, 0>(on, made, factors, a, b, c);
}

}  // namespace tcsolve::sparse
