// SPDX-License-Identifier: Apache-2.0
/// features() against counts taken entry by entry.
#include <tcsolve/formats/format.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

/// Columns from the smallest to the largest of rows [begin, end); `most`: longer rows are left out.
bool spreads(Csr<double> const& a, Index begin, Index end, Offset most) {
  Index low = a.cols, high = -1;
  for (Index i = begin; i < std::min(end, a.rows); ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1] && a.offsets[i + 1] - a.offsets[i] <= most;
         ++k)
      low = std::min(low, a.columns[k]), high = std::max(high, a.columns[k]);
  return high - low >= 65536;
}

Features counted(Csr<double> const& a) {
  constexpr Offset long_row = 256, any = 1 << 30;
  Features f;
  f.rows = a.rows, f.cols = a.cols, f.entries = a.entries();
  std::map<std::pair<Index, Index>, Offset> tiles;
  for (Index i = 0; i < a.rows; ++i) {
    Offset const length = a.offsets[i + 1] - a.offsets[i];
    f.longest = std::max(f.longest, length);
    if (length > long_row) {
      ++f.long_rows;
      f.long_entries += length;
      continue;
    }
    if (length <= 4) ++f.short_rows[length];
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) ++tiles[{i / 8, a.columns[k] / 8}];
    if (length <= 4) continue;
    Offset const slots = (length + 3) / 4 * 4;
    f.medium_slots += slots;
    if (spreads(a, i / 8 * 8, i / 8 * 8 + 8, long_row)) f.medium_wide += slots;
  }
  f.tiles = static_cast<Offset>(tiles.size());
  for (auto const& [where, entries] : tiles)
    if (entries > 2) ++f.blocks, f.block_entries += entries;
  for (Index begin = 0; begin < a.rows; begin += 32) {
    Offset width = 0;
    for (Index i = begin; i < std::min(begin + 32, a.rows); ++i)
      width = std::max(width, a.offsets[i + 1] - a.offsets[i]);
    f.slices_stored += 32 * width;
    if (spreads(a, begin, begin + 32, any)) f.slices_wide += 32 * width;
  }
  return f;
}

/// What formats count for themselves is in their own tests.
void expect_same(Features got, Features const& wanted) {
  got.own = {};
  EXPECT_EQ(got, wanted) << "entries " << got.entries << " " << wanted.entries << ", long "
                         << got.long_entries << " " << wanted.long_entries << ", longest "
                         << got.longest << " " << wanted.longest << ", medium " << got.medium_slots
                         << " " << wanted.medium_slots << ", wide " << got.medium_wide << " "
                         << wanted.medium_wide << ", stored " << got.slices_stored << " "
                         << wanted.slices_stored << ", wide " << got.slices_wide << " "
                         << wanted.slices_wide << ", tiles " << got.tiles << " " << wanted.tiles
                         << ", blocks " << got.blocks << " " << wanted.blocks << ", in them "
                         << got.block_entries << " " << wanted.block_entries;
}

template <class P>
class FormatsFeatures : public BackendTest<P> {};
TYPED_TEST_SUITE(FormatsFeatures, DoubleOnBoth, Label);

TYPED_TEST(FormatsFeatures, PictureOfTheHeader) {
  // Two rows of the picture, at the top of tiles of 8 x 8: columns 0 1 | 1 9 13.
  Csr<double> const a{2, 16, {0, 2, 5}, {0, 1, 1, 9, 13}, {1, 1, 1, 1, 1}};
  CsrStorage<double> const there(this->ctx(), a.view());
  Features const f = features(this->ctx(), there.view());
  EXPECT_EQ(f.tiles, 2);
  EXPECT_EQ(f.blocks, 1);  // 0 1 | 1; the other holds two entries
  EXPECT_EQ(f.block_entries, 3);
  EXPECT_EQ(f.slices_stored, 96);
  EXPECT_EQ(f.short_rows[2], 1);
  EXPECT_EQ(f.short_rows[3], 1);
  EXPECT_EQ(f.longest, 3);
}

TYPED_TEST(FormatsFeatures, CountsOfAdversarialMatrices) {
  for (auto const& [name, a] : adversarial()) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(this->ctx(), a.view());
    expect_same(features(this->ctx(), there.view()), counted(a));
  }
}

TYPED_TEST(FormatsFeatures, CountsOfWideAndLongRows) {
  for (auto const& a : {mixed_rows(60, 70000, 3), random_matrix(1000, 90000, 12, 4),
                        random_matrix(333, 65600, 300, 5), random_matrix(40, 400, 390, 6),
                        random_matrix(500, 300000, 60, 7)}) {
    CsrStorage<double> const there(this->ctx(), a.view());
    expect_same(features(this->ctx(), there.view()), counted(a));
  }
}

}  // namespace
}  // namespace tcsolve::test
