// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/message_ranks.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

#include <tcsolve/comm/spin_wait.hpp>
#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/parallel.hpp>

namespace tcsolve {

using Lane = Transport::Lane;

namespace {

using Clock = std::chrono::steady_clock;
double seconds_from(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
/// The kind of an alarm that tells no failure, but whom a rank waits for.
constexpr char const* waits = "waits";

}  // namespace

MessageRanks::MessageRanks(std::unique_ptr<Transport> transport, double timeout)
    : transport_(std::move(transport)),
      crowded_(transport_->ranks() > thread_count(0)),
      timeout_(timeout) {}

double MessageRanks::patience() const {
  return std::isfinite(timeout_) ? 4 * timeout_ : Ranks::patience();
}

void MessageRanks::alarm(Failure const& f) noexcept {
  std::string const text = std::to_string(f.rank) + '\0' + f.kind + '\0' + f.text;
  transport_->alarm(text.data(), text.size());
}

void MessageRanks::fail(std::string const& why, std::string const& kind) noexcept {
  if (failure_) return;
  failure_ = Failure{own_rank(), kind, why};
  alarm(*failure_);
}

void MessageRanks::check() const {
  if (failure_) rethrow_as(failure_->kind, failure_->rank, failure_->text);
}

bool MessageRanks::broken() {
  if (!failure_) try {
      listen();
    } catch (...) {}  // that is what has failed
  return failed() || !waits_.empty();
}

/// What the transport cannot do ends all ranks.
void MessageRanks::require(char const* problem) {
  if (problem == nullptr) return;
  fail(problem);
  check();
}

void MessageRanks::listen() {
  std::array<char, 2000> text;
  for (int from = 0;;) {
    std::size_t bytes = 0;
    require(transport_->hear(from, text.data(), text.size(), bytes));
    if (bytes == 0) return;
    std::string const said(text.data(), std::min(bytes, text.size()));
    std::size_t const number = said.find('\0'), kind = said.find('\0', number + 1);
    Failure const told{std::atoi(said.c_str()), said.substr(number + 1, kind - number - 1),
                       said.substr(kind + 1)};
    if (told.kind == waits) {
      waits_[from] = told.rank;
      continue;
    }
    failure_ = told;
    check();
  }
}

void MessageRanks::wait(Lane lane) {
  SpinWait waiting(crowded_);
  std::optional<Clock::time_point> since;
  for (int look = 0;; ++look, waiting.pause()) {
    bool all = false;
    require(transport_->done(lane, all));
    if (all) return;
    if (look % 16 == 0) listen();
    if (!waits_.empty()) miss(lane, since ? seconds_from(*since) : 0);
    if (!waiting.looks_at_clock()) continue;
    if (!since) since = Clock::now();
    if (double const waited = seconds_from(*since); !patient_ && waited > timeout_)
      miss(lane, waited);
  }
}

/// Some have waited in vain. All that wait say so; who has only just come is who was waited for.
void MessageRanks::miss(Lane lane, double waited) {
  int const me = own_rank();
  bool const named = std::ranges::any_of(waits_, [&](auto const& w) { return w.second == me; });
  bool const late = named && waited < timeout_ / 2;
  int who = me;
  if (!late) {
    Failure const mine{transport_->awaited(lane), waits, ""};
    waits_[me] = mine.rank;
    alarm(mine);
    // Those that wait too have an ear every few milliseconds.
    auto const start = Clock::now();
    while (seconds_from(start) < std::clamp(timeout_ / 8, 0.05, 0.5)) {
      listen();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (int steps = 0; steps < rank_count() && waits_.contains(who); ++steps) who = waits_[who];
  }
  failure_ = Failure{who, "",
                     waits_.contains(who)
                         ? std::string("it and others wait for each other")
                         : cat("it did not come within ", timeout_, " s (ranks.timeout)")};
  missing_ = who;
  check();
  throw RankFailed(who, failure_->text);
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
  patient_ = is_busy();
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
