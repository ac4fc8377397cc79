// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/memory_need.hpp>

#include <cstdint>
#include <limits>

#include <tcsolve/core/faults.hpp>
#include <tcsolve/core/host_memory.hpp>

namespace tcsolve {
namespace {

double on_host(Context const& ctx, MemoryNeed const& need) {
  return need.passing + (ctx.space() == Space::host ? need.held() : need.host);
}
/// A few megabytes are there: to ask the system opens a dozen files, which takes longer than to
/// set up what is so small.
bool is_little(double bytes) {
  constexpr double little = 16 << 20;
  std::int64_t const most = faults::available_at_most(std::numeric_limits<std::int64_t>::max());
  return bytes <= little && bytes <= 0.8 * static_cast<double>(most);
}
double device_limit(Context const& ctx) {
  return 0.95 * static_cast<double>(ctx.available_memory());
}

}  // namespace

bool fits(Context const& ctx, MemoryNeed const& need) {
  double const here = on_host(ctx, need);
  return (is_little(here) || here <= 0.8 * static_cast<double>(available_memory())) &&
         (ctx.space() == Space::host || need.space <= device_limit(ctx));
}

void require_memory(Context const& ctx, MemoryNeed const& need, std::string const& what) {
  require_memory(static_cast<std::int64_t>(on_host(ctx, need)), 0, what);
  if (ctx.space() != Space::host)
    require_memory(static_cast<std::int64_t>(need.space),
                   static_cast<std::int64_t>(device_limit(ctx)), cat(what, ", on the device,"));
}

}  // namespace tcsolve
