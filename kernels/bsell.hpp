// SPDX-License-Identifier: Apache-2.0
/// Conversion to sliced ELLPACK of dense blocks (formats/bsell.hpp), and
/// y = alpha A x + beta y with it (BELLPACK: Choi, Singh and Vuduc 2010, section 3; slices:
/// Kreutzer et al. 2014, section 2).
///
///   host    the same arrays, slice by slice, 32 lanes side by side                 (Kokkos)
///   cuda    a warp a slice, or a few of a thread block where slices are few; a lane a block row;
///           column numbers of the next steps are asked for before these are multiplied
///   bytes   positions sizeof(S) + a column number of 2 or 4 for each b b of them, x and y once
///   error   of STYLE section 11 with u_acc = 2^-53 or 2^-24, m = entries in the row
///   bits    the same on every run: a row in the order of its columns, or, where warps share a
///           slice, in as many sums, added in their order; <x, y> by lane, warp, block, then the
///           blocks in their order
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/views/bsell.hpp>
#include <tcsolve/kernels/views/csr.hpp>

namespace tcsolve {

/// The blocks there are: b x b.
constexpr std::array<Index, 4> bsell_blocks{2, 3, 4, 6};

/// f(std::integral_constant<int, b>) for a block of bsell_blocks.
template <class F>
void with_bsell_block(Index block, F const& f) {
  switch (block) {
    case 2: return f(std::integral_constant<int, 2>{});
    case 3: return f(std::integral_constant<int, 3>{});
    case 4: return f(std::integral_constant<int, 4>{});
    case 6: return f(std::integral_constant<int, 6>{});
    default: throw Error("internal: a block that bsell does not have");
  }
}

struct BsellTuning {
  Index block = 0;      ///< one of bsell_blocks; 0: the one that stores the least
  Index window = 1024;  ///< sigma: block rows are sorted within so many, where they are
};

/// What a matrix would take in blocks of b x b; an estimate where it is large (count_blocks).
struct BsellCount {
  Offset blocks = 0;  ///< with an entry
  Offset stored = 0;  ///< with padding, block rows as they come
  Offset wide = 0;    ///< of these, in slices whose block columns span 65536 or more
  bool operator==(BsellCount const&) const = default;
};
using BsellCounts = std::array<BsellCount, 4>;  // of bsell_blocks

/// Block rows are sorted where padding without is more than 3 %.
constexpr bool bsell_sorts(BsellCount const& c) {
  return double(c.stored) > 1.03 * double(c.blocks) + 1024;
}
/// Blocks that are stored, as known before they are sorted: exact where they are not.
constexpr double bsell_stored(BsellCount const& c) {
  if (!bsell_sorts(c)) return double(c.stored);
  return std::min(double(c.stored), 1.02 * double(c.blocks) + 128);
}
/// Bytes of values and column numbers.
constexpr double bsell_bytes(BsellCount const& c, Index block, double size) {
  double const wide = c.stored > 0 ? double(c.wide) / double(c.stored) : 0;
  return bsell_stored(c) * (block * block * size + 2 + 2 * wide);
}
/// Which of bsell_blocks takes the fewest bytes, of those with few enough positions if there are.
constexpr std::size_t bsell_choice(BsellCounts const& counts, Offset entries, double size) {
  auto const fits = [&](std::size_t k) {
    return holes_pay(bsell_stored(counts[k]) * bsell_blocks[k] * bsell_blocks[k], entries);
  };
  auto const bytes = [&](std::size_t k) { return bsell_bytes(counts[k], bsell_blocks[k], size); };
  std::size_t best = 0;
  for (std::size_t k = 1; k < counts.size(); ++k)
    if (fits(k) != fits(best) ? fits(k) : bytes(k) < bytes(best)) best = k;
  return best;
}

/// The arrays of a matrix, in one space.
template <class S>
struct BsellArrays {
  BsellView<S> view;
  Array<BsellSlice> slices;
  Array<std::uint8_t> numbers;
  Array<S> values;
  Array<Index> order;
  double norm = 0;  ///< ||A||_inf, taken as the values came
  // Of no use to products: a refill reads them.
  Array<Index> place;        ///< of each block row
  Array<std::uint8_t> full;  ///< whether all blocks of a block row are
};

/// y = alpha A x + beta y.
template <class S, class T>
struct BsellProduct {
  T alpha;
  BsellView<S> const& a;
  In<T> x;
  T beta;
  Out<T> y;
};

namespace host {
template <class S>
BsellCounts count_blocks(Host&, Arena&, CsrView<S> const& a);
/// Throws MatrixError where holes_pay() says no.
template <class S>
BsellArrays<S> build_bsell(Host&, Arena&, CsrView<S> const& a, BsellTuning const&);
template <class S>
void refill_bsell(Host&, Arena&, CsrView<S> const& a, BsellArrays<S>&);
template <class S, class T>
void spmm_bsell(Host&, BsellProduct<S, T> const&);
}  // namespace host

namespace cuda {
template <class S>
BsellCounts count_blocks(Device&, Arena&, CsrView<S> const& a);
template <class S>
BsellArrays<S> build_bsell(Device&, Arena&, CsrView<S> const& a, BsellTuning const&);
template <class S>
void refill_bsell(Device&, Arena&, CsrView<S> const& a, BsellArrays<S>&);
template <class S, class T>
void spmm_bsell(Device&, BsellProduct<S, T> const&);
/// y = alpha A x of one column, sigma = <x, y>, in one pass.
template <class S, class T>
void spmv_dot_bsell(Device&, BsellProduct<S, T> const&, double* sigma);
}  // namespace cuda

/// Of a matrix in the Context's space; host and device give the same numbers. Those of more than
/// 393216 rows are estimates: every k-th stretch of 384 rows is looked at, 512 at most, and stands
/// for as many entries as there are. Cost: what is looked at of the pattern four times, a merge of
/// the rows of each block row, serial in its thread.
template <class S>
BsellCounts count_blocks(Context& ctx, CsrView<S> const& a) {
  return ctx.visit([&](auto& on) { return count_blocks(on, ctx.arena(), a); });
}

}  // namespace tcsolve
