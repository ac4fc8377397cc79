// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/bandwidth.hpp>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

#include <algorithm>
#include <array>

namespace tcsolve {

namespace {
constexpr double MiB = 1 << 20;
}

bool beyond_caches(Context const& ctx, double bytes_per_iteration) {
  bool const device = ctx.space() == Space::cuda;
  return bytes_per_iteration > (device ? double(ctx.cache_bytes()) : 32 * MiB);
}

double bandwidth_bytes(Context const& ctx) {
  return (ctx.space() == Space::cuda ? 512 : 128) * MiB;
}

double measure_bandwidth(Context& ctx) {
  auto const n = static_cast<Index>(bandwidth_bytes(ctx) / (3 * sizeof(double)));
  Vector<double> from(ctx.space(), n), added(ctx.space(), n), to(ctx.space(), n);
  for (Out<double> v : {from.view(), added.view(), to.view()}) fill<double>(ctx, v, 1);
  std::array<double, 9> seconds{};
  for (double& s : seconds) {
    ctx.synchronize();
    timed(s, [&] {
      submit(ctx, Correct<double>{n, 2, 1, added.view().data, from.view().data, to.view().data});
      ctx.synchronize();
    });
  }
  auto const median = seconds.begin() + seconds.size() / 2;
  std::nth_element(seconds.begin(), median, seconds.end());
  return *median > 0 ? 3.0 * sizeof(double) * n / *median : 0;
}

}  // namespace tcsolve
