// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/format_factory.hpp>
#include <tcsolve/formats/spaden/operator.hpp>

namespace tcsolve {
namespace {

std::string refuses(Features const& f, PlanRequest const&) { return beyond_31_bits(f); }

/// Within a few percent. The cuts of its shares are scratch as well.
FormatLayout layout(Features const& f, Real values) {
  auto const s = double(size_of(values)), rows = double(f.rows), entries = double(f.entries);
  double const side = entries - double(f.block_entries);
  return {.stored = 16 * double(f.blocks) + s * double(f.block_entries) + (s + 4) * side +
                    rows / 2 + (side > 0 ? 4 * rows : 0),
          .slots = entries,
          .scratch = 20 * rows + entries / 2};
}

/// With eight entries a block.
double estimate(Real values, double rows, double entries) {
  return entries * (size_of(values) + 2) + 4.5 * rows;
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  auto const add = [&](std::string const& name, SpadenTuning const& tuning) {
    all.push_back({.name = "spaden, " + name, .makers = makers_of<SpadenOperator>(tuning)});
  };
  for (int const groups : {1, 2, 4}) add(cat("groups ", groups), {.groups = groups});
  for (int const side : {0, 1, 4}) add(cat("side ", side), {.side = side});
  for (Index const share : {32, 64, 128, 256}) add(cat("share ", share), {.share = share});
  return all;
}

}  // namespace

Format spaden_format() {
  return {.name = "spaden",
          .doc =
              "bitmaps of 8 x 8 blocks with packed values (bitBSR, the format of Spaden; products "
              "of our own); more than 32 entries a row; no transpose",
          .refuses = refuses,
          .layout = layout,
          .estimate = estimate,
          .factory = factory_of<RoundingFactory<SpadenOperator>>(),
          .makers = makers_of<SpadenOperator>(),
          .variants = variants};
}

}  // namespace tcsolve
