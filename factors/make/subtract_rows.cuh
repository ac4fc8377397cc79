// SPDX-License-Identifier: Apache-2.0
/// w_j -= w_k t_kj by a warp, w a row of the factors, for its columns k one after the other.
///
/// A piece is up to 32 entries of a row of T, one for each lane. Three pieces are under way at a
/// time, so that the warp seldom waits for memory:
///
///     piece p + 2     its columns are loaded
///     piece p + 1     its columns are looked up in those of w, its numbers are loaded
///     piece p         is subtracted
#pragma once

#include <tcsolve/factors/make/row_places.cuh>

namespace tcsolve::cuda {

/// A lane's entry of a piece.
struct PieceEntry {
  int of = -1;        ///< where w_k is; -1: there are no more pieces
  Offset at = 0;      ///< of t_kj
  Index column = -1;  ///< j; -1: the piece is shorter
  int place = -1;     ///< where w_j is; -1: nowhere
  unsigned long long bits = 0;
};

/// The pieces of the rows that `rows` names.
template <class Rows>
class Pieces {
 public:
  __device__ Pieces(Rows const& rows, int lane) : rows_(rows), lane_(lane) {}

  __device__ PieceEntry next() {
    PieceEntry entry;
    while (left_ <= 0) {
      if (step_ + 1 >= rows_.steps) return entry;
      if (++step_ % 32 == 0) look_ahead();
      first_ = __shfl_sync(0xffffffffu, firsts_, step_ % 32);
      left_ = __shfl_sync(0xffffffffu, counts_, step_ % 32);
    }
    entry.of = rows_.entry(step_);
    entry.at = first_ + lane_;
    if (lane_ < left_) entry.column = rows_.column(entry.at);
    first_ += 32;
    left_ -= 32;
    return entry;
  }

 private:
  /// Where the next 32 rows are, one for each lane.
  __device__ void look_ahead() {
    counts_ = 0;
    if (step_ + lane_ < rows_.steps) rows_.range(rows_.entry(step_ + lane_), firsts_, counts_);
  }

  Rows const& rows_;
  int lane_, step_ = -1, left_ = 0, counts_ = 0;
  Offset first_ = 0, firsts_ = 0;
};

/// `Rows` says which rows of T are subtracted, and how an entry is read:
///
///     int steps                              how many
///     int entry(int step)                    where w_k is
///     void range(int entry, Offset&, int&)   the first entry of row k, and how many there are
///     Index column(Offset)                   j
///     unsigned long long load(Offset)        the bits of t_kj
///     double number(bits, Offset)            t_kj, waited for where it is not there yet
template <class Rows>
__device__ void subtract_rows(Rows const& rows, RowPlaces const& places, double* w, int lane) {
  auto const look_up = [&](PieceEntry& entry) {
    if (entry.column >= 0) entry.place = places.of(entry.column);
    if (entry.place >= 0) entry.bits = rows.load(entry.at);
  };
  Pieces<Rows> pieces(rows, lane);
  PieceEntry now = pieces.next();
  look_up(now);
  PieceEntry second = pieces.next();
  while (now.of >= 0) {
    PieceEntry const third = pieces.next();
    look_up(second);
    double const w_k = w[now.of];
    if (w_k != 0 && now.place >= 0) w[now.place] -= w_k * rows.number(now.bits, now.at);
    __syncwarp();
    now = second;
    second = third;
  }
}

}  // namespace tcsolve::cuda
