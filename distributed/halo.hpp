// SPDX-License-Identifier: Apache-2.0
/// The halo of a vector, brought from its owners and back.
///
///     begin(x);                 what others want of x is on its way
///     y = own x                 meanwhile
///     end({.h, ..})             y += outer h, once h, x of the halo, is here
///
///     begin_return(h);          the other way: each h_j goes to its owner ..
///     end_return(alpha, y);     .. who adds what has come, neighbour by neighbour: the same bits in
///                               every run
#pragma once

#include <map>
#include <memory>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/distributed/halo_plan.hpp>
#include <tcsolve/distributed/packed_lists.hpp>
#include <tcsolve/distributed/peer_halo.hpp>

namespace tcsolve {

/// Serves one Context, and one of the two exchanges at a time. Devices that reach each other's
/// memory store there (distributed/peer_halo.hpp), by operations alone; all other ranks pack what
/// goes, and send messages.
class Halo {
 public:
  /// Every rank makes it, at the same time. Cost: an upload; on devices that reach each other's
  /// memory another one, and a sum of the ranks.
  Halo(Context&, HaloPlan const& plan);

  Index size() const { return plan_.halo(); }
  HaloPlan const& plan() const { return plan_; }
  /// Whether it is operations and nothing else, so that one kernel may go through it.
  bool is_operations() const { return rooms_.at(1).peers != nullptr; }
  /// Whether it never waits for the host, so that a graph may hold it.
  bool is_capturable() const { return capturable_; }
  /// Blocks of any number of columns, in the Context's space; the halo is FP64 whatever T is, and
  /// row-major, without gaps.
  template <class T>
  void begin(Context&, In<T> x);
  /// Submits op, whose h is the halo that has come: on devices it waits for it, and reads it where
  /// the neighbours have stored it. Of AddOuterRows, AddOuterRowsDot, OuterResidual and KeepHalo.
  template <class Op>
  void end(Context& ctx, Op const& op) {
    arrive(ctx, op, false);
  }
  /// Where h is to be written for begin_return(): halo() rows, row-major.
  double* place(Context&, Index cols);
  void begin_return(Context&, Index cols);
  template <class T>
  void end_return(Context&, double alpha, Out<T> y);
  /// Bytes that leave this rank with a vector.
  double bytes_sent() const { return 8.0 * static_cast<double>(plan_.sent.size()); }

 private:
  /// For blocks of as many columns; it stays, since recordings have its addresses.
  struct Room {
    Array<double> outside, inside;  // the halo; what of x others have
    std::shared_ptr<cuda::PeerHalo> peers;
    cuda::HaloWay ways[2] = {};  // of the peers: forth and back
  };
  Room& room(Context&, Index cols);
  template <class Op>
  void arrive(Context&, Op op, bool back);
  void begin_messages(Context&, Room&, Index cols, bool back);
  void end_messages(Context&);

  HaloPlan plan_;
  Array<std::byte> lists_;                    // in the Context's space
  Index const* sent_;                         // of the plan
  Index const *targets_, *starts_, *places_;  // what comes back: own place, where its parts lie
  std::int64_t target_count_;
  std::map<Index, Room> rooms_;
  Room* open_ = nullptr;  // of the exchange at hand
  bool capturable_ = false;
};

}  // namespace tcsolve
