// SPDX-License-Identifier: Apache-2.0
/// A unit triangular system in the order in which its unknowns can be had: level by level, the
/// unknowns of a level depending on earlier levels alone (Anderson and Saad 1989).
///
///     L = [ 1         ]     level 0: rows 0, 1     place  0 1 2 3     (2 is padding: rows of a
///         [ .  1      ]     level 1: row 2         row    0 1 - 2     warp belong to one level)
///         [ 5  7  1   ]
///
/// In these places the triangle is lower again, whichever it was. The host takes level after level,
/// the rows of a wide one by several threads; a device starts all rows in ascending order, each
/// waiting for those it needs (Liu, Li, Hogg, Duff and Vinter 2016).
#pragma once

#include <cstdint>
#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// Rows of a level are padded to a multiple of this, so that the rows of a warp, four lanes or more
/// each, need nothing of each other.
constexpr Index rows_of_warp = 8;

/// y_p = scale_p source[from_p] - sum_k values_k y[columns_k], over the places p.
template <class S>
struct TriangleView {
  Index places = 0;
  OffsetsView offsets;  // (places + 1)
  Index const* columns = nullptr;
  S const* values = nullptr;
  Index const* from = nullptr;    // (places): -1 for padding
  double const* scale = nullptr;  // (places)
};

/// Where the solution goes beside y: out[to_p] = alpha factor_p y_p + beta out[to_p].
struct TriangleTarget {
  Index const* to = nullptr;  ///< null: nowhere
  double const* factor = nullptr;
  double alpha = 1, beta = 0;
  double* out = nullptr;
  std::int64_t stride = 1;
};

/// The places of a triangle's rows.
struct LevelOrder {
  std::vector<Index> place_of;  ///< of each row
  std::vector<Index> row_of;    ///< of each place; -1 for padding
  std::vector<Index> starts;    ///< first place of each level, and the number of places
  Index levels() const { return static_cast<Index>(starts.size()) - 1; }
};
LevelOrder level_order(Csr<double> const& triangle, bool lower);

/// A triangle that owns its arrays in a Context's space. 4 + sizeof(S) bytes an entry, 16 a place.
template <class S>
class Triangle {
 public:
  Triangle() = default;
  /// `from` and `scale` by the rows of the triangle.
  Triangle(Context&, Csr<double> const& triangle, bool lower, std::vector<Index> const& from,
           std::vector<double> const& scale);
  /// The same pattern with other values; the arrays stay where they are.
  void update(Context&, Csr<double> const& triangle, std::vector<double> const& scale);

  TriangleView<S> view() const;
  LevelOrder const& order() const { return order_; }
  Offset entries() const { return static_cast<Offset>(values_.size()); }
  Index longest_mean() const;

 private:
  LevelOrder order_;
  std::vector<Offset> source_;  // of each stored entry in the triangle
  Array<std::int32_t> offsets_;
  Array<std::int64_t> wide_offsets_;
  Array<Index> columns_, from_;
  Array<S> values_;
  Array<double> scale_;
};

/// What the device's kernels of a pair of solves share: at first all unknowns are `waiting` and the
/// tickets are 0 (prepare_scratch()), and each solve leaves what the other needs so.
struct TriangleScratch {
  double* y = nullptr;      ///< of this solve
  double* other = nullptr;  ///< that the other solve writes
  Index other_places = 0;
  bool consume = false;        ///< `source` is `other` and is reset as it is read
  unsigned* ticket = nullptr;  ///< [0] of this solve, [1] of the other
  unsigned* other_ticket = nullptr;
};

namespace host {
/// By levels. y (places) is written; source has the stride of a column.
template <class S>
void solve_triangle(Host&, TriangleView<S> const&, LevelOrder const&, double const* source,
                    std::int64_t stride, double* y, TriangleTarget const&);
}  // namespace host

namespace cuda {
void prepare_scratch(Device&, double* y, std::int64_t places);
template <class S>
void solve_triangle(Device&, TriangleView<S> const&, Index mean_row, double const* source,
                    std::int64_t stride, TriangleScratch const&, TriangleTarget const&);
}  // namespace cuda

}  // namespace tcsolve
