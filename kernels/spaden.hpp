// SPDX-License-Identifier: Apache-2.0
/// Conversion to bitBSR, and y = alpha A x + beta y with it (Spaden: Chen and Yu 2024, section 4).
///
///   host    block by block, FP64 sums                                               (Kokkos)
///   cuda    eight lanes a block, lane r its row r; one, two or four such groups a block row. The
///           blocks and values of a warp are staged in shared memory by 16-byte loads; zeros are
///           neither stored nor loaded, the popcount of the lower bits says where a value is
///   bytes   blocks 16 + entries sizeof(S) + side entries (sizeof(S) + 4) + 4 rows (where there are
///           side entries) + rows / 2 + k sizeof(T) (cols + rows)
///   error   of STYLE section 11 with u_acc = 2^-53 or 2^-24, m = 2 + entries in the row
///   bits    the same on every run: a lane adds its blocks in order, groups and pieces are added in
///           a fixed order
///   note    only stored entries multiply x: an Inf in x reaches only rows that refer to it
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/views/csr.hpp>
#include <tcsolve/kernels/views/spaden.hpp>

namespace tcsolve {

/// Measured on an H200 (bench/spmv, docs/formats/spaden.md).
struct SpadenTuning {
  int side = 2;          ///< blocks of at most this many entries become side entries
  Index long_row = 512;  ///< blocks, or side entries, of a row beyond which it is cut to pieces
  Index piece = 128;     ///< blocks, or side entries, of a piece
  int groups = 0;        ///< groups of eight lanes on a block row: 1, 2, 4; 0: by the matrix
  Index share = 0;       ///< entries that one thread converts at a time; 0: by the space
};

/// The arrays of a bitBSR matrix, in one space.
template <class S>
struct SpadenArrays {
  SpadenView<S> view;  ///< extents and counts; its pointers are those of the arrays below
  Array<std::uint32_t> start, side_start, piece_start, side_piece_start;
  Array<SpadenBlock> blocks;
  Array<S> values, side_values;
  Array<std::int32_t> side_columns;
  Array<SpadenPiece> piece;
};

template <class T>
struct SpadenWork {
  T* parts = nullptr;            // (8 pieces + side_pieces)
  T const* row_scale = nullptr;  // (rows), or null: row i of the result is multiplied by it
  int groups = 4;                // SpadenTuning, not 0
};

namespace host {
/// Throws SizeError beyond 2^31 - 1 entries.
template <class S>
SpadenArrays<S> build_spaden(Host&, Arena&, CsrView<S> const& a, SpadenTuning const&);
/// The values of a, which has the pattern that the arrays were built from.
template <class S>
void refill_spaden(Host&, Arena&, CsrView<S> const& a, SpadenArrays<S>&);
template <class S, class T>
void spmm_spaden(Host&, T alpha, SpadenView<S> const& a, SpadenWork<T> const&, In<T> x, T beta,
                 Out<T> y);
}  // namespace host

namespace cuda {
template <class S>
SpadenArrays<S> build_spaden(Device&, Arena&, CsrView<S> const& a, SpadenTuning const&);
template <class S>
void refill_spaden(Device&, Arena&, CsrView<S> const& a, SpadenArrays<S>&);
template <class S, class T>
void spmm_spaden(Device&, T alpha, SpadenView<S> const& a, SpadenWork<T> const&, In<T> x, T beta,
                 Out<T> y);
}  // namespace cuda

}  // namespace tcsolve
