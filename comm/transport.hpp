// SPDX-License-Identifier: Apache-2.0
/// Messages between the processes of a job, as MPI gives them: started, then asked for until they
/// are done.
///
///     send(1, Lane::sum, ..)      receive(1, Lane::sum, ..)      done(Lane::sum)?  ..  done(Lane::sum)
///
/// It may stand in a library that is loaded while the program runs (bindings/mpi/component.cpp), so
/// nothing is thrown across it: a function answers null, or the words of what went wrong, which
/// stay until the next call.
#pragma once

#include <cstddef>

namespace tcsolve {

class Transport {
 public:
  /// Messages on one lane arrive in the order in which they were sent, whatever is on the other.
  enum class Lane { sum, exchange };
  static constexpr int lanes = 2;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Begins; the memory stays as it is until the lane is done. Both sides name the bytes, any
  /// number of them.
  virtual char const* send(int to, Lane, void const* data, std::size_t bytes) = 0;
  virtual char const* receive(int from, Lane, void* data, std::size_t bytes) = 0;
  /// all: everything that was begun on the lane has gone and come. Does not wait. A message of
  /// another length than the receiver has named is an error.
  virtual char const* done(Lane, bool& all) = 0;

  /// The rank from which, or to which, the first message goes that is not done on the lane; -1:
  /// none.
  virtual int awaited(Lane) = 0;

  /// Sends `bytes` of text to every other rank, which need not wait for it. Once.
  virtual void alarm(char const* text, std::size_t bytes) noexcept = 0;
  /// The alarm of some rank, which has sent `bytes` of text, the first `most` of them in `text`;
  /// bytes = 0: there is none.
  virtual char const* hear(int& from, char* text, std::size_t most, std::size_t& bytes) = 0;
};

}  // namespace tcsolve
