// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/bandwidth.hpp>

#include <tcsolve/core/array.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

#include <algorithm>
#include <chrono>

namespace tcsolve {

double measure_bandwidth(Context& ctx, double bytes) {
  constexpr double least = 1 << 20;
  double const most = ctx.space() == Space::cuda ? 512.0 * (1 << 20) : 128.0 * (1 << 20);
  auto const n = static_cast<Index>(std::clamp(bytes, least, most) / (3 * sizeof(double)));
  Vector<double> from(ctx.space(), n), added(ctx.space(), n), to(ctx.space(), n);
  for (Out<double> v : {from.view(), added.view(), to.view()}) fill<double>(ctx, v, 1);
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    ctx.synchronize();
    auto const start = std::chrono::steady_clock::now();
    submit(ctx, Correct<double>{n, 2, 1, added.view().data, from.view().data, to.view().data});
    ctx.synchronize();
    double const seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds > 0) best = std::max(best, 3.0 * sizeof(double) * n / seconds);
  }
  return best;
}

}  // namespace tcsolve
