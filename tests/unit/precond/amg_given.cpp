// SPDX-License-Identifier: Apache-2.0
/// What the caller knows of the unknowns: vectors that A nearly maps to zero, nodes, coordinates.
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/amg_fixture.hpp"
#include "tests/support/files.hpp"
#include "tests/support/heard_warnings.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;

class AmgGiven : public AmgOnEachBackend {
 protected:
  std::unique_ptr<Preconditioner> knowing(Csr<double> const& a, NodeFacts nodes,
                                          AmgParams params = {}) {
    params.values = AmgValues::f64;
    System s = system(a);
    s.nodes = std::make_shared<NodeFacts const>(std::move(nodes));
    return AmgFactory(params).build(ctx(), s);
  }
  /// The same cycle, bit for bit.
  void expect_alike(Preconditioner const& M, Preconditioner const& N, Index n) {
    std::vector<double> const r = random_values(n, 5);
    EXPECT_EQ(applied(*M.view(), r), applied(*N.view(), r));
    EXPECT_EQ(rows_of(M), rows_of(N));
  }
};
TCSOLVE_ON_EACH_BACKEND(AmgGiven);

TEST_P(AmgGiven, NodesAreTakenWhereKeysSayNothing) {
  Csr<double> const a = generate(ElasticityParams{.n = 7});
  auto const points = std::make_shared<std::vector<double>>(grid_points(7));
  auto const by_keys = made(a, {.near_nullspace = {.block = 3, .points = points}});
  expect_alike(*knowing(a, {.block = 3, .coordinates = *points}), *by_keys, a.rows);
  EXPECT_EQ(hierarchy_of(*by_keys).facts().near_nullspace.size(), 6u);
  // Keys come first.
  NodeFacts const twice{.block = 3, .coordinates = std::vector<double>(3 * 343, 1.0)};
  expect_alike(*knowing(a, twice, {.near_nullspace = {.block = 3, .points = points}}), *by_keys,
               a.rows);
}

/// As the columns of a file, from another origin and in another unit: the same modes.
TEST_P(AmgGiven, RigidBodyModesDoNotDependOnOriginAndUnit) {
  Csr<double> const a = generate(ElasticityParams{.n = 7});
  auto const modes = [&](NearNullspaceParams params) {
    params.block = 3;
    return to_host(ctx(), near_nullspace(ctx(), system(a), params).vectors);
  };
  std::vector<double> const points = grid_points(7);  // whole numbers
  // Columns u v w of modes: from the middle, 3 of 7, and in units of 2.
  std::vector<double> wanted;
  for (std::size_t node = 0; node < 343; ++node) {
    double const x = (points[3 * node] - 3) / 2, y = (points[3 * node + 1] - 3) / 2,
                 z = (points[3 * node + 2] - 3) / 2;
    for (double const e : {1., 0., 0., 0., z, -y, 0., 1., 0., -z, 0., x, 0., 0., 1., y, -x, 0.})
      wanted.push_back(e);
  }
  for (double const unit : {1.0, 0x1p-1000, 0x1p-1030, 0x1p1000})
    for (double const origin : {0.0, -7.0, 1024.0}) {
      auto const moved = std::make_shared<std::vector<double>>(points);
      for (double& p : *moved) p = (p + origin) * unit;
      EXPECT_EQ(modes({.points = moved}), wanted) << unit << ", " << origin;
    }
  TemporaryFolder const folder;
  std::ofstream triples(folder / "3"), numbers(folder / "1"), pairs(folder / "2");
  for (std::size_t k = 0; k < points.size(); ++k) {
    triples << points[k] << (k % 3 == 2 ? '\n' : ' ');
    numbers << points[k] << '\n';
  }
  for (int i = 0; i < 343; ++i) pairs << i << " 1\n";
  triples.close(), numbers.close(), pairs.close();
  EXPECT_EQ(modes({.coordinates = (folder / "3").string()}), wanted);
  EXPECT_EQ(modes({.coordinates = (folder / "1").string()}), wanted);
  EXPECT_THAT(message_of<SetupError>([&] { modes({.coordinates = (folder / "2").string()}); }),
              HasSubstr("686 coordinates, and 343 nodes of 3 unknowns need 1029"));
  auto const far = std::make_shared<std::vector<double>>(points);
  far->front() = 1e308, far->back() = -1e308;
  (*far)[3] = 1e308;
  EXPECT_THAT(message_of<SetupError>([&] { modes({.points = far}); }),
              HasSubstr("beyond the range"));
  (*far)[7] = HUGE_VAL;
  EXPECT_THAT(message_of<SetupError>([&] { modes({.points = far}); }),
              HasSubstr("node 3 are not finite"));
}

