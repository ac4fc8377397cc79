// SPDX-License-Identifier: Apache-2.0
/// A matrix that the ranks of a run have read, or made, each its own rows
/// (distributed/read_rows.hpp), and what rank 0, which has not the whole of it, tells and warns of.
#pragma once

#include <string>
#include <vector>

#include <tcsolve/api/system_facts.hpp>
#include <tcsolve/app/config/run_config.hpp>
#include <tcsolve/app/run/preflight.hpp>
#include <tcsolve/distributed/dealt_rows.hpp>

namespace tcsolve {

/// Whether each rank reads its own rows: where the file can be cut and all ranks see it, or a
/// generator makes rows one by one, `ranks.partition` leaves rows in their order or is auto, and no
/// report draws the whole matrix. Called by each rank.
bool is_read_by_ranks(Ranks&, ParsedConfig const&);
/// The rows of this rank. Called by each rank; throws on all.
DealtRows read_rows_of_run(Ranks&, ParsedConfig const&, CancelFlag);

/// What is known of all rows together.
struct RankedFacts {
  Index rows = 0, cols = 0;
  Offset entries = 0;
  std::string hash;              ///< as matrix_hash()
  SystemFacts system;            ///< of rank 0: empty rows and columns, no structural rank
  MatrixLook look;               ///< as look_at()
  std::vector<double> row_sums;  ///< of rank 0, where it asks for them: A times ones
};
/// Called by each rank, where rank 0 says whether it wants the sums. Cost: some passes over the
/// rows, and messages of the sampled rows' columns, of the sums, of a bit for each column where the
/// diagonal has zeros.
RankedFacts facts_of(Ranks&, DealtRows const&, bool row_sums);

}  // namespace tcsolve
