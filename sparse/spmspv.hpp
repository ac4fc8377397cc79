// SPDX-License-Identifier: Apache-2.0
/// y = alpha op(A) x + beta y with x and y sparse: TileSpMSpV (Ji et al. 2022, section 3.3).
///
///     A  [ 1 2 . . | . . ]   x  tile 0: 5 at 1       y  tile 0: 10 at 0, 15 at 1
///        [ . 3 . . | . . ]      tile 1: none            tile 1: none
///        [ . . 4 . | 6 . ]                              row 2 meets no entry of x: no entry of y
///
///     mark     the tiles of y that may have an entry: all of them (by rows, the paper's Algorithm
///              4, matrix-driven), or those where a tile column of x's tiles has tiles (by columns,
///              vector-driven); beside them those of the old y
///     or list  by entries: each product a_ij x_j of the columns j of x's entries joins a short list
///              of the 16 rows that it belongs to; a tile of which a list is full is gathered as by
///              columns (sparse/spmspv_entries_build.hpp)
///     sum      each row of a marked tile, in the order in which A stores it; a tile of A whose
///              tile of x is not there costs one look-up. Or, where most tiles of x are there, by
///              the operator's product with a dense vector, of which the rows that meet x are taken
///     keep     the tiles that have an entry
///
/// Element i of y is an entry where a stored a_ij meets an entry x_j, or the old y has one and beta
/// is not 0: structure is what is stored, whatever the values. Inf and NaN stay in rows that refer
/// to them. Sums are made in a fixed order and without atomics: the same bits on every run, and
/// whichever way is taken.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include <tcsolve/matrix/csr_arrays.hpp>
#include <tcsolve/sparse/sparse_vector.hpp>

