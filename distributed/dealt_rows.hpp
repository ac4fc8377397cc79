// SPDX-License-Identifier: Apache-2.0
/// Rows of a matrix on the host, a stretch of them on each rank, and how they go from rank to rank.
///
///     read by rank 0        0 1 2 3 4 5 |     |          balanced(..)    0 1 2 | 3 4 | 5
///     read by all           0 1 | 2 3 4 | 5                 |
///                                                           v
///     redealt(.., to)       0 1 2 | 3 4 | 5      a rank sends what it has to who is to have it
///
/// Columns are numbers of the whole matrix.
#pragma once

#include <tcsolve/comm/ranks.hpp>
#include <tcsolve/distributed/halo_plan.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// A canonical matrix of which this rank has A, rows `rows` of it.
struct DealtRows {
  Csr<double> A;
  Stretches rows;
};

/// All rows belong to rank 0.
Stretches on_rank_0(int ranks, std::int64_t rows);

/// Stretches of about equally many entries, of rows dealt in another way; the same whatever that
/// is: rank r begins with the first row i for which ranks * (entries before i + i) is r times as
/// much as all rows and entries. Every rank calls it. Cost: two sums, a pass over the rows.
Stretches balanced(Ranks&, DealtRows const&);

/// The same rows, dealt as `to`. Every rank calls it. Cost: three messages between ranks whose
/// stretches overlap; who keeps its rows copies nothing.
DealtRows redealt(Ranks&, DealtRows, Stretches const& to);

/// Entries of x that ranks have to ask of others: the sum over ranks. Square matrices. Every rank
/// calls it. Cost: a pass, a bit for each column.
std::int64_t halo_of(Ranks&, DealtRows const&);

}  // namespace tcsolve
