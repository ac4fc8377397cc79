// SPDX-License-Identifier: Apache-2.0
/// `mpirun -n 2 tcsolve CONFIG`: the processes of a launcher as the ranks of one run.
///
///     launcher's variables -> libtcsolve_mpi.so, loaded -> MPI_Init -> MessageRanks -> MPI_Finalize
///       rank 0   reads, speaks and writes            the others   read the config, and follow
#pragma once

#include <string>

#include <tcsolve/app/arguments.hpp>
#include <tcsolve/app/config/registries.hpp>

namespace tcsolve {

/// What a launcher has told this process; one process where there is none.
struct Launch {
  int processes = 1;
  bool speaks = true;    ///< it is the first of them
  std::string variable;  ///< "OMPI_COMM_WORLD_SIZE=2"
};
/// By the variables of Open MPI, PMI (MPICH, Intel MPI and others), MVAPICH2 and Slurm.
Launch launch_of_environment();

/// Throws ConfigError where a launcher has started this process as one of several; `what`: who
/// would do its work as often as there are processes.
void require_no_launcher(char const* what);

/// Solves with the other processes of the launch; the exit code, which is that of all. What goes
/// wrong is said once: on standard error of the first one.
int solve_launched(Launch const&, Arguments const&, Catalog const&);

}  // namespace tcsolve
