// SPDX-License-Identifier: Apache-2.0
/// Seconds of a set-up by what they were spent on.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/timed.hpp>

namespace tcsolve {

enum class SetupPart {
  symmetry,
  near_nullspace,
  spectrum,
  strength,
  aggregates,
  prolongation,
  galerkin_pattern,
  galerkin_values,
  coarsest,
  storing
};
constexpr auto names(SetupPart) {
  return std::array{std::pair{SetupPart::symmetry, "symmetry"},
                    std::pair{SetupPart::near_nullspace, "near-nullspace"},
                    std::pair{SetupPart::spectrum, "spectra"},
                    std::pair{SetupPart::strength, "strength graphs"},
                    std::pair{SetupPart::aggregates, "aggregates"},
                    std::pair{SetupPart::prolongation, "prolongations"},
                    std::pair{SetupPart::galerkin_pattern, "patterns of P^T A P"},
                    std::pair{SetupPart::galerkin_values, "values of P^T A P"},
                    std::pair{SetupPart::coarsest, "coarsest level"},
                    std::pair{SetupPart::storing, "formats"}};
}
constexpr std::size_t setup_parts = names(SetupPart{}).size();

class SetupClock {
 public:
  /// `waits`: each part ends when the device has, so that its seconds are its own.
  explicit SetupClock(bool waits = false) : waits_(waits) {}
  /// f() as a part of the set-up.
  template <class F>
  void operator()(Context& ctx, SetupPart part, F const& f) {
    timed(seconds_[static_cast<std::size_t>(part)], [&] {
      f();
      if (waits_) ctx.synchronize();
    });
  }
  double seconds(SetupPart part) const { return seconds_[static_cast<std::size_t>(part)]; }

 private:
  bool waits_;
  std::array<double, setup_parts> seconds_{};
};

}  // namespace tcsolve
