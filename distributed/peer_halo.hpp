// SPDX-License-Identifier: Apache-2.0
/// The halo between devices that reach each other's memory: a kernel stores into the neighbours'
/// memory what they want, another one waits for what they have stored here and computes with it
/// where it lies. No host, no stream but the Context's, so that both are steps of a recorded loop.
///
///     rank 0   send: x --> room t % 2 of rank 1;  arrived = t there
///     rank 1   receive: arrived >= t?  op of h = room t % 2;     taken = t at rank 0
///
/// Two rooms in turn. Who sends in turn t has seen that turn t - 2 was taken, which the last block
/// of a receiving kernel says when all blocks have read what they read. So nobody writes to a room
/// that is read. Where no sum lies between two products a rank may be ahead: it has sent turn t +
/// 1, to the other room, while the receiver has not looked for turn t yet.
#pragma once

#include <memory>

#include <tcsolve/core/context.hpp>
#include <tcsolve/distributed/halo_plan.hpp>

namespace tcsolve::cuda {

class PeerHalo;

/// For blocks of `cols` columns, both ways. Every rank makes it, at the same time.
std::shared_ptr<PeerHalo> make_peer_halo(Device&, Communicator&, HaloPlan const&, Index cols);
/// What the neighbours want of x, its rows places_k. In a stopped loop nothing happens, on any
/// rank: what stops a loop does not come between a send and its receive.
void send(Device&, PeerHalo&, In<double> x, Index const* places, LoopState const*);
/// From the halo to its owners.
void send_back(Device&, PeerHalo&, double const* halo, LoopState const*);
/// Waits for the halo, or with `back` for what returns of it, and runs op, whose h is that: one
/// kernel, in the grid, the order and the bits of execute() (kernels/operation.hpp). After each
/// send, of the same way. Of the operations of distributed/ops.hpp that have an h.
template <class Op>
void receive(Device&, PeerHalo&, bool back, Op const& op, LoopState*);

}  // namespace tcsolve::cuda
