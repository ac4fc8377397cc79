// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tcsolve/formats/csell/operator.hpp>
#include <tcsolve/formats/format_factory.hpp>

namespace tcsolve {
namespace {

std::string refuses(Features const& f, PlanRequest const&) { return beyond_31_bits(f); }

/// Within 15 %: which lines wait for each other is not known before they are walked, and strips of
/// an odd number of steps are filled up.
FormatLayout layout(Features const& f, Real values) {
  auto const s = double(size_of(values)), rows = double(f.rows), entries = double(f.entries);
  // Sorted where padding would be more than a little.
  double const slots = std::min(double(f.slices_stored), 1.02 * double(f.entries)) + 32;
  // Four bytes a column number where the slice is wide, one where x is read in runs, else two; 5 an
  // entry of 32 for its base and the strip.
  double const wide = f.slices_stored > 0 ? double(f.slices_wide) / f.slices_stored : 0;
  double const narrow = double(f.tiles) < 0.2 * entries && f.long_entries == 0 ? 1 : 2;
  double const order = f.slices_stored > 1.03 * entries ? 4 * rows : 0;
  return {.stored = slots * (s + 4 * wide + narrow * (1 - wide) + 5.0 / 32) + order,
          .slots = slots,
          .scratch = 40 * rows};
}

/// With 16-bit columns and 3 % of padding.
double estimate(Real values, double rows, double entries) {
  return 1.03 * entries * (size_of(values) + 2.125) + 13 * rows;
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  auto const add = [&](std::string const& name, CsellTuning const& tuning) {
    all.push_back({.name = "csell, " + name, .makers = makers_of<CsellOperator>(tuning)});
  };
  for (Index const window : {256, 65536}) add(cat("window ", window), {.window = window});
  for (double const padding : {0.0, 0.15}) add(cat("padding ", padding), {.padding = padding});
  for (Index const length : {64, 1024}) add(cat("max ", length), {.max_length = length});
  for (Index const strip : {1, 2, 4, 8}) add(cat("strip ", strip), {.strip = strip});
  return all;
}

}  // namespace

Format csell_format() {
  return {
      .name = "csell",
      .doc =
          "slices of 32 rows, sorted where they must be, 8-bit column numbers where they reach; "
          "any row lengths; no transpose",
      .can = {.dot = true},
      .refuses = refuses,
      .layout = layout,
      .estimate = estimate,
      .factory = factory_of<RoundingFactory<CsellOperator>>(),
      .makers = makers_of<CsellOperator>(),
      .miniature =
          makers_of<CsellOperator>(CsellTuning{.max_length = 24, .window = 96, .strip = 2}),
      .variants = variants};
}

}  // namespace tcsolve
