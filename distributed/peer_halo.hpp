// SPDX-License-Identifier: Apache-2.0
/// The halo between devices that reach each other's memory: an operation stores into the
/// neighbours' memory what they want of x (SendRows in distributed/ops.hpp), another one reads here
/// what they have stored, and computes with it. Each value tells by itself that it has come
/// (distributed/arrivals.cuh). No host, no stream but the Context's: both are steps of a recorded
/// loop, of a graph or of one kernel.
///
///     rank 0   SendRows: x --> room t % 2 of rank 1
///     rank 1   AddOuterRows: y += outer h, h = room t % 2;  taken = t at rank 0
///
/// Two rooms in turn. Who sends in turn t has seen that turn t - 2 was taken, which is said when
/// all have read what they read. So nobody writes to a room that is read. Where no sum lies between
/// two products a rank may be ahead: it has sent turn t + 1, to the other room, while the receiver
/// has not looked for turn t yet.
///
///     bytes   16 a value over the link
#pragma once

#include <memory>

#include <tcsolve/core/context.hpp>
#include <tcsolve/distributed/arrivals.hpp>
#include <tcsolve/distributed/halo_plan.hpp>

namespace tcsolve::cuda {

class PeerHalo;

/// For blocks of `cols` columns, both ways. Every rank makes it, at the same time.
std::shared_ptr<PeerHalo> make_peer_halo(Device&, Communicator&, HaloPlan const&, Index cols);
/// What operations take of it: of the way to those who have halos, or back.
struct HaloWay {
  Sending out;
  Arriving in;
};
HaloWay way_of(Device&, PeerHalo const&, bool back);

}  // namespace tcsolve::cuda
