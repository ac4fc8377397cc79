// SPDX-License-Identifier: Apache-2.0
/// The halo between devices that reach each other's memory: a kernel stores into the neighbours'
/// memory what they want, another one waits for what they have stored here. No host, no stream but
/// the Context's, so that both are steps of a recorded loop.
///
///     rank 0   send: x --> landing, set t % 2, of rank 1;  arrived = t there
///     rank 1   receive: arrived = t?  landing --> to;      taken = t at rank 0
///
/// Two sets in turn: who sends for the turn t has seen that turn t - 2 was taken.
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
void receive(Device&, PeerHalo&, double* halo, LoopState const*);
/// From the halo to its owners.
void send_back(Device&, PeerHalo&, double const* halo, LoopState const*);
void receive_back(Device&, PeerHalo&, double* returned, LoopState const*);

}  // namespace tcsolve::cuda
