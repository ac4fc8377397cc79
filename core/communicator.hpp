// SPDX-License-Identifier: Apache-2.0
/// The ranks that solve one system together. Each has a Context and a stretch of the rows, and all
/// of them run the same program: they go the same way because whatever decides is the same bits on
/// each. So what a rank knows alone (its part of a sum, its number of rows, its clock, a request to
/// cancel) becomes common before anything follows from it, and it becomes so here.
///
///     rank 0   rows [0, n_0)          its sum, its size, its clock  -+
///     rank 1   rows [n_0, n_0 + n_1)  its sum, its size, its clock  -+->  the same on every rank
///
/// A Context is the only rank unless ContextOptions::communicator says otherwise. The host asks it
/// wherever a sum ends (kernels/host/sums.hpp). Devices that reach each other's memory ask it once,
/// and end their sums there by themselves (core/cuda/rank_link.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tcsolve/core/error.hpp>

namespace tcsolve {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const { return 0; }
  virtual int ranks() const { return 1; }
  /// all[r * count + k] = mine[k] of rank r. Every rank calls it, with the same count and in the
  /// same order of calls, and waits for the others.
  virtual void gather(double const* mine, std::int64_t count, double* all) {
    std::copy_n(mine, count, all);
  }

  struct Outgoing {
    int to;
    void const* data;
    std::size_t bytes;
  };
  struct Incoming {
    int from;
    void* data;
    std::size_t bytes;
  };
  /// Begins to send and to receive, at most one message to and from each other rank, of the bytes
  /// that both name. Who sends and receives nothing need not call. The memory stays as it is until
  /// end_exchange(), which returns when all has gone and come. One exchange is open at a time;
  /// sums may be asked for meanwhile. Throws Unsupported where there are sums alone.
  virtual void begin_exchange(std::span<Outgoing const>, std::span<Incoming const>) {
    throw Unsupported("messages between ranks: this communicator has none");
  }
  virtual void end_exchange() {}

  /// For devices whose kernels wait for those of other ranks. Whether a rank has failed, so that
  /// nobody is to wait any longer; asks without waiting.
  virtual bool broken() { return false; }
  /// Seconds that a kernel waits for another rank.
  virtual double patience() const { return 120; }
  /// Throws what has failed; called where a kernel has waited in vain.
  [[noreturn]] virtual void lost() {
    throw DeviceError("the device has waited for another rank in vain");
  }

  /// Whether a sum over a vector goes on over other ranks.
  bool extends_sums() const { return ranks() > 1; }
  /// The rows of all ranks, of which this one has `local`, and those of the ranks before it.
  std::int64_t global_size(std::int64_t local) { return rows_of(ranks(), local); }
  std::int64_t first_row(std::int64_t local) { return rows_of(rank(), local); }
  /// The largest of what the ranks say, NaN where one does: of a bool whether any rank says so, of
  /// a Stop a request to cancel before a time limit before none.
  template <class Word>
  Word agree(Word mine) {
    if (!extends_sums()) return mine;
    double largest = 0;
    for (double const one : gathered(static_cast<double>(mine)))
      if (one != one || one > largest) largest = one;
    return static_cast<Word>(largest);
  }

 private:
  std::vector<double> gathered(double mine) {
    std::vector<double> all(static_cast<std::size_t>(ranks()));
    gather(&mine, 1, all.data());
    return all;
  }
  /// Of the first `count` ranks. FP64 counts to 2^53.
  std::int64_t rows_of(int count, std::int64_t local) {
    if (!extends_sums()) return count == 0 ? 0 : local;
    double sum = 0;
    for (double const rows : gathered(static_cast<double>(local)))
      if (count-- > 0) sum += rows;
    return static_cast<std::int64_t>(sum);
  }
};

}  // namespace tcsolve
