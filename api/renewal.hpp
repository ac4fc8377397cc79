// SPDX-License-Identifier: Apache-2.0
/// When a preconditioner of old values is worth making anew.
///
///     seconds a solve
///        |            x          A preconditioner that took S seconds to make serves k solves of
///        |         x             t_1, ..., t_k seconds. Each of these has cost
///        |      x                    c_k = (S + t_1 + ... + t_k) / k .
///        | x x                   c_k falls as long as t_k < c_(k-1), so that the first solve that
///        +---------------- k     takes longer than the mean before it ends the cheapest stretch.
#pragma once

#include <array>
#include <utility>

#include <tcsolve/solvers/report.hpp>

namespace tcsolve {

/// What becomes of the preconditioner when the matrix gets new values.
enum class Renew { always, automatic, never };
constexpr auto names(Renew) {
  return std::array{std::pair{Renew::always, "always"}, std::pair{Renew::automatic, "auto"},
                    std::pair{Renew::never, "never"}};
}

/// Whether a better preconditioner may lead to another end.
inline bool may_be_the_preconditioner(SolveReport const& r) {
  switch (r.reason) {
    case Stop::max_iterations:
    case Stop::stagnated:
    case Stop::diverged:
    case Stop::breakdown:
    case Stop::false_convergence:
    case Stop::indefinite_preconditioner: return true;
    case Stop::nonfinite: return r.cause == Cause::preconditioner || r.cause == Cause::overflow;
    default: return false;
  }
}

class Renewal {
 public:
  /// The preconditioner has been made anew.
  void renewed(double seconds) {
    setup_ = seconds;
    solves_ = 0;
    spent_ = last_ = 0;
  }
  /// A solve with it.
  void solved(double seconds) {
    before_ = solves_ == 0 ? setup_ + seconds : (setup_ + spent_) / solves_;
    spent_ += seconds;
    last_ = seconds;
    ++solves_;
  }
  /// The last solve took longer than those before cost on average, their share of the set-up
  /// included.
  bool due() const { return solves_ > 1 && last_ > before_; }

 private:
  double setup_ = 0, spent_ = 0, last_ = 0, before_ = 0;
  int solves_ = 0;
};

}  // namespace tcsolve
