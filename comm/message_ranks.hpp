// SPDX-License-Identifier: Apache-2.0
/// Ranks that have nothing but messages between pairs (comm/transport.hpp). Sums are gathered by
/// the algorithm of Bruck, Ho, Kipnis, Upfal and Weathersby (1997), in ceil(log2(ranks)) rounds:
///
///     rank 0 of 5 has   0 . . . .  ->  0 1 . . .  ->  0 1 2 3 .  ->  0 1 2 3 4
///     and receives from           1              2              4       ranks further on
///
/// Who waits listens for alarms meanwhile: what one rank fails of ends the waits of all. A rank
/// that dies, or never comes, is for the launcher to see.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tcsolve/comm/ranks.hpp>
#include <tcsolve/comm/transport.hpp>

namespace tcsolve {

class MessageRanks : public Ranks {
 public:
  explicit MessageRanks(std::unique_ptr<Transport>);
  /// The other ranks hear of it where they wait, and throw it.
  void fail(std::string const& why, std::string const& kind = {}) noexcept override;
  /// These ranks are done: one of them has failed.
  bool failed() const { return failure_.has_value(); }
  bool broken() override;

 private:
  struct Failure {
    int rank;
    std::string kind, text;
  };
  int own_rank() const final { return transport_->rank(); }
  int rank_count() const final { return transport_->ranks(); }
  void gather_all(double const* mine, std::int64_t count, double* all) final;
  void begin(std::span<Outgoing const> out, std::span<Incoming const> in) final;
  void end() final;
  void wait(Transport::Lane);
  void listen();
  void check() const;
  void require(char const* problem);

  std::unique_ptr<Transport> transport_;
  bool crowded_;
  bool open_ = false;  // an exchange
  std::vector<double> blocks_;
  std::optional<Failure> failure_;
};

}  // namespace tcsolve
