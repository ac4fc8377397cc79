// SPDX-License-Identifier: Apache-2.0
/// The ranks of an MPI program as those of a Context. A header alone: the library has no MPI in it,
/// and any MPI will do that the program is built with.
///
///     tcsolve::mpi::Ranks ranks(MPI_COMM_WORLD);                // duplicated; on every rank
///     Context ctx(Backend::host, {.threads = 1, .communicator = &ranks});
///     LinearSolver solver(ctx, options);
///     solver.set_matrix(DistributedMatrix(ctx, first_row, rows));
///     SolveReport report = solver.solve(b, x);                  // the rank's own rows
///
/// What one rank throws all throw, with its number. Where that was thrown before ranks depend on
/// each other (rows, options, lengths) they may go on; else these ranks are done, and MPI_Finalize
/// is next. That a rank dies is the launcher's to see; of one that does not come all learn where a
/// timeout is given.
#pragma once

#include <limits>
#include <memory>

#include <tcsolve/comm/message_ranks.hpp>

#include "mpi_transport.hpp"

namespace tcsolve::mpi {

class Ranks final : public MessageRanks {
 public:
  /// Every rank of `comm` calls it, between MPI_Init and MPI_Finalize, and its destructor. Throws
  /// Unsupported outside of these. timeout: seconds that a rank waits for another one in tcsolve,
  /// set-ups apart, before it throws RankFailed; without an end, since what the program does in
  /// between may take as long as it takes.
  explicit Ranks(MPI_Comm comm, double timeout = std::numeric_limits<double>::infinity())
      : MessageRanks(transport(comm), timeout) {}

 private:
  static std::unique_ptr<Transport> transport(MPI_Comm comm) {
    int begun = 0, over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    if (begun == 0 || over != 0)
      throw Unsupported(begun == 0 ? "MPI ranks before MPI_Init()"
                                   : "MPI ranks after MPI_Finalize()");
    return std::make_unique<MpiTransport>(comm);
  }
};

}  // namespace tcsolve::mpi
