// SPDX-License-Identifier: Apache-2.0
/// The square tiles of a CSR pattern that have entries, one tile row a warp, by ascending column:
///
///             0 1 2 3   4 5 6 7
///     row 0 [ a . . b | . . . . ]     side 4: tile row 0 has tile 0 with a b c and tile 1 with d e;
///     row 1 [ . c . . | . d . . ]     row l belongs to lane l, whose entries of the present tile
///     row 2 [ . . . . | e . . . ]     lie at begin[0][l] .. end[0][l] - 1
///     row 3 [ . . . . | . . . . ]
///
/// A lane has rows l and, of tiles of 64, l + 32. Cost: a column is read some two times.
#pragma once

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/matrix/csr_arrays.hpp>

namespace tcsolve::sparse {

template <int side, class Warp>
class TileWalk {
 public:
  static constexpr int lane_rows = side > 32 ? side / 32 : 1;
  template <class T>
  using Of = typename Warp::template Of<T>;

  TCSOLVE_HD TileWalk(Warp const& warp, PatternView const& a, std::int64_t I)
      : warp_(warp), columns_(a.columns) {
    warp.each([&](int lane) {
      for (int r = 0; r < lane_rows; ++r) {
        std::int64_t const i = row(I, lane, r);
        bool const there = lane < side && i < a.rows;
        begin[r][lane] = end[r][lane] = there ? a.offsets[i] : 0;
        last_[r][lane] = there ? a.offsets[i + 1] : 0;
      }
    });
  }
  /// The row that a lane has.
  TCSOLVE_HD static std::int64_t row(std::int64_t I, int lane, int r) {
    return I * side + lane + 32 * r;
  }
  /// Goes on to the next tile; false: there is none.
  TCSOLVE_HD bool next() {
    Of<std::uint32_t> first, count;
    warp_.each([&](int lane) {
      first[lane] = ~std::uint32_t{0};
      for (int r = 0; r < lane_rows; ++r) {
        begin[r][lane] = end[r][lane];
        if (end[r][lane] == last_[r][lane]) continue;
        auto const here = static_cast<std::uint32_t>(columns_[end[r][lane]]) / side;
        first[lane] = here < first[lane] ? here : first[lane];
      }
    });
    std::uint32_t const least = warp_.least(first);
    if (least == ~std::uint32_t{0}) return false;
    column_ = static_cast<Index>(least);
    warp_.each([&](int lane) {
      count[lane] = 0;
      for (int r = 0; r < lane_rows; ++r) {
        Offset at = end[r][lane];
        while (at < last_[r][lane] && columns_[at] / side == column_) ++at;
        count[lane] += static_cast<std::uint32_t>(at - end[r][lane]);
        end[r][lane] = at;
      }
    });
    entries_ = warp_.sum(count);
    return true;
  }
  TCSOLVE_HD Index column() const { return column_; }           ///< of tiles
  TCSOLVE_HD std::int64_t entries() const { return entries_; }  ///< of the present tile

  Of<Offset> begin[lane_rows], end[lane_rows];  ///< entries of each row in the present tile

 private:
  Warp const& warp_;
  Index const* columns_;
  Of<Offset> last_[lane_rows];
  Index column_ = 0;
  std::int64_t entries_ = 0;
};

}  // namespace tcsolve::sparse
