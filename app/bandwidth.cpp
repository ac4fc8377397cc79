// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/bandwidth.hpp>

#include <tcsolve/core/array.hpp>
#include <tcsolve/kernels/verbs/basic.hpp>

#include <algorithm>
#include <chrono>

namespace tcsolve {

double measure_bandwidth(Context& ctx, double bytes) {
  constexpr double least = 1 << 20;
  double const most = ctx.space() == Space::cuda ? 512.0 * (1 << 20) : 128.0 * (1 << 20);
  auto const n = static_cast<Index>(std::clamp(bytes, least, most) / (2 * sizeof(double)));
  Vector<double> from(ctx.space(), n), to(ctx.space(), n);
  fill<double>(ctx, from, 1);
  fill<double>(ctx, to, 0);
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    ctx.synchronize();
    auto const start = std::chrono::steady_clock::now();
    copy<double, double>(ctx, from, to);
    ctx.synchronize();
    double const seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds > 0) best = std::max(best, 2.0 * sizeof(double) * n / seconds);
  }
  return best;
}

}  // namespace tcsolve
