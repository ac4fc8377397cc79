// SPDX-License-Identifier: Apache-2.0
/// Which way a sparse product takes (sparse/spmspv.hpp): the one that takes least time,
///
///     time = besides + looked L + multiplied E        in microseconds, L and E in millions
///
///               L, tile rows that are looked at       E, entries that are multiplied
///     rows      n                                     e s
///     columns   n (1 - exp(-b s / n))                 e s
///     entries   n (1 - exp(-b s / n))                 e d
///     dense     n, 0 where s = 1                      e
///     given     n                                     -         and the time of that product
///
/// with n tile rows of 16, e entries, b tile rows below all tile columns, one counted as often as
/// it is below one, s, the share of x's tiles that are there, and d, that of its elements that are
/// entries. Of b s marks at random as many are distinct as `columns` says.
///
/// By entries a list that would be longer than list_room is gathered, which takes a share f of what
/// a product by columns takes. Entries of a column stand together, r = e / (16 b) in a tile row; if
/// the e d / (r L) times that a list grows by r were at random, f = P(more than list_room / r).
/// Those of matrices of blocks grow by more, and f is too small for them.
///
/// A dense product multiplies all entries. A row whose sum is 0 may meet no entry of x, and is
/// looked at by one thread: while a tile of x is missing, hardly a warp is without such a row. One
/// that was given makes x dense and looks which elements of y are 0. `tcsolve calibrate` measures
/// the rates.
#pragma once

#include <cmath>
#include <optional>

#include <tcsolve/sparse/spmspv.hpp>

namespace tcsolve {

/// The rates of a device. Where they were not measured: by columns where x's tiles lead to fewer
/// tile rows, counted with repetitions, than there are; dense with all of x's tiles; never by
/// entries, which need A^T, nor by a dense product that was given.
struct SpmspvRates {
  double rows = 0, rows_looked = 1, rows_multiplied = 0;
  double columns = 0, columns_looked = 1.5819767068693265, columns_multiplied = 0;  // 1 / (1 - 1/e)
  double entries = 1e9, entries_looked = 0, entries_multiplied = 0;
  double dense = 0, dense_looked = 1e9, dense_multiplied = 0;
  double given = 1e9, given_looked = 0;
  bool operator==(SpmspvRates const&) const = default;
};

/// What is known of a product before it is made.
struct SpmspvCounts {
  Index tile_rows = 0;      ///< n, of 16 rows
  Offset below = 0;         ///< b
  Offset entries = 0;       ///< e
  double x_share = 0;       ///< s
  double x_density = 0;     ///< d
  bool dense = false;       ///< there is a dense way, and the semiring is its own
  bool columns = false;     ///< there is one by columns
  bool by_entries = false;  ///< there is one by entries
  /// us of a dense product that was given, and is taken in the place of the format's own.
  std::optional<double> given = {};
};
/// The share of x's tiles that are there.
template <class T>
double tile_share(SparseVector<T> const& x) {
  std::int64_t const all = x.view().tile_count();
  return all > 0 ? double(x.tiles()) / double(all) : 0;
}

/// The share of x's elements that are entries. Where nobody has counted them, as if they stood at
/// random: with a density d a tile of t lacks all of its elements with probability (1 - d)^t.
template <class T>
double density(SparseVector<T> const& x) {
  if (x.rows() == 0) return 0;
  if (x.counted() >= 0) return double(x.counted()) / double(x.rows());
  return -std::expm1(std::log1p(-tile_share(x)) / x.view().side);
}
/// Of a product with a matrix in CSR.
template <class S, class T>
SpmspvCounts counts_of(CsrView<S> const& a, TilesBelow const& below, SparseVector<T> const& x,
                       bool by_entries) {
  constexpr Index side = TilesBelow::side;
  return {.tile_rows = a.rows / side + (a.rows % side != 0),
          .below = below.count,
          .entries = a.entries,
          .x_share = tile_share(x),
          .x_density = density(x),
          .columns = true,
          .by_entries = by_entries};
}

/// L and E, in millions. Of SpmspvWay::automatic there are none.
struct SpmspvWork {
  double looked = 0, multiplied = 0;
};
SpmspvWork work(SpmspvWay, SpmspvCounts const&);
/// us of a product.
double microseconds(SpmspvRates const&, SpmspvWay, SpmspvCounts const&);
/// The quickest of the ways that there are; by rows where no other is quicker.
SpmspvWay choose_way(SpmspvRates const&, SpmspvCounts const&);

}  // namespace tcsolve
