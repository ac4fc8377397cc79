// SPDX-License-Identifier: Apache-2.0
/// libtcsolve_mpi.so: the MPI of the program, which loads it under a launcher and not else
/// (app/run/launched.cpp), so that neither the program nor the library needs an MPI to run.
#include <cstring>
#include <string>

#include <tcsolve/version.hpp>

#include "mpi_transport.hpp"

extern "C" {

/// Messages between the processes that the launcher has started; null with the words of the problem
/// where `revision` is not that of this library, or MPI cannot begin.
tcsolve::Transport* tcsolve_mpi_begin(char const* revision, char const** problem) {
  static std::string words;
  auto const refused = [&](std::string const& why) -> tcsolve::Transport* {
    words = why;
    *problem = words.c_str();
    return nullptr;
  };
  if (std::strcmp(revision, tcsolve::version::revision) != 0)
    return refused(std::string("libtcsolve_mpi.so is of tcsolve ") + tcsolve::version::revision +
                   ", the program of " + revision + "; install both of one build");
  int level = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
    return refused("MPI_Init_thread() has failed");
  if (level < MPI_THREAD_FUNNELED) {
    MPI_Finalize();
    return refused("this MPI takes no programs with threads (MPI_THREAD_FUNNELED)");
  }
  return new tcsolve::mpi::MpiTransport(MPI_COMM_WORLD);
}

/// After the transport has been destroyed.
void tcsolve_mpi_end() { MPI_Finalize(); }
}
