// SPDX-License-Identifier: Apache-2.0
/// The callbacks of one solve, attached to its Context.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>

#include <tcsolve/api/linear_solver.hpp>

namespace tcsolve {

/// During its lifetime `callbacks.progress` is called for iterations of the method named `method` (not
/// of inner solvers), and the callbacks may cancel the solve. The destructor clears a cancellation
/// by these callbacks; a cancellation from elsewhere stays in force.
class SolveWatch final : public Observer {
 public:
  SolveWatch(Context& ctx, std::string method, SolveCallbacks const& callbacks);
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
  std::string const method_;
  SolveCallbacks const& callbacks_;
  Index next_;
  std::atomic<bool> cancelled_{false};  // by these callbacks
  std::optional<std::stop_callback<Cancel>> stop_;
};

}  // namespace tcsolve
