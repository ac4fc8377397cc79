// SPDX-License-Identifier: Apache-2.0
/// A matrix of which each rank has a stretch of rows.
///
///             columns of     rank 0      rank 1      rank 2
///     rank 0  rows [0, 4)  [  own    |   outer   |           ]
///     rank 1  rows [4, 9)  [  outer  |    own    |   outer   ]     columns are global, of 64 bits
///     rank 2  rows [9, 12) [         |   outer   |    own    ]
///
/// The entries in a rank's own columns are a CSR matrix, for any format; the others are few, of few
/// rows: `outer` has those rows alone, and its columns are the places of the halo (HaloPlan).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/distributed/global_rows.hpp>
#include <tcsolve/distributed/halo_plan.hpp>
#include <tcsolve/distributed/row_split.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

/// Bytes that a rank's rows take in the Context's space, told from their numbers. Those of its
/// neighbours, and the order of entries whose rows do not ascend (8 bytes each), are not in them.
struct DistributedMemory {
  double stays = 0;    ///< the rows in own columns, and where each given entry went
  double dealing = 0;  ///< at the most while they are dealt
  /// comes: they lie on the host, and the Context computes on a device.
  static DistributedMemory of(Index rows, std::int64_t cols, Offset entries, bool comes);
};

class DistributedMatrix {
 public:
  /// The rows of this rank, the first of which is global row `first_row`. Every rank calls it; a
  /// rank may have no row. A rank has as many columns as rows where the matrix is square; of
  /// another one each says how many it has.
  /// `a` is copied, and split where the Context computes. Throws on all ranks alike, with the
  /// number of the rank: MatrixError for rows that overlap or are missing, columns out of range or
  /// twice in a row, extents that differ.
  /// Cost: four passes over the entries, a sort of them where some row does not ascend; the outer
  /// entries come to the host; five sums, and a message to and from each neighbour; of a device
  /// three waits.
  DistributedMatrix(Context&, std::int64_t first_row, CsrView64 const& a,
                    std::optional<Index> columns = std::nullopt);
  /// New values of the same entries, in their order. Throws ShapeError on all ranks alike. Cost:
  /// two passes over them.
  void update_values(Context&, double const* values, Offset entries, Space = Space::host);
  /// This rank's rows, and the columns of the same numbers, in the order P; other ranks have orders
  /// of their own. Stretches stay, and update_values() takes entries as they were given. Every rank
  /// calls it. `own`: P own() P^T, where that has been made. Throws ShapeError on all ranks alike
  /// where rows and columns are dealt otherwise, or P is of another size. Cost: a message to each
  /// neighbour, the outer entries on the host; later new values take 4 bytes an entry more.
  void reorder(Context&, Permutation const& P, std::shared_ptr<CsrStorage<double>> own = nullptr);
  /// Of the rows as they were given; of no element where they are so.
  Permutation const& order() const { return order_; }

  Stretches const& rows() const { return rows_; }
  Stretches const& columns() const { return columns_; }
  std::int64_t entries() const { return all_entries_; }  ///< of all ranks
  HaloPlan const& plan() const { return plan_; }
  /// Own rows, own columns, in the Context's space.
  CsrView<double> own() const;
  /// The same, to be shared; update_values() leaves these values as they are.
  std::shared_ptr<CsrStorage<double>> const& own_storage() const { return own_; }
  /// Rows outer_rows()[k], ascending, and the halo's columns; on the host.
  Csr<double> const& outer() const { return outer_; }
  std::vector<Index> const& outer_rows() const { return outer_rows_; }
  /// ||A||_inf of the whole matrix; NaN where an entry is.
  double norm_inf() const { return norm_; }

 private:
  void reorder_outer(Permutation const& P, Permutation const& halo);
  void take_own(Context&, Array<double> const& given);

  Stretches rows_, columns_;
  std::int64_t all_entries_ = 0;
  HaloPlan plan_;
  std::shared_ptr<CsrStorage<double>> own_;
  Array<double> values_;  // of own_'s pattern, the latest; empty: its own
  Csr<double> outer_;
  std::vector<Index> outer_rows_;
  EntryPlaces places_;
  Permutation order_;                 // of own_ and outer_rows_, which places_ do not know
  Array<Index> own_places_;           // entry k of own_ is entry own_places_[k] of those split
  std::vector<Offset> outer_places_;  // likewise of outer_, by all orders; empty: as they are split
  double norm_ = 0;
};

}  // namespace tcsolve
