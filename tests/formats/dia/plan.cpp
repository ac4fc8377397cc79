// SPDX-License-Identifier: Apache-2.0
/// What the descriptor of dia says, and where the shipped rates take it.
#include <tcsolve/formats/choose/ordering.hpp>
#include <tcsolve/formats/dia/dia.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/io/generate/renumber.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "tests/data/measured.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

Features const& features_of(std::string_view name) {
  return std::ranges::find(measured, name, &Measured::name)->features;
}

TEST(DiaFormat, IsTakenForGrids) {
  Features const large = features_of("poisson27_96"), small = features_of("poisson27_32");
  CostTable const table = CostTable::h200();
  EXPECT_EQ(make_plan(large, {.applies = 1000}, table).taken().name, "dia");
  EXPECT_EQ(make_plan(small, {.applies = 1e4}, table).taken().name, "dia");
  double const csr = formats().source().layout(large, Real::f64).stored;
  EXPECT_EQ(make_plan(large, {.applies = 1e6, .memory = 2 * csr}, table).taken().name, "dia");
}

/// Diagonals, and whether A = A^T, lie between what is expected and what is feared.
TEST(DiaFormat, SurveysBoundItsCounts) {
  Context ctx(Backend::host);
  std::vector<Named> matrices = adversarial();
  matrices.push_back({"grid", generate(Poisson7Params{.n = 9})});
  matrices.push_back({"convection", generate(ConvdiffParams{.n = 9})});
  matrices.push_back({"random", random_matrix(900, 900, 30, 3)});
  for (auto const& [name, a] : matrices) {
    SCOPED_TRACE(name);
    DiaCounts const all = features(ctx, a.view()).own.get<DiaCounts>();
    for (std::string const looked : {"", "diagonals", "symmetry", "tiles"}) {
      Survey seen = survey(ctx, a.view());
      for (Fact const* fact : formats().facts())
        if (fact->name == looked) seen.look(ctx, a.view(), *fact);
      DiaCounts const least = seen.least().own.get<DiaCounts>();
      DiaCounts const most = seen.most().own.get<DiaCounts>();
      EXPECT_LE(least.diagonals, all.diagonals);
      EXPECT_GE(most.diagonals, all.diagonals);
      EXPECT_GE(int(least.symmetric), int(all.symmetric));
      EXPECT_LE(int(most.symmetric), int(all.symmetric));
      if (looked == "symmetry") {
        EXPECT_TRUE(seen.knows("diagonals") && seen.knows("symmetry"));
        EXPECT_EQ(least, all);
      }
    }
  }
}

template <class P>
class DiaFeatures : public BackendTest<P> {};
TYPED_TEST_SUITE(DiaFeatures, DoubleOnBoth, Label);

/// Against a set of offsets and a search for each entry's mirror image.
DiaCounts counted(Csr<double> const& a, Offset longest) {
  std::map<std::pair<Index, Index>, double> entries;
  std::set<Index> offsets;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      entries[{i, a.columns[k]}] = a.values[k];
      offsets.insert(a.columns[k] - i);
    }
  auto const few = [&](Offset diagonals) {
    double const positions = double(diagonals) * double((a.rows + 32) / 32 * 32);
    return positions <= 2 * double(a.entries()) + (1 << 20);
  };
  DiaCounts counts;
  counts.diagonals = few(longest) ? static_cast<Offset>(offsets.size()) : longest;
  counts.symmetric =
      a.rows == a.cols && few(counts.diagonals) && std::ranges::all_of(entries, [&](auto const& e) {
        auto const other = entries.find({e.first.second, e.first.first});
        return other != entries.end() && other->second == e.second;
      });
  return counts;
}

TYPED_TEST(DiaFeatures, CountsDiagonalsAndSeesSymmetry) {
  std::vector<Named> matrices = adversarial();
  matrices.push_back({"grid", generate(Poisson7Params{.n = 9})});
  matrices.push_back({"convection", generate(ConvdiffParams{.n = 9})});
  matrices.push_back({"wide rows", random_matrix(1000, 90000, 12, 4)});
  matrices.push_back({"mixed rows", mixed_rows(60, 70000, 3)});
  for (auto const& [name, a] : matrices) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(this->ctx(), a.view());
    Features const f = features(this->ctx(), there.view());
    DiaCounts const got = f.own.get<DiaCounts>(), wanted = counted(a, f.longest);
    EXPECT_EQ(got.diagonals, wanted.diagonals);
    EXPECT_EQ(got.symmetric, wanted.symmetric);
  }
}

/// A path whose vertices came in no order: thousands of diagonals, and three once it is a path
/// again.
TYPED_TEST(DiaFeatures, TakesTheOrderInWhichItHoldsTheMatrix) {
  std::set<std::pair<Index, Index>> path;
  for (Index i = 0; i < 3000; ++i)
    for (Index j = std::max(i - 1, 0); j < std::min(i + 2, 3000); ++j) path.insert({i, j});
  Csr<double> const lost = permuted(with_entries(3000, path).view(), random_permutation(3000, 7));
  Format const& dia = formats().at("dia");
  OrderRequest const request{.plan = {.applies = 1, .persistent = false}, .format = &dia};
  OrderedMatrix const ready = ordered(this->ctx(), lost, request, CostTable::h200());
  EXPECT_EQ(ready.order.taken, Reorder::rcm);
  EXPECT_TRUE(std::isinf(ready.plan->candidates.front().total));
  EXPECT_EQ(ready.survey->least().own.get<DiaCounts>().diagonals, 3);
  EXPECT_NO_THROW(make_operator<double>(this->ctx(), ready.matrix->view(), dia));
}

}  // namespace
}  // namespace tcsolve::test
