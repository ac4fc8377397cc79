// SPDX-License-Identifier: Apache-2.0
/// One way of a halo between devices, as operations take it (distributed/peer_halo.hpp); what they
/// do with it is the device's matter (distributed/arrivals.cuh).
///
///     rank 0   goes_k  --> | room of even turns | room of odd turns |  came, at rank 1
///     rank 0   taken  <--  the last turn that rank 1 has read
#pragma once

#include <cstdint>

namespace tcsolve::cuda {

struct Post;
struct RankMail;
struct Turn;

struct Sending {
  Post* const* goes = nullptr;          ///< of each value its place in the receiver's first room
  std::int64_t room = 0;                ///< values, the same at all ranks
  Turn const* taken = nullptr;          ///< of each rank, what it has read of this one
  std::uint32_t receivers = 0;          ///< bit r: something goes to rank r
  std::uint32_t const* turn = nullptr;  ///< of the last exchange
  RankMail const* ranks = nullptr;      ///< how long to wait
};

struct Arriving {
  Post const* came = nullptr;  ///< (2, room)
  std::int64_t room = 0;
  Turn* const* takes = nullptr;  ///< at each sender, what this rank has read of it
  int senders = 0;
  std::uint32_t* turn = nullptr;
  RankMail const* ranks = nullptr;
};

/// The values of a turn.
struct Arrivals {
  Post const* at;
  std::uint32_t turn;
  RankMail const* ranks;
};

}  // namespace tcsolve::cuda
