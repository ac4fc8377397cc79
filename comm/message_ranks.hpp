// SPDX-License-Identifier: Apache-2.0
/// Ranks that have nothing but messages between pairs (comm/transport.hpp). Sums are gathered by
/// the algorithm of Bruck, Ho, Kipnis, Upfal and Weathersby (1997), in ceil(log2(ranks)) rounds:
///
///     rank 0 of 5 has   0 . . . .  ->  0 1 . . .  ->  0 1 2 3 .  ->  0 1 2 3 4
///     and receives from           1              2              4       ranks further on
///
/// Who waits listens for alarms meanwhile: what one rank fails of ends the waits of all. Who has
/// waited for `timeout` seconds says for whom; the others, who wait as well, answer with theirs,
/// and the one whom these lead to, and who says nothing, is who does not come:
///
///     rank 2 waits for 0,  0 waits for 1,  3 waits for 1     ->  RankFailed: rank 1
///
/// A rank is busy (Ranks::busy) where all are, so who waits then, or in the first sum after, has
/// patience without an end. That a process has died is for its launcher to see first.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tcsolve/comm/ranks.hpp>
#include <tcsolve/comm/transport.hpp>

namespace tcsolve {

class MessageRanks : public Ranks {
 public:
  explicit MessageRanks(std::unique_ptr<Transport>,
                        double timeout = std::numeric_limits<double>::infinity());
  /// Seconds that a rank waits for another one from here on; the same on all.
  void set_timeout(double seconds) { timeout_ = seconds; }
  /// The other ranks hear of it where they wait, and throw it.
  void fail(std::string const& why, std::string const& kind = {}) noexcept override;
  /// These ranks are done: one of them has failed.
  bool failed() const { return failure_.has_value(); }
  /// The rank that did not come, where that is the failure.
  std::optional<int> missing() const { return missing_; }
  bool broken() override;
  /// A device does not see that another rank is busy.
  double patience() const override;

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
  void tell_busy(bool on) noexcept final { patient_ = patient_ || on; }
  void wait(Transport::Lane);
  [[noreturn]] void miss(Transport::Lane, double waited);
  void alarm(Failure const&) noexcept;
  void listen();
  void check() const;
  void require(char const* problem);

  std::unique_ptr<Transport> transport_;
  bool crowded_;
  bool open_ = false;  // an exchange
  std::vector<double> blocks_;
  std::optional<Failure> failure_;
  double timeout_;
  bool patient_ = false;      // until a sum ends that does not lie where ranks are busy
  std::map<int, int> waits_;  // who has waited in vain, for whom
  std::optional<int> missing_;
};

}  // namespace tcsolve
