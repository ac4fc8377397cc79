// SPDX-License-Identifier: Apache-2.0
/// The product with CSR by a team of the host: one thread.
#pragma once

#include <tcsolve/formats/csr/ops.hpp>
#include <tcsolve/kernels/loop/team_host.hpp>

namespace tcsolve::host {

template <class S, class T>
struct TeamRun<CsrMultiply<S, T>> {
  static void run(CsrMultiply<S, T> const& op, Frame, bool stopped, TeamRows rows) {
    if (stopped) return;
    double sigma = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      double sum = 0;
      for (Offset e = op.a.offsets[i], end = op.a.offsets[i + 1]; e < end; ++e)
        sum += double(op.a.values[e]) * double(op.x[op.a.columns[e]]);
      op.y[i] = T(op.beta == T(0) ? double(op.alpha) * sum
                                  : double(op.alpha) * sum + double(op.beta) * double(op.y[i]));
      if (op.sigma != nullptr) sigma += double(op.x[i]) * double(op.y[i]);
    }
    if (op.sigma != nullptr) *op.sigma = sigma;
  }
};

}  // namespace tcsolve::host
