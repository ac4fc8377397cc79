// SPDX-License-Identifier: Apache-2.0
/// How a team of the host, which is one thread, runs an operation of a batch
/// (solvers/loop/batch.hpp) on the rows of its system. An operation that needs another way than
/// element by element has a specialisation in the team.hpp of its folder.
#pragma once

#include <tcsolve/kernels/host/residual.hpp>
#include <tcsolve/kernels/operation.hpp>

namespace tcsolve::host {

/// The rows of one system.
struct TeamRows {
  std::int64_t begin, end;
};

template <class V>
struct TeamRun {
  static void run(V const& op, Frame f, bool stopped, TeamRows rows) {
    using Traits = OpTraits<V>;
    typename CoefficientsOf<V>::type c{};
    bool go = !stopped || Traits::always;
    if constexpr (Traits::prepares) go = go && op.prepare(f, c);
    if (go) {
      double sum[Traits::sums > 0 ? Traits::sums : 1] = {};
      if (op.n > 0)
        for (std::int64_t i = rows.begin; i < rows.end; ++i) op.element(i, c, sum);
      if constexpr (Traits::finishes) conclude(op, f, sum);
    }
    if constexpr (Traits::afters) op.after(f);
  }
};

template <class View>
struct TeamRun<ExactResidual<View>> {
  static void run(ExactResidual<View> const& op, Frame, bool stopped, TeamRows rows) {
    if (!stopped) walk_exactly(op, rows.begin, rows.end);
  }
};

}  // namespace tcsolve::host
