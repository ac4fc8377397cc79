// SPDX-License-Identifier: Apache-2.0
/// A matrix file that all ranks read, each a part of it, so that none has the whole matrix.
///
///     Matrix Market   each rank parses the lines of its stretch of bytes, counts entries by rows, and
///     (coordinate)    sends each entry, and its mirror image where the file has one triangle, to who
///                     is to have the row. Entries are added in the order of the file, as on one rank
///     PETSc binary    each rank passes over the row lengths, and seeks its rows' columns and values
///
/// Then rows are dealt by entries (distributed/dealt_rows.hpp): what a rank has is what it would
/// have of a matrix that rank 0 read and dealt, bit by bit. Faults are those of one reader too: the
/// first in the file, by its line or place, thrown on all ranks in the same words.
#pragma once

#include <filesystem>

#include <tcsolve/comm/ranks.hpp>
#include <tcsolve/distributed/dealt_rows.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

namespace tcsolve {

/// Whether every rank sees the same such file, one that is not compressed. Every rank calls it.
/// Cost: a look at the first bytes.
bool can_be_read_by_ranks(Ranks&, std::filesystem::path const&);

/// Such a file. Every rank calls it. Throws on all ranks alike what read_matrix() throws, and what
/// only one of them meets (memory, Cancelled) with its number. Options: `stats` are not filled.
/// Cost: 32 bytes of memory for each entry of the rank's share at peak, and two messages to each
/// other rank.
DealtRows read_rows(Ranks&, std::filesystem::path const&, ReadOptions const& = {});

}  // namespace tcsolve
