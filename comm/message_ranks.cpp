// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/message_ranks.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <tcsolve/comm/spin_wait.hpp>
#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/parallel.hpp>

namespace tcsolve {

using Lane = Transport::Lane;

MessageRanks::MessageRanks(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), crowded_(transport_->ranks() > thread_count(0)) {}

void MessageRanks::fail(std::string const& why, std::string const& kind) noexcept {
  if (failure_) return;
  failure_ = Failure{own_rank(), kind, why};
  std::string const text = kind + '\0' + why;
  transport_->alarm(text.data(), text.size());
}

void MessageRanks::check() const {
  if (failure_) rethrow_as(failure_->kind, failure_->rank, failure_->text);
}

bool MessageRanks::broken() {
  if (!failure_) try {
      listen();
    } catch (...) {}  // that is what has failed
  return failed();
}

/// What the transport cannot do ends all ranks.
void MessageRanks::require(char const* problem) {
  if (problem == nullptr) return;
  fail(problem);
  check();
}

void MessageRanks::listen() {
  std::array<char, 2000> text;
  int from = 0;
  std::size_t bytes = 0;
  require(transport_->hear(from, text.data(), text.size(), bytes));
  if (bytes == 0) return;
  std::string const said(text.data(), std::min(bytes, text.size()));
  std::size_t const end = said.find('\0');
  failure_ = Failure{from, said.substr(0, end), said.substr(end + 1)};
  check();
}

void MessageRanks::wait(Lane lane) {
  SpinWait waiting(crowded_);
  for (int look = 0;; ++look, waiting.pause()) {
    bool all = false;
    require(transport_->done(lane, all));
    if (all) return;
    if (look % 16 == 0) listen();
  }
}

void MessageRanks::gather_all(double const* mine, std::int64_t count, double* all) {
  check();
  int const n = rank_count(), me = own_rank();
  blocks_.resize(static_cast<std::size_t>(n * count));
  std::copy_n(mine, count, blocks_.data());
  for (int have = 1; have < n; have *= 2) {  // blocks of the ranks me, me + 1, ..
    int const more = std::min(have, n - have);
    std::size_t const bytes = static_cast<std::size_t>(more * count) * sizeof(double);
    require(transport_->receive((me + have) % n, Lane::sum, blocks_.data() + have * count, bytes));
    require(transport_->send((me - have + n) % n, Lane::sum, blocks_.data(), bytes));
    wait(Lane::sum);
  }
  for (int k = 0; k < n; ++k)
    std::copy_n(blocks_.data() + k * count, count, all + (me + k) % n * count);
}

void MessageRanks::begin(std::span<Outgoing const> out, std::span<Incoming const> in) {
  if (open_) throw std::logic_error("an exchange is open already");
  check();
  open_ = true;
  for (Incoming const& i : in)
    require(transport_->receive(i.from, Lane::exchange, i.data, i.bytes));
  for (Outgoing const& o : out) require(transport_->send(o.to, Lane::exchange, o.data, o.bytes));
}

void MessageRanks::end() {
  check();
  wait(Lane::exchange);
  open_ = false;
}

}  // namespace tcsolve
