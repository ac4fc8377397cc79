// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/bitblock/operator.hpp>
#include <tcsolve/formats/format_factory.hpp>

namespace tcsolve {
namespace {

/// A block row is one warp's, however long it is.
std::string refuses(Features const& f, PlanRequest const&) { return beyond_31_bits(f); }

/// Within a few percent.
FormatLayout layout(Features const& f, Real values) {
  auto const s = double(size_of(values)), rows = double(f.rows), entries = double(f.entries);
  double const side = entries - double(f.block_entries);
  return {.stored =
              16 * double(f.blocks) + s * entries + 4 * side + rows / 2 + (side > 0 ? 4 * rows : 0),
          .slots = entries,
          .scratch = 4 * rows + 2 * rows,
          .walked = double(f.longest)};
}

/// With eight entries a block.
double estimate(Real values, double rows, double entries) {
  return entries * (size_of(values) + 2) + 4.5 * rows;
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (int const aside : {0, 1, 4, 8})
    all.push_back({.name = cat("bitblock, aside ", aside),
                   .makers = makers_of<BitblockOperator>(BitblockTuning{.aside = aside})});
  return all;
}

}  // namespace

Format bitblock_format() {
  return {.name = "bitblock",
          .doc =
              "bitmaps of 8 x 8 blocks on the FP64 matrix unit: for many right-hand sides; no "
              "transpose",
          .can = {},
          .refuses = refuses,
          .layout = layout,
          .estimate = estimate,
          .factory = factory_of<RoundingFactory<BitblockOperator>>(),
          .makers = makers_of<BitblockOperator>(),
          .variants = variants};
}

}  // namespace tcsolve
