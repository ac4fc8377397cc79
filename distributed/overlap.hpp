// SPDX-License-Identifier: Apache-2.0
/// Rows of several ranks on the host, with global columns: what set-ups pass around that look
/// beyond a rank's own columns, or make another matrix over ranks.
///
///     rows_of(A)          the rank's rows, with all of their columns
///     transposed(..)      the rank's rows of A^T: an entry goes to who has its column
///     overlap(.., 2)      its rows, those that they refer to, and those that these refer to
///     gathered(..)        all rows, on rank 0
///     product_of(..)      a matrix given so, as an operator on the ranks' vectors
#pragma once

#include <span>
#include <vector>

#include <tcsolve/core/precision.hpp>
#include <tcsolve/distributed/distributed_matrix.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// Consecutive rows, or some in their order; columns are global and ascend in each row.
struct GlobalRows {
  std::vector<Offset> offsets{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;

  Index rows() const { return static_cast<Index>(offsets.size() - 1); }
  std::span<std::int64_t const> row_columns(Index i) const;
  std::span<double const> row_values(Index i) const;
  /// Of a matrix with so many columns.
  CsrView64 view(std::int64_t cols) const;
};

/// Cost: own() comes to the host.
GlobalRows rows_of(Context&, DistributedMatrix const& a);

/// The rank's rows of the transpose, of rows dealt as `rows` with columns dealt as `columns`. Every
/// rank calls it. Cost: a message of the outer entries to each of their owners.
GlobalRows transposed(Ranks&, GlobalRows const& a, Stretches const& rows, Stretches const& columns);

/// All rows on rank 0, dealt as `rows`; nothing on the others. Every rank calls it. Cost: a message
/// of its rows from each. Throws SizeError where they are more than 2^31.
Csr<double> gathered(Ranks&, GlobalRows const& a, Stretches const& rows);

/// A rank's rows of a square matrix among those that they lead to.
struct Overlap {
  std::vector<std::int64_t> numbers;  ///< of all rows and columns here, ascending
  Index first = 0;                    ///< the place of the rank's first row among them
  Csr<double> a;  ///< in these places; rows further away than the layers have no entries
};
/// `layers` steps along rows of a, whose rows are dealt as `rows`. Every rank calls it, with the
/// same number. Cost: for each layer a message to and from every neighbour.
Overlap overlap(Ranks&, GlobalRows const& a, Stretches const& rows, int layers);

/// The rows of A's halo with the columns that are own or halo here, after the rows here with all of
/// theirs: own + halo rows and columns, in these numbers. Of a square matrix; every rank calls it.
/// Throws ShapeError on all. Cost: as overlap(), of one layer.
Csr<double> with_halo_rows(Context&, DistributedMatrix const& a);

/// The square matrix of which each rank has these rows, dealt as `rows`, as an operator; the
/// entries in the rank's own columns are stored as `values`. Every rank calls it. Throws
/// MatrixError on all ranks alike where one of them is beyond the range of that type.
OperatorPtr<double> product_of(Context&, GlobalRows const& a, Stretches const& rows, Real values);

}  // namespace tcsolve
