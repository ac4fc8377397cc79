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
/// What one rank throws before ranks depend on each other all throw. Anything else that a rank
/// throws by itself ends the job by MPI_Abort with code 5, after a line on standard error: MPI has
/// no way to reach ranks that wait. That a rank does not come is the launcher's to see.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <tcsolve/comm/ranks.hpp>

namespace tcsolve::mpi {

class Ranks final : public tcsolve::Ranks {
 public:
  /// Every rank of `comm` calls it, between MPI_Init and MPI_Finalize, and its destructor. Throws
  /// Unsupported outside of these.
  explicit Ranks(MPI_Comm comm) {
    int begun = 0, over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    if (begun == 0 || over != 0)
      throw Unsupported(begun == 0 ? "MPI ranks before MPI_Init()"
                                   : "MPI ranks after MPI_Finalize()");
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &count_);
  }
  ~Ranks() override {
    int over = 0;
    MPI_Finalized(&over);
    if (over == 0) MPI_Comm_free(&comm_);
  }
  Ranks(Ranks const&) = delete;
  Ranks& operator=(Ranks const&) = delete;

  void fail(std::string const& why, std::string const& = {}) noexcept override {
    std::fprintf(stderr, "tcsolve: rank %d: %s\n", rank_, why.c_str());
    MPI_Abort(comm_, 5);
  }

 private:
  int own_rank() const override { return rank_; }
  int rank_count() const override { return count_; }
  /// In pieces that MPI can count. Sums are added by whoever asks, in rank order, so that all ranks
  /// have the same bits; MPI_Allreduce does not promise that.
  void gather_all(double const* mine, std::int64_t count, double* all) override {
    constexpr std::int64_t most = 1 << 24;
    if (count == 0) check(MPI_Barrier(comm_));
    if (count <= most) {
      if (count > 0)
        check(MPI_Allgather(mine, int(count), MPI_DOUBLE, all, int(count), MPI_DOUBLE, comm_));
      return;
    }
    std::vector<double> piece(static_cast<std::size_t>(most * count_));
    for (std::int64_t first = 0; first < count; first += most) {
      std::int64_t const size = std::min(most, count - first);
      check(MPI_Allgather(mine + first, int(size), MPI_DOUBLE, piece.data(), int(size), MPI_DOUBLE,
                          comm_));
      for (int r = 0; r < count_; ++r)
        std::copy_n(piece.data() + r * size, size, all + r * count + first);
    }
  }
  void begin(std::span<Outgoing const> out, std::span<Incoming const> in) override {
    if (!open_.empty()) throw std::logic_error("an exchange is open already");
    auto const pieces = [&](auto* data, std::size_t bytes, auto const& start) {
      constexpr std::size_t most = std::size_t{1} << 30;
      for (std::size_t first = 0; first < bytes; first += most)
        check(start(data + first, int(std::min(most, bytes - first)), &open_.emplace_back()));
    };
    for (Incoming const& i : in)
      pieces(static_cast<std::byte*>(i.data), i.bytes, [&](void* to, int size, MPI_Request* r) {
        return MPI_Irecv(to, size, MPI_BYTE, i.from, tag, comm_, r);
      });
    for (Outgoing const& o : out)
      pieces(static_cast<std::byte const*>(o.data), o.bytes,
             [&](void const* from, int size, MPI_Request* r) {
               return MPI_Isend(from, size, MPI_BYTE, o.to, tag, comm_, r);
             });
  }
  void end() override {
    check(MPI_Waitall(int(open_.size()), open_.data(), MPI_STATUSES_IGNORE));
    open_.clear();
  }
  /// Errors of MPI end the job unless the program has asked for codes.
  static void check(int code) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Error(cat("MPI: ", std::string(text, static_cast<std::size_t>(length))));
  }

  static constexpr int tag = 7;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, count_ = 1;
  std::vector<MPI_Request> open_;
};

}  // namespace tcsolve::mpi
