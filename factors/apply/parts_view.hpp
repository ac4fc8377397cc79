// SPDX-License-Identifier: Apache-2.0
/// Triangular factors cut to parts, rows that follow each other; what couples two parts is left
/// out:
///
///     L = [ 1                ]     parts {0, 1} and {2, 3}      level 0: rows 0, 2 of the parts
///         [ 5  1             ]     5 and 7 stay, 3 is left out  level 1: rows 1, 3
///         [ .  3   1         ]
///         [ .  .   7   1     ]
///
/// The unknowns of a part are few enough to lie in the shared memory of one thread block, which
/// solves level after level without waiting for another block.
#pragma once

#include <cstdint>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// A unit triangle by parts. Places are the rows in the order of the part's levels.
template <class S>
struct PartTriangle {
  Index const* level_begin = nullptr;     // (parts + 1) of part p the levels [p, p + 1) of `level`
  Index const* level = nullptr;           // first place of each, and the number of places
  std::uint16_t const* row = nullptr;     // (places) in the part
  Offset const* begin = nullptr;          // (places + 1)
  std::uint16_t const* column = nullptr;  // (entries) in the part
  S const* values = nullptr;
};

template <class S>
struct PartsView {
  Index rows = 0, parts = 0, part = 0;  ///< rows of a part, but of the last
  PartTriangle<S> lower, upper;
  Index const *from = nullptr, *to = nullptr;  // (rows)
  double const *row_scale = nullptr, *inverse_pivots = nullptr, *column_scale = nullptr;
  LoopState* loop = nullptr;  ///< around a solve, or null: in a stopped one nothing happens
};

// solve_parts: y = alpha C Q^T U^-1 D^-1 L^-1 P R x + beta y of the triangles by parts.
//
//   bytes   entries (sizeof(S) + 2), 52 a row
//   bits    the same on every run
namespace host {
template <class S>
void solve_parts(Host&, PartsView<S> const&, double alpha, In<double> x, double beta,
                 Out<double> y);
}
namespace cuda {
template <class S>
void solve_parts(Device&, PartsView<S> const&, double alpha, In<double> x, double beta,
                 Out<double> y);
}

}  // namespace tcsolve