namespace tcsolve {

enum class Semiring {
  plus_times,  ///< y_i = alpha sum_j a_ij x_j + beta y_i
  or_and,      ///< y_i = 1 where some a_ij and x_j are not 0, else 0; beta 1: or the old y_i
  min_first    ///< y_i = the least x_j that a stored a_ij meets; beta 1: or the old y_i
};
enum class SpmspvWay { automatic, rows, columns, entries, dense };
constexpr auto names(SpmspvWay) {
  return std::array{std::pair{SpmspvWay::automatic, std::string_view("auto")},
                    std::pair{SpmspvWay::rows, std::string_view("rows")},
                    std::pair{SpmspvWay::columns, std::string_view("columns")},
                    std::pair{SpmspvWay::entries, std::string_view("entries")},
                    std::pair{SpmspvWay::dense, std::string_view("dense")}};
}

struct SpmspvRates;

template <class T>
struct SparseProduct {
  Op op = Op::none;             ///< transpose: rows of A^T, which the operator then keeps
  T alpha = T(1), beta = T(0);  ///< of or_and and min_first alpha is 1, beta 0 or 1
  Semiring semiring = Semiring::plus_times;
  SparseVector<T> const* mask = nullptr;  ///< rows that are no entries of it are none of y, neither
  bool complement = false;                ///< rows that are
  SpmspvWay way = SpmspvWay::automatic;
  /// What `automatic` goes by (sparse/spmspv_choice.hpp); null: the operator's, else the defaults.
  SpmspvRates const* rates = nullptr;
};

/// What a product has done.
struct SparseProductNotes {
  SpmspvWay way = SpmspvWay::rows;
  Index marked = 0;  ///< tiles of y whose rows were summed; by entries those that were kept
  Index kept = 0;    ///< that have an entry
};

/// Which tile rows of 16 a tile column of 16 has entries in, for products by columns.
struct TilesBelow {
  Index const* starts = nullptr;  ///< (tile columns + 1); null: products go by rows
  Index const* rows = nullptr;    ///< tile rows, perhaps one several times
  Offset count = 0;
  static constexpr int side = 16;
};

/// The same with its memory, in one space.
struct StoredTilesBelow {
  TilesBelow view;
  Array<Index> starts, rows;
};
/// Of a CSR matrix of at most 2^31 - 1 entries in the Context's space, else it throws SizeError.
/// Cost: two walks over the pattern, a sort of its tiles; 4 bytes a tile.
StoredTilesBelow tiles_below(Context&, PatternView const& a);

/// A's columns, for products that do not look at all rows; neither: by rows.
template <class S>
struct SparseColumns {
  TilesBelow tiles;
  CsrView<S> const* entries = nullptr;  ///< A^T, where it goes by entries
};

/// Whether the columns of each row ascend, none of them twice: what products by entries need, as
/// the bits of a row's sum are those of its order. Of a matrix in the Context's space. Cost: a pass
/// over the pattern.
bool rows_ascend(Context&, PatternView const& a);

namespace spmspv {
constexpr int list_room = 16;  ///< products in a list of 16 rows, by entries
}
/// A product a_ij x_j of one by entries.
template <class T>
struct alignas(16) MetEntry {
  T a;
  std::uint32_t place;  ///< of x_j in x's values: ascends with j
  std::uint32_t row;    ///< i % 16
};

/// What products of one matrix need beside it; its arrays grow to the largest product and stay. Its
/// bits are cleared by the product that set them.
template <class T>
struct SpmspvMemory {
  struct ReleasePinned {
    void operator()(std::uint64_t* p) const noexcept { cuda::release_pinned(p); }
  };
  Array<std::uint64_t> marked, kept;  ///< a bit a tile
  Array<Index> groups;                ///< of the words of `kept`
  Array<Index> list, old_list;        ///< tiles
  Array<std::uint64_t> full;          ///< by entries: a bit a tile, ...
  Array<Index> met;                   ///< ... how many products 16 rows have, ...
  Array<MetEntry<T>> entries;         ///< ... and which
  Array<std::uint64_t> there;
  Array<T> values;
  Array<Index> counts;
  std::unique_ptr<std::uint64_t, ReleasePinned> told;  ///< what a device has counted, on the host
  std::uint64_t told_on_host = 0;
  bool clean = true;  ///< false: a product did not come to its end
};

/// y = alpha A x + beta y of a matrix in CSR: by rows, by columns where `below` is given
/// (tiles_below()), or by entries where `transposed` is, A^T of an A whose rows ascend. There is no
/// dense way: a dense CSR product adds a row in another order, so that the bits would tell which
/// way was taken (CsrOperator::dense_by() gives one to those who do not mind). y's arrays grow
/// where there is no room for its tiles, and stay.
///
///   throws ShapeError where extents, sides or spaces differ, or alpha and beta do not go with the
///          semiring; Unsupported for `dense`, for columns without `below`, for entries without
///          `transposed` and for the transpose (CsrOperator keeps it); after a DeviceError or a
///          MemoryError y is of no use
///   cost   the columns of A, and the values where they meet x
template <class S, class T>
SparseProductNotes multiply_sparse(Context&, CsrView<S> const& a, SparseProduct<T> const& how,
                                   SparseVector<T> const& x, SparseVector<T>& y,
                                   SpmspvMemory<T>& memory, TilesBelow const& below = {},
                                   CsrView<S> const* transposed = nullptr);
template <class S, class T>
SparseProductNotes multiply_sparse(Context& ctx, CsrView<S> const& a, SparseProduct<T> const& how,
                                   SparseVector<T> const& x, SparseVector<T>& y) {
  SpmspvMemory<T> memory;
  return multiply_sparse(ctx, a, how, x, y, memory);
}

/// r -= A dx, dx sparse: the residual b - A (x + dx) of r = b - A x, where a few elements of x have
/// changed. r is dense; its other rows are not touched. Returns how many rows were. Cost: a product
/// and its rows.
template <class S, class T>
Index update_residual(Context&, CsrView<S> const& a, SparseVector<T> const& dx, Out<T> r);

/// Throws what multiply_sparse() throws of an op(A) of rows x cols.
template <class T>
void require_multiplies(Context const&, Index rows, Index cols, SparseProduct<T> const& how,
                        SparseVector<T> const& x, SparseVector<T> const& y);

}  // namespace tcsolve