TEST_P(AmgGiven, VectorsTakeThePlaceOfTranslations) {
  Csr<double> const a = generate(ElasticityParams{.n = 7});
  NodeFacts nodes{.block = 3};
  NearNullspace const B =
      near_nullspace(ctx(), system(a),
                     {.block = 3, .points = std::make_shared<std::vector<double>>(grid_points(7))});
  std::vector<double> const rows = to_host(ctx(), B.vectors);
  for (Index c = 0; c < B.count; ++c) {
    auto& z = nodes.near_nullspace.emplace_back();
    for (Index i = 0; i < a.rows; ++i) z.push_back(rows[std::size_t(i) * B.count + c]);
  }
  auto const by_keys =
      made(a, {.near_nullspace = {
                   .block = 3, .points = std::make_shared<std::vector<double>>(grid_points(7))}});
  expect_alike(*knowing(a, nodes), *by_keys, a.rows);
  // Of one unknown a node, where classical coarsening would be taken.
  Csr<double> const scalar = generate(Poisson7Params{.n = 12, .coefficient = Coefficient::random});
  NodeFacts const ones{.block = 1, .near_nullspace = {std::vector<double>(scalar.rows, 1.0)}};
  expect_alike(*knowing(scalar, ones), *made(scalar, {.coarsening = AmgCoarsening::aggregation}),
               scalar.rows);
  EXPECT_THAT(message_of<SetupError>(
                  [&] { knowing(scalar, ones, {.coarsening = AmgCoarsening::classical}); }),
              HasSubstr("classical coarsening represents constants"));
}

TEST_P(AmgGiven, FilesHoldThemToo) {
  Csr<double> const a = generate(Poisson7Params{.n = 10, .coefficient = Coefficient::random});
  TemporaryFolder const folder;
  std::vector<double> const z = random_values(a.rows, 9);
  std::string const path = (folder.path() / "z.txt").string();
  {
    std::ofstream out(path);
    out.precision(17);
    for (double const v : z) out << v << "\n";
  }
  NodeFacts const nodes{.near_nullspace = {z}};
  auto const kept = made(a, {.near_nullspace = {.files = {path}, .keep = true}});
  expect_alike(*kept, *knowing(a, nodes, {.near_nullspace = {.keep = true}}), a.rows);
  EXPECT_GT(hierarchy_of(*kept).facts().near_nullspace[0], 0.5);
}

TEST_P(AmgGiven, VectorsThatAreNoneAreLeftOutAndNamed) {
  HeardWarnings heard;
  ctx().attach(&heard);
  Csr<double> const a = generate(Poisson7Params{.n = 10, .coefficient = Coefficient::random});
  std::vector<double> const ones(a.rows, 1.0), wrong = random_values(a.rows, 9);
  auto const two = knowing(a, {.block = 1, .near_nullspace = {wrong, ones}});
  expect_alike(*two, *knowing(a, {.block = 1, .near_nullspace = {ones}}), a.rows);
  ASSERT_EQ(heard.texts.size(), 1u);
  EXPECT_THAT(heard.texts[0], testing::AllOf(HasSubstr("vector 1"), HasSubstr("left out")));
  // Without any that is one, as without them.
  expect_alike(*knowing(a, {.block = 1, .near_nullspace = {wrong}}),
               *made(a, {.near_nullspace = {.block = 1}}), a.rows);
  ctx().detach(&heard);
}

