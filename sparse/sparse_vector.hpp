// SPDX-License-Identifier: Apache-2.0
/// A vector of which few elements are stored, in tiles (Ji et al. 2022, TileSpMSpV, section 3.2.2):
///
///     tiles of 4      0 1 2 3   4 5 6 7   8 9 a b   c d e f
///                   [ 5 . 0 . | . . . . | . . . 7 | . . . . ]
///
///     place   0 -1 1 -1          where a tile is packed; -1: it has no entry           x_ptr
///     values  5 - 0 -  - - - 7   packed tiles                                          x_tile
///     there   0101     1000      the elements that are entries, the lowest bit first
///     list    0 2                the tiles that are packed, ascending
///
/// Element i is values[side place[i / side] + i % side], one look-up. Structure is what is stored,
/// not what is nonzero: the stored zero above is an entry, as Inf and NaN are. Elements of a packed
/// tile that are no entries hold 0 and are never used; a packed tile may have no entry at all.
/// Where all tiles are packed, `values` is the dense vector.
///
/// Bytes: 4 n / side + (4 + 8 + side sizeof(T)) for each tile that is packed.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tcsolve/core/context.hpp>

namespace tcsolve {

/// As kernels see it.
template <class T>
struct SparseVectorView {
  Index rows = 0;
  Index tiles = 0;                       ///< that are packed
  int side = 16;                         ///< 16, 32 or 64
  Index const* place = nullptr;          ///< (tile_count())
  Index const* list = nullptr;           ///< (tiles)
  std::uint64_t const* there = nullptr;  ///< (tiles)
  T const* values = nullptr;             ///< (tiles, side)

  TCSOLVE_HD std::int64_t tile_count() const { return (std::int64_t{rows} + side - 1) / side; }
  /// The tile of element i, i / side, without a division of 64 bits.
  TCSOLVE_HD std::int64_t tile(std::int64_t i) const {
    return i >> (side == 16 ? 4 : side == 32 ? 5 : 6);
  }
  /// Whether element i is an entry.
  TCSOLVE_HD bool has(std::int64_t i) const {
    Index const at = place[tile(i)];
    return at >= 0 && (there[at] >> (i & (side - 1)) & 1) != 0;
  }
  /// Element i, which is an entry.
  TCSOLVE_HD T operator[](std::int64_t i) const {
    return values[std::int64_t{place[tile(i)]} * side + (i & (side - 1))];
  }
};

/// The arrays of a sparse vector, in one space.
template <class T>
struct SparseVectorArrays {
  SparseVectorView<T> view;
  Array<Index> place, list;
  Array<std::uint64_t> there;
  Array<T> values;
};

/// Owns its arrays in a Context's space. T is double or float.
template <class T>
class SparseVector {
 public:
  /// No entry. Throws ShapeError for a side other than 16, 32 and 64.
  SparseVector(Context&, Index rows, int side = 16);
  explicit SparseVector(SparseVectorArrays<T> arrays, Index counted = -1)
      : arrays_(std::move(arrays)), counted_(counted) {}

  /// Element indices[k] = values[k], of host memory, in any order; an index that occurs twice is
  /// summed, as in matrices. Throws ShapeError for an index outside [0, rows) or spans of two
  /// lengths.
  static SparseVector from_entries(Context&, Index rows, std::span<Index const> indices,
                                   std::span<T const> values, int side = 16);
  /// The same of indices that ascend, without one twice, in the Context's space; not looked at.
  static SparseVector from_sorted(Context&, Index rows, Index const* indices, T const* values,
                                  Index count, int side = 16);
  /// The elements of x that are not zero; NaN is not. x lies in the Context's space.
  static SparseVector from_dense(Context&, In<T> x, int side = 16);
  /// Element i = 1 where bit i % 64 of word i / 64 is set; the words, (rows + 63) / 64, lie in the
  /// Context's space.
  static SparseVector from_bits(Context&, Index rows, std::uint64_t const* words, int side = 16);

