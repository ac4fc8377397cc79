// SPDX-License-Identifier: Apache-2.0
/// The callbacks of one solve, attached to its Context.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>

#include <tcsolve/api/linear_solver.hpp>

namespace tcsolve {

/// While it lives, `callbacks` are called with the iterations of the solves that begin next to it,
/// not with those of solves inside them, and may cancel them. Which is which is told by their depth
/// (IterationEvent::depth), whatever the methods are called. The destructor withdraws a
/// cancellation that the callbacks requested; one that came from elsewhere stays.
class SolveWatch final : public Observer {
 public:
  SolveWatch(Context& ctx, SolveCall const& callbacks);
  ~SolveWatch() override;
  SolveWatch(SolveWatch const&) = delete;
  SolveWatch& operator=(SolveWatch const&) = delete;

  using Observer::on;
  void on(IterationEvent const&) override;

 private:
  struct Cancel {
    SolveWatch& watch;
    void operator()() const { watch.cancel(); }
  };
  void cancel();

  Context& ctx_;
  SolveCall const& callbacks_;
  int const depth_;                     // of the solves that are heard
  Index last_ = 0;                      // iteration that was heard of
  Index next_ = 0;                      // that the callback is to hear of
  std::atomic<bool> cancelled_{false};  // by these callbacks
  std::optional<std::stop_callback<Cancel>> stop_;
};

}  // namespace tcsolve
