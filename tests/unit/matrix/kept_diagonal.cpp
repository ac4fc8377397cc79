// SPDX-License-Identifier: Apache-2.0
/// What is kept in FP32 beside rounded values: the diagonal, and row sums.
#include <tcsolve/core/precision.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/scaled.hpp>

#include <algorithm>
#include <cmath>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/powers_of_two.hpp"

namespace tcsolve::test {
namespace {

Csr<double> poisson() {
  return generate(Poisson27Params{.n = 6, .coefficient = Coefficient::random});
}
Csr<double> elasticity() {
  return generate(ElasticityParams{.n = 5, .coefficient = Coefficient::random});
}

/// A rounded matrix with its scaling undone, and what is kept beside it.
struct Made {
  Csr<double> rounded;
  std::vector<double> kept;  ///< (rows, block), in the units of A
  int block;
  NarrowFigures figures;
  double beside(Index i, int c) const { return kept.empty() ? 0 : kept[i * block + c]; }
};

template <class P>
class KeptDiagonals : public BackendTest<P> {
 protected:
  using S = typename P::Value;
  Made make(Csr<double> const& a, KeptDiagonal kept) {
    NarrowCsr<S> const narrow(this->ctx(), a.view(), Beyond::scale, kept);
    Narrowed const& made = narrow.powers();
    auto const rows = to_host(this->ctx(), made.row_exponents),
               columns = to_host(this->ctx(), made.column_exponents);
    auto const power = [&](Index i, Index j) {
      return -(made.shift + (rows.empty() ? 0 : rows[i]) + (columns.empty() ? 0 : columns[j]));
    };
    Csr<S> const got = to_host(this->ctx(), narrow.view());
    Csr<double> wide{got.rows, got.cols, got.offsets, got.columns, {}};
    for (S v : got.values) wide.values.push_back(double(v));
    Made out{times(wide, power), {}, made.block, made.figures};
    auto const beside = to_host(this->ctx(), made.diagonal);
    for (std::size_t k = 0; k < beside.size(); ++k) {
      auto const i = static_cast<Index>(k / made.block);
      auto const j = static_cast<Index>(i / made.block * made.block + k % made.block);
      out.kept.push_back(std::ldexp(double(beside[k]), power(i, j)));
    }
    return out;
  }
  /// sum_J (A - B)_iJ over the columns c of blocks, and the sum of magnitudes.
  static std::pair<double, double> error_sum(Csr<double> const& a, Made const& m, Index i, int c,
                                             bool own = true) {
    long double sum = 0;
    double size = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      if (a.columns[k] % m.block != c) continue;
      if (!own && a.columns[k] / m.block == i / m.block) continue;
      sum += static_cast<long double>(a.values[k]) - m.rounded.values[k];
      size += std::abs(a.values[k] - m.rounded.values[k]);
    }
    return {static_cast<double>(sum), size};
  }
};
using Narrower = on_both<float, half, bfloat16>;
TYPED_TEST_SUITE(KeptDiagonals, Narrower, Label);

TYPED_TEST(KeptDiagonals, RowSumsAreWhatTheyWere) {
  auto const far = [](Index i) { return (i % 7 - 3) / 2; };
  for (Csr<double> const &a :
       {poisson(), times(poisson(), [](Index, Index) { return -60; }), dominant(120, 9, 3),
        times(poisson(), [&](Index i, Index j) { return far(i) + far(j); })}) {
    Made const m = this->make(a, KeptDiagonal::row_sums),
               plain = this->make(a, KeptDiagonal::stored);
    EXPECT_EQ(m.block, 1);
    ASSERT_FALSE(m.kept.empty());
    EXPECT_TRUE(plain.kept.empty());
    EXPECT_EQ(m.rounded, plain.rounded);
    for (Index i = 0; i < a.rows; ++i) {
      auto const [sum, size] = this->error_sum(a, m, i, 0);
      EXPECT_LE(std::abs(m.beside(i, 0) - sum), 0x1p-22 * size) << i;
    }
    EXPECT_LT(m.figures.row_sum_change, 1e-5 * plain.figures.row_sum_change);
  }
}

TYPED_TEST(KeptDiagonals, TheDiagonalIsExact) {
  Csr<double> const a = dominant(120, 9, 4);
  Made const m = this->make(a, KeptDiagonal::exact);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] == i)
        EXPECT_LE(std::abs(a.values[k] - m.rounded.values[k] - m.beside(i, 0)),
                  0x1p-23 * std::abs(a.values[k] - m.rounded.values[k]));
}

/// Of blocks of three unknowns: the diagonal block, and the symmetric part of what the others lose.
TYPED_TEST(KeptDiagonals, TranslationsAreWhatTheyWere) {
  Csr<double> const a = elasticity();
  Made const m = this->make(a, KeptDiagonal::row_sums), exact = this->make(a, KeptDiagonal::exact);
  ASSERT_EQ(m.block, 3);
  ASSERT_EQ(exact.block, 3);
  for (Index i = 0; i < a.rows; ++i)
    for (int c = 0; c < 3; ++c) {
      Index const j = i / 3 * 3 + c, r = i % 3;
      EXPECT_EQ(m.beside(i, c), m.beside(j, r));
      auto const [here, size] = this->error_sum(a, m, i, c, false);
      auto const [mirror, its_size] = this->error_sum(a, m, j, r, false);
      EXPECT_LE(std::abs(m.beside(i, c) - exact.beside(i, c) - (here + mirror) / 2),
                0x1p-20 * (size + its_size + std::abs(exact.beside(i, c))));
    }
}

/// A small row beside a large one: its off-diagonal error in the units of the large one would drown
/// its diagonal, so that the diagonal alone is kept.
TYPED_TEST(KeptDiagonals, WhatWouldDrownTheDiagonalIsLeft) {
  double const big = 1e12, off = 1.23456789e5;
  Csr<double> const a{
      3, 3, {0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, {big, off, off, 1.3, 0.1, 0.1, 1.7}};
  Made const m = this->make(a, KeptDiagonal::row_sums), exact = this->make(a, KeptDiagonal::exact);
  ASSERT_FALSE(exact.kept.empty());
  EXPECT_EQ(m.beside(1, 0), exact.beside(1, 0));
  EXPECT_NE(m.beside(2, 0), exact.beside(2, 0));
}

TYPED_TEST(KeptDiagonals, AutomaticKeepsWhereItPays) {
  auto const keeps = [&](Csr<double> const& a) {
    return !this->make(a, KeptDiagonal::automatic).kept.empty();
  };
  EXPECT_TRUE(keeps(poisson()));
  EXPECT_TRUE(keeps(elasticity()));
  EXPECT_FALSE(keeps(dominant(120, 9, 4)));
  EXPECT_FALSE(keeps(generate(Poisson27Params{.n = 6})));  // nothing is rounded
}

}  // namespace
}  // namespace tcsolve::test
