// SPDX-License-Identifier: Apache-2.0
/// An MPI that takes no programs with threads, in front of the one that there is (LD_PRELOAD).
#include <mpi.h>

extern "C" __attribute__((visibility("default"))) int MPI_Init_thread(int* argc, char*** argv, int,
                                                                      int* provided) {
  int const code = PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, provided);
  *provided = MPI_THREAD_SINGLE;
  return code;
}
