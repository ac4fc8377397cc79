// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <tcsolve/formats/format_factory.hpp>
#include <tcsolve/formats/sell/operator.hpp>

namespace tcsolve {
namespace {

std::string refuses(Features const& f, PlanRequest const&) {
  bool const padded = double(f.slices_stored) > 3 * double(f.entries) + 1e6;
  return padded ? "padding is more than twice the entries" : "";
}

/// Exact: 4 bytes a row for its length, 32 a slice.
FormatLayout layout(Features const& f, Real values) {
  auto const s = double(size_of(values)), rows = double(f.rows);
  return {.stored = double(f.slices_stored) * (s + 2) + double(f.slices_wide) * 2 + 4 * rows +
                    32 * std::ceil(rows / 32),
          .slots = double(f.slices_stored),
          .scratch = 3 * rows,
          .walked = double(f.longest)};
}

/// Where neighbouring rows are equally long.
double estimate(Real values, double rows, double entries) {
  return entries * (size_of(values) + 2) + 5 * rows;
}

}  // namespace

Format sell_format() {
  return {.name = "sell",
          .doc = "slices of 32 rows, 16-bit column numbers; one pass with <x, A x>; no transpose",
          .can = {.dot = true, .persistent = true},
          .refuses = refuses,
          .layout = layout,
          .estimate = estimate,
          .factory = factory_of<RoundingFactory<SellOperator>>(),
          .makers = makers_of<SellOperator>()};
}

}  // namespace tcsolve
