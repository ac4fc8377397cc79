// SPDX-License-Identifier: Apache-2.0
/// V^T [w u] by a team of the host: one thread.
#pragma once

#include <algorithm>

#include <tcsolve/kernels/loop/team_host.hpp>
#include <tcsolve/solvers/gmres/ops.hpp>

namespace tcsolve::host {

template <class T>
struct TeamRun<Gram<T>> {
  static void run(Gram<T> const& op, Frame f, bool stopped, TeamRows rows) {
    if (stopped) return;
    Index j = f.step();
    double* sum = op.H.sums;
    std::fill_n(sum, Gram<T>::sums(j), 0.0);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      double ui = double(op.u[i]), wi = double(op.w[i]);
      for (Index k = 0; k <= j; ++k) {
        sum[2 * k] += double(op.column(j, k)[i]) * ui;
        sum[2 * k + 1] += double(op.column(j, k)[i]) * wi;
      }
      sum[2 * j + 2] += wi * wi;
    }
    for (Index k = 0; k <= j; ++k) op.entry(j, k);
    op.finish(f);
  }
};

}  // namespace tcsolve::host