/// Coordinates of another matrix: the rotation, whose sign changes between all neighbours here.
TEST_P(AmgGiven, RigidBodyModesThatAreNoneAreLeftOutAndNamed) {
  HeardWarnings heard;
  constexpr Index n = 8;
  Csr<double> const a = generate(Poisson7Params{.n = n});
  auto const points = std::make_shared<std::vector<double>>();
  for (Index node = 0; node < a.rows / 2; ++node)
    for (int c = 0; c < 2; ++c)
      points->push_back((node / (n / 2) % n + node / (n * n / 2)) % 2 == 0 ? -1 : 1);
  ctx().attach(&heard);
  auto const two = made(a, {.near_nullspace = {.block = 2, .points = points}});
  ASSERT_EQ(heard.texts.size(), 1u);
  EXPECT_THAT(heard.texts[0],
              testing::AllOf(HasSubstr("rigid body mode 3"), HasSubstr("left out"),
                             HasSubstr("are the coordinates those of this matrix")));
  EXPECT_EQ(hierarchy_of(*two).facts().near_nullspace.size(), 2u);
  expect_alike(*two, *made(a, {.near_nullspace = {.block = 2}}), a.rows);
  auto const three = made(a, {.near_nullspace = {.block = 2, .keep = true, .points = points}});
  ctx().detach(&heard);
  ASSERT_EQ(heard.texts.size(), 2u);
  EXPECT_THAT(heard.texts[1], HasSubstr("it is kept"));
  std::vector<double> const ratios = hierarchy_of(*three).facts().near_nullspace;
  ASSERT_EQ(ratios.size(), 3u);
  EXPECT_GT(ratios[2], 0.99);
}

/// Dirichlet rows that were kept map nothing to zero, and are none of A's business elsewhere.
TEST_P(AmgGiven, RowsWithoutCouplingsSayNothingOfVectors) {
  Csr<double> const a = generate(Poisson7Params{.n = 10});
  Csr<double> more = a;
  more.rows = more.cols = 3 * a.rows;
  for (Index i = a.rows; i < more.rows; ++i) {
    more.columns.push_back(i), more.values.push_back(7);
    more.offsets.push_back(more.entries());
  }
  auto const ratio = [&](Csr<double> const& m) {
    return near_nullspace(ctx(), system(m), {.block = 1}).ratios.at(0);
  };
  EXPECT_GT(ratio(a), 0);
  EXPECT_NEAR(ratio(more), ratio(a), 1e-14);
}

TEST_P(AmgGiven, WhatCannotBeIsRefusedByName) {
  Csr<double> const a = generate(Poisson7Params{.n = 8});
  std::vector<double> const ones(a.rows, 1.0);
  auto const refusal = [&](NodeFacts nodes) {
    return message_of<SetupError>([&] { knowing(a, std::move(nodes)); });
  };
  EXPECT_THAT(refusal({.near_nullspace = {ones, {1, 2}}}),
              HasSubstr("vector 2 of 2 has 2 entries, A 512"));
  auto wrong = ones;
  wrong[6] = std::nan("");
  EXPECT_THAT(refusal({.near_nullspace = {wrong}}), HasSubstr("entry 7 is not finite"));
  EXPECT_THAT(refusal({.near_nullspace = {std::vector<double>(a.rows, 0.0)}}),
              HasSubstr("vector 1 of 1 is zero"));
  EXPECT_THAT(refusal({.near_nullspace = std::vector(17, ones)}), HasSubstr("16 at the most"));
  EXPECT_THAT(refusal({.block = 3}), HasSubstr("does not divide the 512 rows"));
  EXPECT_THAT(refusal({.block = 2, .coordinates = {1, 2}}), HasSubstr("256 nodes of 2 unknowns"));
}

}  // namespace
}  // namespace tcsolve::test
