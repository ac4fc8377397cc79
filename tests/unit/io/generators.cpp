// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/io/generate/renumber.hpp>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "tests/support/dense.hpp"

namespace tcsolve {
namespace {

/// a_ij, or 0 where nothing is stored.
double at(Csr<double> const& a, Index i, Index j) {
  auto const columns = a.row_columns(i);
  auto const it = std::ranges::lower_bound(columns, j);
  return it != columns.end() && *it == j
             ? a.row_values(i)[static_cast<std::size_t>(it - columns.begin())]
             : 0;
}

bool symmetric(Csr<double> const& a) {  // bit for bit
  for (Index i = 0; i < a.rows; ++i)
    for (Index const j : a.row_columns(i))
      if (at(a, i, j) != at(a, j, i)) return false;
  return true;
}

Eigen::MatrixXd dense(Csr<double> const& a) {
  Eigen::MatrixXd d = Eigen::MatrixXd::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Index const j : a.row_columns(i)) d(i, j) = at(a, i, j);
  return d;
}

/// One small instance of every kind.
std::vector<std::pair<std::string, GeneratorParams>> small() {
  return {{"poisson7", Poisson7Params{.n = 6}},
          {"poisson27", Poisson27Params{.n = 6}},
          {"anisotropic", AnisotropicParams{.n = 6}},
          {"convdiff", ConvdiffParams{.n = 6}},
          {"elasticity", ElasticityParams{.n = 5}},
          {"rmat", RmatParams{.scale = 8, .edge_factor = 5}},
          {"longrows", LongrowsParams{.n = 300, .long_rows = 3, .long_length = 200}},
          {"banded", BandedParams{.n = 200, .half_bandwidth = 9}}};
}
bool definite(std::string const& kind) {
  return kind != "convdiff" && kind != "rmat" && kind != "longrows";
}
GeneratorParams with(GeneratorParams params, Coefficient coefficient,
                     Renumber renumber = Renumber::none, std::uint64_t seed = 1) {
  std::visit(
      [&](auto& p) {
        p.coefficient = coefficient;
        p.renumber = renumber;
        p.seed = seed;
      },
      params);
  return params;
}
constexpr auto constant = Coefficient::constant, drawn = Coefficient::random;

TEST(Generators, AreCanonicalAndHaveTheSizeStated) {
  for (auto const& [kind, params] : small())
    for (auto const coefficient : {constant, drawn})
      for (auto const renumber : {Renumber::none, Renumber::random}) {
        SCOPED_TRACE(kind);
        auto const p = with(params, coefficient, renumber);
        auto const a = generate(p);
        auto const size = size_of(p);
        EXPECT_NO_THROW(validate(a.view()));
        EXPECT_EQ(a.rows, size.rows);
        EXPECT_EQ(a.cols, size.cols);
        EXPECT_LE(a.entries(), size.entries);
        EXPECT_TRUE(!size.exact || a.entries() == size.entries);
        EXPECT_GE(size.build_bytes, size.csr_bytes());
      }
}

TEST(Generators, SymmetricOnesAreExactlySymmetricAndPositiveDefinite) {
  for (auto const& [kind, params] : small())
    for (auto const coefficient : {constant, drawn}) {
      SCOPED_TRACE(kind);
      auto const a = generate(with(params, coefficient));
      EXPECT_EQ(symmetric(a), definite(kind));
      if (definite(kind)) { EXPECT_GT(test::symmetric_eigenvalues(dense(a)).minCoeff(), 0); }
    }
}

TEST(Generators, TheSeedDrawsValuesNotThePattern) {
  for (auto const& [kind, params] : small()) {
    SCOPED_TRACE(kind);
    auto const a = generate(with(params, drawn, Renumber::none, 1));
    auto const b = generate(with(params, drawn, Renumber::none, 2));
    EXPECT_EQ(a, generate(with(params, drawn, Renumber::none, 1)));
    EXPECT_EQ(a.columns, b.columns);
    EXPECT_NE(a.values, b.values);
    auto const c = generate(with(params, constant, Renumber::none, 1));
    EXPECT_EQ(a.columns, c.columns);
    EXPECT_EQ(c, generate(with(params, constant, Renumber::none, 2)));
  }
}

TEST(Generators, DoNotDependOnTheNumberOfThreads) {
  GeneratorParams const larger[] = {Poisson27Params{.n = 25}, ElasticityParams{.n = 16},
                                    RmatParams{.scale = 14, .edge_factor = 16},
                                    BandedParams{.n = 20'000, .half_bandwidth = 3}};
  for (auto const& params : larger) {
    auto const p = with(params, drawn, Renumber::random);
    auto const serial = generate(p, 1);
    for (int const threads : {2, 7}) EXPECT_EQ(generate(p, threads), serial);
  }
}

/// Bit by bit, wherever they begin and end.
TEST(Generators, SomeRowsAreThoseOfAll) {
  for (auto const& [kind, params] : small())
    for (auto const coefficient : {constant, drawn}) {
      SCOPED_TRACE(kind);
      auto const p = with(params, coefficient);
      auto const a = generate(p);
      EXPECT_EQ(generate_rows(p, {0, a.rows}), a);
      EXPECT_EQ(has_rows_apart(p), kind != "rmat");
      EXPECT_FALSE(has_rows_apart(with(p, coefficient, Renumber::random)));
      if (!has_rows_apart(p)) continue;
      for (RowRange const some : {RowRange{0, 0}, RowRange{0, 1}, RowRange{17, 90},
                                  RowRange{a.rows - 40, a.rows}, RowRange{a.rows, a.rows}}) {
        auto const b = generate_rows(p, some, 2);
        ASSERT_EQ(b.rows, some.size());
        EXPECT_EQ(b.cols, a.cols);
        for (Index i = 0; i < b.rows; ++i) {
          EXPECT_TRUE(std::ranges::equal(b.row_columns(i), a.row_columns(some.first + i)));
          EXPECT_TRUE(std::ranges::equal(b.row_values(i), a.row_values(some.first + i)));
        }
      }
    }
}

TEST(Generators, RowsThatCannotBeMadeAloneAreRefused) {
  RowRange const some{10, 20};
  EXPECT_THROW(generate_rows(RmatParams{.scale = 6}, some), Unsupported);
  EXPECT_THROW(generate_rows(Poisson7Params{.n = 6, .renumber = Renumber::random}, some),
               Unsupported);
  for (RowRange const none : {RowRange{-1, 20}, RowRange{20, 10}, RowRange{210, 217}})
    EXPECT_THROW(generate_rows(Poisson7Params{.n = 6}, none), ShapeError);
  EXPECT_THROW(generate_rows(Poisson7Params{.n = 1291}, some), MatrixError);
  // A millionth of a matrix that no memory has.
  BandedParams const large{.n = 2147483647, .half_bandwidth = 100'000};
  EXPECT_THROW(generate(large), MemoryError);
  EXPECT_EQ(generate_rows(large, {500'000, 500'010}).entries(), 10 * 200'001);
}

TEST(Generators, RenumberingIsASymmetricPermutation) {
  for (auto const& [kind, params] : small()) {
    SCOPED_TRACE(kind);
    auto const a = generate(with(params, drawn));
    auto const b = generate(with(params, drawn, Renumber::random, 1));
    auto const P = random_permutation(a.rows, 1);
    auto const p = P.new_numbers();
    EXPECT_NE(a, b);
    ASSERT_EQ(a.entries(), b.entries());
    for (Index i = 0; i < a.rows; ++i)
      for (Index const j : a.row_columns(i)) ASSERT_EQ(at(b, p[i], p[j]), at(a, i, j));
  }
}

TEST(Generators, PermutationsAreDrawnFromTheSeed) {
  for (Index const n : {0, 1, 2, 1000}) EXPECT_EQ(random_permutation(n, 3).size(), n);
  EXPECT_EQ(random_permutation(1000, 3), random_permutation(1000, 3));
  EXPECT_NE(random_permutation(1000, 3), random_permutation(1000, 4));
  EXPECT_FALSE(random_permutation(1000, 3).is_identity());
}

TEST(Generators, PoissonEntries) {
  auto const a = generate(Poisson7Params{.n = 3});
  EXPECT_EQ(at(a, 13, 13), 6);  // the centre of the cube
  for (Index const j : {4, 10, 12, 14, 16, 22}) EXPECT_EQ(at(a, 13, j), -1);
  EXPECT_EQ(a.row_columns(13).size(), 7u);
  auto const b = generate(Poisson27Params{.n = 3});
  for (Index j = 0; j < 27; ++j) EXPECT_EQ(at(b, 13, j), j == 13 ? 26 : -1);
  EXPECT_EQ(b.row_columns(0).size(), 8u);
}

TEST(Generators, AnisotropicEntries) {
  auto const a =
      generate(AnisotropicParams{.n = 3, .epsilon_x = 1, .epsilon_y = 10, .epsilon_z = 100});
  EXPECT_EQ(at(a, 13, 13), 222);
  EXPECT_EQ(at(a, 13, 12), -1);
  EXPECT_EQ(at(a, 13, 16), -10);
  EXPECT_EQ(at(a, 13, 4), -100);
  EXPECT_EQ(generate(AnisotropicParams{.n = 5, .epsilon_z = 1}), generate(Poisson7Params{.n = 5}));
}

TEST(Generators, ConvdiffEntries) {
  // At the middle of the cube v = (0, 0, 1.25): the neighbour below carries the flow.
  auto const a = generate(ConvdiffParams{.n = 3});
  EXPECT_EQ(at(a, 13, 13), 7.25);
  EXPECT_EQ(at(a, 13, 4), -2.25);
  EXPECT_EQ(at(a, 13, 22), -1);
  EXPECT_EQ(at(a, 13, 12), -1);
  // At (0, 1, 0): v = (0, -4/3, 1 + 1/12).
  EXPECT_EQ(at(a, 3, 0), -1);
  EXPECT_DOUBLE_EQ(at(a, 3, 6), -(1 + 4.0 / 3));
  EXPECT_EQ(generate(ConvdiffParams{.n = 5, .velocity = 0}), generate(Poisson7Params{.n = 5}));
}

TEST(Generators, RandomDiffusionIsStrictlyDominantOnlyAtTheBorder) {
  for (GeneratorParams const& p :
       {GeneratorParams{Poisson7Params{.n = 5, .coefficient = drawn}},
        GeneratorParams{Poisson27Params{.n = 5, .coefficient = drawn}}}) {
    auto const a = generate(p);
    for (Index i = 0; i < a.rows; ++i) {
      auto const values = a.row_values(i);
      double const sum = std::accumulate(values.begin(), values.end(), 0.0);
      Index const x = i % 5, y = i / 5 % 5, z = i / 25;
      bool const border = std::min({x, y, z}) == 0 || std::max({x, y, z}) == 4;
      EXPECT_EQ(sum > 0.4, border) << i;
      EXPECT_GT(sum, -1e-13);
    }
  }
}

TEST(Generators, ElasticityClampsAFaceAndMovesRigidlyElsewhere) {
  for (auto const coefficient : {constant, drawn}) {
    Index const n = 5;
    auto const a = generate(ElasticityParams{.n = n, .coefficient = coefficient});
    EXPECT_EQ(a.row_columns(0).size(), 1u);
    EXPECT_EQ(at(a, 0, 0), 1);
    // Rows without a clamped neighbour (x >= 2) do no work on a translation and on a rotation.
    Eigen::MatrixXd const d = dense(a);
    Eigen::VectorXd shift(a.rows), turn(a.rows);
    for (Index node = 0; node < n * n * n; ++node) {
      Index const x = node % n, y = node / n % n;
      shift.segment<3>(3 * node) << 1, 2, 3;
      turn.segment<3>(3 * node) << -y, x, 0;
    }
    for (Index node = 0; node < n * n * n; ++node)
      if (node % n >= 2)
        for (Index i = 3 * node; i < 3 * node + 3; ++i) {
          EXPECT_NEAR(d.row(i).dot(shift), 0, 1e-13);
          EXPECT_NEAR(d.row(i).dot(turn), 0, 1e-13);
        }
  }
}

TEST(Generators, RmatHasAPowerLawAndValuesInRange) {
  auto const a = generate(RmatParams{.scale = 12, .edge_factor = 8});
  Index longest = 0, empty = 0;
  for (Index i = 0; i < a.rows; ++i) {
    longest = std::max(longest, static_cast<Index>(a.row_columns(i).size()));
    empty += a.row_columns(i).empty();
  }
  EXPECT_GT(longest, 15 * 8);
  EXPECT_GT(empty, a.rows / 20);
  EXPECT_TRUE(std::ranges::all_of(a.values, [](double v) { return 0 < v && v <= 1; }));
}

TEST(Generators, LongrowsHasAsManyLongRowsAsAskedFor) {
  auto const a = generate(LongrowsParams{.n = 10'000, .long_rows = 7, .long_length = 900});
  Index longs = 0;
  for (Index i = 0; i < a.rows; ++i) {
    auto const length = a.row_columns(i).size();
    EXPECT_TRUE((1 <= length && length <= 8) || length == 900);
    longs += length == 900;
  }
  EXPECT_EQ(longs, 7);
  EXPECT_NO_THROW(generate(LongrowsParams{.n = 3, .long_rows = 0, .long_length = 5}));
  EXPECT_NO_THROW(generate(LongrowsParams{.n = 3, .long_rows = 3, .long_length = 5}));
}

TEST(Generators, BandedEntries) {
  auto const a = generate(BandedParams{.n = 50, .half_bandwidth = 3});
  EXPECT_EQ(at(a, 20, 20), 7);
  EXPECT_EQ(a.row_columns(20).front(), 17);
  EXPECT_EQ(a.row_columns(20).back(), 23);
  EXPECT_EQ(generate(BandedParams{.n = 4, .half_bandwidth = 100}).entries(), 16);
  EXPECT_EQ(generate(BandedParams{.n = 4, .half_bandwidth = 0}).entries(), 4);
}

/// One figure for each fixed matrix, so that it stays the one that published results refer to.
TEST(Generators, ConstantMatricesStayWhatTheyAre) {
  auto const figure = [](Csr<double> const& a) {
    double sum = 0;
    for (Index i = 0; i < a.rows; ++i)
      for (Index const j : a.row_columns(i)) sum += at(a, i, j) * ((7 * i + 3 * j) % 11);
    return sum;
  };
  std::pair<Csr<double>, double> const cases[] = {
      {generate(Poisson7Params{.n = 9}), 2462},
      {generate(Poisson27Params{.n = 9}), 20406},
      {generate(Poisson27Params{.n = 9, .renumber = Renumber::random}), 20277},
      {generate(ConvdiffParams{.n = 9}), 3725.4722222222294},
      {generate(ElasticityParams{.n = 6}), 806.505341880326},
      {generate(RmatParams{.scale = 9, .edge_factor = 12}), 10302.044549111177},
      {generate(LongrowsParams{.n = 10'000, .long_rows = 7, .long_length = 900}),
       129257.21298630199},
      {generate(BandedParams{.n = 300, .half_bandwidth = 5}), 9145.6765749431033},
  };
  for (auto const& [a, expected] : cases)
    EXPECT_NEAR(figure(a), expected, 1e-9 * std::fabs(expected));
}

TEST(Generators, TheSmallestSizes) {
  EXPECT_EQ(generate(Poisson7Params{.n = 1}).values, std::vector<double>{6});
  EXPECT_EQ(generate(Poisson27Params{.n = 1}).values, std::vector<double>{26});
  EXPECT_EQ(generate(ElasticityParams{.n = 1}).values, (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(generate(ElasticityParams{.n = 2}).entries(),
            size_of(ElasticityParams{.n = 2}).entries);
  EXPECT_EQ(generate(RmatParams{.scale = 0, .edge_factor = 1}).entries(), 1);
  EXPECT_EQ(generate(BandedParams{.n = 1}).values, std::vector<double>{33});
}

TEST(Generators, SizesThatCannotBe) {
  EXPECT_THROW(size_of(Poisson7Params{.n = 1291}), MatrixError) << "out of its range";
  EXPECT_NO_THROW(size_of(Poisson7Params{.n = 1290}));
  EXPECT_THROW(size_of(ElasticityParams{.n = 895}), MatrixError);
  EXPECT_NO_THROW(size_of(ElasticityParams{.n = 894}));
  EXPECT_THROW(generate(Poisson27Params{.n = 0}), MatrixError);
  EXPECT_THROW(generate(AnisotropicParams{.n = 3, .epsilon_y = 0}), MatrixError);
  EXPECT_THROW(generate(AnisotropicParams{.n = 3, .epsilon_y = std::nan("")}), MatrixError);
  EXPECT_THROW(generate(LongrowsParams{.n = 5, .long_rows = 6}), MatrixError);
  EXPECT_THROW(generate(BandedParams{.n = 2147483647, .half_bandwidth = 2147483647}), SizeError);
  EXPECT_THROW(generate(BandedParams{.n = 2147483647, .half_bandwidth = 100'000}), MemoryError);
}

TEST(Generators, ParametersOutOfRangeAreNamed) {
  try {
    size_of(RmatParams{.scale = 31});
    FAIL();
  } catch (MatrixError const& e) {
    EXPECT_STREQ(e.what(), "rmat: 'scale' = 31 is outside [0, 30]");
  }
}

TEST(Generators, SchemasNameEveryMember) {
  for (GeneratorEntry const& entry : generators())
    std::visit(
        [&](auto p) {
          std::vector<std::string> keys;
          for_each_field(p, [&](auto const& field, auto&) { keys.emplace_back(field.key); });
          ASSERT_GE(keys.size(), 4u) << entry.name;
          EXPECT_EQ(std::vector(keys.end() - 3, keys.end()),
                    (std::vector<std::string>{"coefficient", "renumber", "seed"}));
        },
        entry.defaults);
}

TEST(Generators, AreListedByName) {
  auto const expected = small();
  ASSERT_EQ(generators().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::ranges::count(generators(), expected[i].first, &GeneratorEntry::name), 1);
    EXPECT_FALSE(generators()[i].summary.empty());
    EXPECT_EQ(generators()[i].defaults.index(), i);
  }
}

}  // namespace
}  // namespace tcsolve
