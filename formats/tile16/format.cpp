// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/format_factory.hpp>
#include <tcsolve/formats/tile16/operator.hpp>

namespace tcsolve {
namespace {

std::string refuses(Features const& f, PlanRequest const&) { return beyond_31_bits(f); }

/// Tiles of 16 from the tiles of 8 that are counted: four of those in one at best, one at worst.
/// Entries outside the 8 x 8 blocks that hold several are taken for the rest.
FormatLayout layout(Features const& f, Real values) {
  auto const s = double(size_of(values)), rows = double(f.rows), entries = double(f.entries);
  double const rest = entries - double(f.block_entries), tiles = 0.5 * double(f.blocks);
  return {.stored = 24 * tiles + (s + 1) * double(f.block_entries) + (s + 4) * rest + rows / 4 +
                    (rest > 0 ? 4 * rows : 0),
          .slots = entries,
          .scratch = 8 * rows,
          .walked = double(f.longest)};
}

/// With sixteen entries a tile.
double estimate(Real values, double rows, double entries) {
  return entries * (size_of(values) + 2.5) + rows / 4;
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (int const least : {1, 4, 12, 24})
    all.push_back({.name = cat("tile16, least ", least),
                   .makers = makers_of<Tile16Operator>(Tile16Tuning{.least = least})});
  return all;
}

}  // namespace

Format tile16_format() {
  return {
      .name = "tile16",
      .doc =
          "tiles of 16 x 16 with one byte an index (TileSpMSpV); for products of sparse vectors; "
          "no transpose of dense ones",
      .can = {.dot = true},
      .refuses = refuses,
      .layout = layout,
      .estimate = estimate,
      .factory = factory_of<RoundingFactory<Tile16Operator>>(),
      .makers = makers_of<Tile16Operator>(),
      .variants = variants};
}

}  // namespace tcsolve
