// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <tcsolve/formats/bittcf/operator.hpp>
#include <tcsolve/formats/format_factory.hpp>

namespace tcsolve {
namespace {

/// Blocks, to a fifth or so: the columns that a tile of 8 x 8 leaves when its entries lie anywhere.
double blocks(Features const& f) {
  auto const tiles = double(f.tiles), entries = double(f.entries);
  if (tiles == 0) return entries / 64;
  return std::max(tiles * (1 - std::pow(7.0 / 8, entries / tiles)), entries / 64);
}

std::string refuses(Features const& f, PlanRequest const& request) {
  if (request.columns == 1) return "for blocks of columns";
  // A method of FP32 vectors asks for their seven digits; who names the format has the three.
  if (request.vectors == Real::f32) return "FP32 vectors are rounded to TF32 in its products";
  return beyond_31_bits(f);
}

FormatLayout layout(Features const& f, Real values) {
  auto const s = double(size_of(values)), rows = double(f.rows), entries = double(f.entries);
  return {.stored = 44 * (blocks(f) + 8) + s * entries + rows / 2,
          .slots = entries,
          .scratch = 4 * rows + 5 * rows,
          .walked = double(f.longest)};
}

/// With eight entries a block.
double estimate(Real values, double rows, double entries) {
  return entries * (size_of(values) + 5.5) + rows / 2;
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (int const aside : {1, 2})
    all.push_back({.name = cat("bittcf, aside ", aside),
                   .makers = makers_of<BittcfOperator>(BittcfTuning{.aside = aside})});
  all.push_back({.name = "bittcf, all cut",
                 .makers = makers_of<BittcfOperator>(BittcfTuning{.imbalance = 0})});
  return all;
}

}  // namespace

Format bittcf_format() {
  return {.name = "bittcf",
          .doc =
              "condensed columns of eight rows in bitmap blocks on the matrix unit (Acc-SpMM): for "
              "many right-hand sides; no transpose",
          .can = {},
          .refuses = refuses,
          .layout = layout,
          .estimate = estimate,
          .factory = factory_of<RoundingFactory<BittcfOperator>>(),
          .makers = makers_of<BittcfOperator>(),
          .miniature = makers_of<BittcfOperator>(
              BittcfTuning{.aside = 2, .aside_window = 64, .imbalance = 0, .long_window = 1}),
          .variants = variants};
}

}  // namespace tcsolve