  SparseVectorView<T> const& view() const { return arrays_.view; }
  SparseVectorArrays<T> const& arrays() const { return arrays_; }
  /// f(arrays), which may make them anew: for those who compute this vector.
  template <class F>
  void change(F const& f) {
    counted_ = -1;
    f(arrays_);
  }
  Index rows() const { return view().rows; }
  Index tiles() const { return view().tiles; }
  std::size_t bytes() const {
    return arrays_.place.bytes() + arrays_.list.bytes() + arrays_.there.bytes() +
           arrays_.values.bytes();
  }
  Index entries(Context&) const;              ///< counted anew: a pass over `there`
  Index counted() const { return counted_; }  ///< the same where it is known, else -1

  /// The entries on the host, by ascending index.
  std::pair<std::vector<Index>, std::vector<T>> to_entries(Context&) const;
  /// Element i where it is an entry, else 0. x lies in the Context's space.
  void to_dense(Context&, Out<T> x) const;
  /// The same as a view, where all tiles are packed and nothing has to be written.
  std::optional<In<T>> as_dense() const;
  /// This vector becomes the dense one that f(x) writes: its elements that are not 0 are the
  /// entries (NaN is not 0), where there is a mask those alone that are entries of it, or with
  /// `complement` those that are none. With `keep` x holds the old elements, 0 where there is no
  /// entry; without it f must write all. All tiles are packed then, so that nobody waits for a
  /// count. Cost beside f: a read of x; with `keep`, where not all tiles are packed, 2 n sizeof(T).
  template <class F>
  void become_dense(Context& ctx, bool keep, SparseVector const* mask, bool complement,
                    F const& f) {
    f(make_dense(ctx, keep));
    keep_nonzeros(ctx, mask, complement);
  }
  /// The bits of from_bits(), to the Context's space.
  void to_bits(Context&, std::uint64_t* words) const;

 private:
  Out<T> make_dense(Context&, bool keep);
  void keep_nonzeros(Context&, SparseVector const* mask, bool complement);
  SparseVectorArrays<T> arrays_;
  mutable Index counted_ = -1;
};

/// Throws ShapeError for a side other than 16, 32 and 64.
void require_side(int side);

namespace host {
template <class T>
SparseVectorArrays<T> sparse_from_sorted(Host&, Arena&, Index rows, int side, Index const* indices,
                                         T const* values, Index count);
template <class T>
SparseVectorArrays<T> sparse_from_dense(Host&, Arena&, int side, In<T> x);
template <class T>
SparseVectorArrays<T> sparse_from_bits(Host&, Arena&, Index rows, int side,
                                       std::uint64_t const* words);
template <class T>
Index count_entries(Host&, Arena&, SparseVectorView<T> const&);
template <class T>
void sparse_to_sorted(Host&, Arena&, SparseVectorView<T> const&, Index* indices, T* values);
template <class T>
void sparse_to_dense(Host&, Arena&, SparseVectorView<T> const&, Out<T> x);
template <class T>
void sparse_to_bits(Host&, Arena&, SparseVectorView<T> const&, std::uint64_t* words);
template <class T>
void sparse_keep_nonzeros(Host&, Arena&, SparseVectorArrays<T>&, SparseVectorView<T> const* mask,
                          bool complement);
}  // namespace host
namespace cuda {
template <class T>
SparseVectorArrays<T> sparse_from_sorted(Device&, Arena&, Index rows, int side,
                                         Index const* indices, T const* values, Index count);
template <class T>
SparseVectorArrays<T> sparse_from_dense(Device&, Arena&, int side, In<T> x);
template <class T>
SparseVectorArrays<T> sparse_from_bits(Device&, Arena&, Index rows, int side,
                                       std::uint64_t const* words);
template <class T>
Index count_entries(Device&, Arena&, SparseVectorView<T> const&);
template <class T>
void sparse_to_sorted(Device&, Arena&, SparseVectorView<T> const&, Index* indices, T* values);
template <class T>
void sparse_to_dense(Device&, Arena&, SparseVectorView<T> const&, Out<T> x);
template <class T>
void sparse_to_bits(Device&, Arena&, SparseVectorView<T> const&, std::uint64_t* words);
template <class T>
void sparse_keep_nonzeros(Device&, Arena&, SparseVectorArrays<T>&, SparseVectorView<T> const* mask,
                          bool complement);
}  // namespace cuda

}  // namespace tcsolve
