// SPDX-License-Identifier: Apache-2.0
/// What the shipped rates were fitted to.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <tcsolve/formats/bsell/bsell.hpp>
#include <tcsolve/formats/choose/cost_model.hpp>
#include <tcsolve/formats/dia/dia.hpp>

namespace tcsolve::test {

/// The order of the columns of MeasuredRow.
constexpr std::string_view measured_formats[] = {"csr",    "sell", "csell", "dasp",
                                                 "spaden", "dia",  "bsell"};
/// Root mean square of the relative error that the shipped rates may have over the table below.
constexpr double fit_allowed[] = {0.07, 0.07, 0.15, 0.10, 0.20, 0.05, 0.05};
/// What the bytes of a layout may be off by, relatively; 0: it depends on the matrix. A strip of
/// seven steps is stored as eight; how far sorting block rows helps is not known before.
constexpr double bytes_allowed[] = {1e-12, 1e-12, 0.15, 0, 0, 1e-12, 0.05};

/// Features as features() gives them; but the dense blocks of large matrices, which it estimates,
/// are counted.
struct MeasuredFeatures {
  Index rows, cols;
  Offset entries;
  Offset short_rows[5];
  Offset long_rows, long_entries, longest, medium_slots, medium_wide, slices_stored, slices_wide;
  Offset tiles, blocks, block_entries;
  Offset diagonals;
  bool symmetric;
  BsellCounts dense;
  Features features() const {
    Features f{.rows = rows,
               .cols = cols,
               .entries = entries,
               .long_rows = long_rows,
               .long_entries = long_entries,
               .longest = longest,
               .medium_slots = medium_slots,
               .medium_wide = medium_wide,
               .slices_stored = slices_stored,
               .slices_wide = slices_wide,
               .tiles = tiles,
               .blocks = blocks,
               .block_entries = block_entries};
    std::ranges::copy(short_rows, f.short_rows);
    f.own.set(DiaCounts{diagonals, symmetric});
    f.own.set(dense);
    return f;
  }
};

/// docs/results/spmv-h200.md, cold us of y = A x with each of measured_formats, csr being
/// cuSPARSE's; 0: not measured, since padding is more than twice the entries.
struct MeasuredRow {
  char const* name;
  MeasuredFeatures counts;
  double fp64[7], fp32[7];
};
// clang-format off
inline MeasuredRow const measured_rows[] = {
    {"poisson27_96", {884736, 884736, 23393656, {0, 0, 0, 0, 0}, 0, 0, 27, 24330272, 0, 23557248, 0, 2781064, 981552, 21594144, 27, true, {{{11615032, 11806080, 0}, {7688824, 7852416, 0}, {5725720, 5930496, 0}, {3762616, 3953664, 0}}}}, {111.4, 63.71, 66.59, 65.18, 95.9, 41.7, 100.6}, {73.28, 44.06, 40.54, 47.81, 61.06, 24.38, 59.23}},
    {"elasticity_56", {526848, 526848, 40434060, {0, 9408, 0, 0, 0}, 0, 0, 81, 41919264, 0, 41688576, 0, 1680916, 1680916, 40434060, 99, true, {{{12761564, 16249408, 0}, {4494764, 4653312, 0}, {4188512, 4653568, 0}, {2259592, 2342592, 0}}}}, {166.9, 100.2, 108.7, 100.7, 125.7, 90.5, 85.12}, {111.6, 70.24, 63.42, 68.16, 78.59, 50.21, 46.82}},
    {"poisson7_160", {4096000, 4096000, 28518400, {0, 0, 0, 0, 8}, 0, 0, 7, 32767936, 0, 28569600, 0, 3520000, 2547200, 27545600, 7, true}, {166.3, 92.1, 99.14, 113, 138.6, 55.46, 0}, {99.84, 60.32, 55.52, 79.97, 111.2, 31.07, 0}},
    {"poisson27_80", {512000, 512000, 13481272, {0, 0, 0, 0, 0}, 0, 0, 27, 14028832, 0, 13617408, 0, 1586032, 566440, 12461680, 27, true, {{{6683992, 6808704, 0}, {3512155, 3545920, 0}, {3285352, 3427200, 0}, {1749892, 1777216, 0}}}}, {69.66, 38.72, 43.1, 39.97, 59.74, 25.66, 60.61}, {46.24, 27.9, 25.38, 29.86, 39.68, 16.7, 36.06}},
    {"poisson27s_80", {512000, 512000, 13481272, {0, 0, 0, 0, 0}, 0, 0, 27, 14028832, 14028832, 13824000, 13824000, 13013232, 64032, 512272, 983607, false, {{{13224380, 13568000, 13568000}, {13137527, 13484352, 13484352}, {13092656, 13440000, 13440000}, {13043704, 13399008, 13399008}}}}, {112.6, 106.8, 113.6, 109.2, 414.7, 0, 0}, {104.4, 98.37, 104.1, 102.6, 335.1, 0, 0}},
    {"poisson27s_80_rcm", {512000, 512000, 13481272, {0, 0, 0, 0, 0}, 0, 0, 27, 14028832, 0, 13652160, 0, 1345586, 1028362, 13100950, 37923, false, {{{5789226, 7226112, 0}, {3707453, 5031680, 0}, {2722314, 3618080, 0}, {1797410, 2492576, 0}}}}, {66.91, 38.66, 44.74, 39.84, 75.39, 0, 55.17}, {46.02, 28.35, 25.89, 29.76, 50.91, 0, 34.24}},
    {"poisson27s_80_metis", {512000, 512000, 13481272, {0, 0, 0, 0, 0}, 0, 0, 27, 14028832, 6034036, 13757184, 9065088, 1634464, 1174056, 12827406, 308611, false, {{{6858338, 10210944, 4929536}, {4578415, 6863168, 1455744}, {3421260, 5224448, 513408}, {2234400, 3532256, 0}}}}, {67.04, 43.04, 52.83, 42.4, 85.38, 0, 0}, {45.95, 32.58, 34.5, 31.65, 56.77, 0, 0}},
    {"convdiff_128", {2097152, 2097152, 14581760, {0, 0, 0, 0, 8}, 0, 0, 7, 16777152, 0, 14614528, 0, 1794048, 1302528, 14090240, 7, false}, {87.65, 47.94, 53.82, 58.56, 75.68, 39.04, 0}, {54.94, 32.26, 30.98, 40.19, 60.38, 22.98, 0}},
    {"rmat_20_16", {1048576, 1048576, 16086031, {501448, 145849, 73525, 44880, 30723}, 6238, 7022106, 0, 8913860, 8913860, 314867520, 314867520, 9028277, 537, 1625, 1965564, false}, {130, 0, 228.9, 125.4, 380.5, 0, 0}, {120.8, 0, 218, 113.7, 334.9, 0, 0}},
    {"longrows_1M", {1000000, 1000000, 17301862, {0, 124708, 124965, 125520, 124545}, 64, 12800000, 200000, 4001584, 0, 417568480, 409600000, 4365683, 2412, 7260, 200000, false}, {86.98, 0, 192.2, 72.93, 231.5, 0, 0}, {59.39, 0, 188.3, 49.47, 177.6, 0, 0}},
    {"poisson27_32", {32768, 32768, 830584, {0, 0, 0, 0, 0}, 0, 0, 27, 868384, 0, 848256, 0, 88360, 35344, 777568, 27, true, {{{406456, 433152, 0}, {218043, 224768, 0}, {194392, 216576, 0}, {108084, 112672, 0}}}}, {12.51, 9.12, 8.768, 7.2, 9.664, 7.584, 9.056}, {11.3, 8.704, 7.808, 6.176, 7.872, 7.072, 7.68}},
    {"elasticity_16", {12288, 12288, 819660, {0, 768, 0, 0, 0}, 0, 0, 81, 848544, 0, 927360, 0, 33856, 33856, 819660, 99, true, {{{260524, 370944, 0}, {91244, 105984, 0}, {88872, 105984, 0}, {46552, 52992, 0}}}}, {11.84, 15.1, 13.82, 8.224, 10.08, 15.3, 7.904}, {11.14, 14.78, 12.48, 7.744, 8.256, 14.94, 6.976}},
    {"tripod_elast_p2", {16179, 16179, 1092291, {0, 0, 0, 0, 0}, 129, 38870, 379, 1088380, 0, 1785920, 0, 88613, 83285, 1044235, 379, false, {{{416424, 843488, 0}, {122361, 229120, 0}, {193657, 322656, 0}, {85089, 143936, 0}}}}, {13.66, 49.09, 15.74, 9.6, 23.55, 0, 13.82}, {12.22, 47.87, 13.86, 8.704, 19.14, 0, 11.55}},
    {"xenon1", {48600, 48600, 1181120, {0, 30, 0, 0, 0}, 0, 0, 27, 1232860, 0, 1311424, 0, 117475, 101715, 1152170, 683, false, {{{468260, 690688, 0}, {139260, 146016, 0}, {220520, 313376, 0}, {79140, 115552, 0}}}}, {14.08, 9.472, 10.59, 9.152, 15.07, 0, 8.64}, {12.45, 8.928, 9.088, 8.16, 12.13, 0, 7.456}},
    {"mdual_lap", {258569, 258569, 1284833, {0, 0, 0, 0, 8012}, 0, 0, 5, 2004456, 1823000, 1292960, 1215200, 687104, 92087, 564380, 300417, false}, {17.79, 11.84, 14.75, 16.74, 23.36, 0, 0}, {15.74, 10.53, 12.67, 16.51, 19.68, 0, 0}},
    {"dragon_cotlap", {437645, 437645, 3056157, {0, 0, 0, 775, 2358}, 0, 0, 15, 3674368, 71856, 4374880, 198240, 750058, 368632, 2543853, 27681, false}, {26.94, 19.9, 24.77, 21.63, 36.51, 0, 0}, {20.19, 14.72, 18.27, 18.27, 25.76, 0, 0}},
    {"tripod_elast_r2", {108939, 108939, 4384079, {0, 0, 0, 0, 0}, 0, 0, 84, 4546396, 2587736, 5757568, 3292352, 351386, 326878, 4341791, 169793, false, {{{1645786, 2863392, 0}, {487377, 680224, 0}, {740657, 1038464, 0}, {327061, 459712, 0}}}}, {29.63, 23.42, 28.61, 18.75, 29.06, 0, 16.13}, {22.24, 18.21, 19.74, 15.78, 23.36, 0, 11.39}},};
// clang-format on

/// The number of a format's column; std::size(measured_formats) for another.
inline std::size_t measured_column(std::string_view format) {
  auto const at = std::ranges::find(measured_formats, format);
  return static_cast<std::size_t>(at - std::begin(measured_formats));
}

struct Measured {
  std::string_view name;
  Features features;
  MeasuredRow const* row;
  /// Of a format, values and vectors of one type; 0: not measured.
  double us(std::string_view format, Real values = Real::f64) const {
    std::size_t const column = measured_column(format);
    if (column == std::size(measured_formats)) return 0;
    return values == Real::f64 ? row->fp64[column] : row->fp32[column];
  }
};
inline std::vector<Measured> const measured = [] {
  std::vector<Measured> all;
  for (MeasuredRow const& row : measured_rows)
    all.push_back({row.name, row.counts.features(), &row});
  return all;
}();

}  // namespace tcsolve::test
