// SPDX-License-Identifier: Apache-2.0
/// What dia stores of a matrix whose narrow values have to be scaled.
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/operators/rescaled.hpp>
#include <tests/support/powers_of_two.hpp>

#include <cmath>

#include <gtest/gtest.h>

namespace tcsolve::test {
namespace {

/// The lower half of a symmetric matrix, scaled or not: 16 bits for about half of the entries.
TEST(DiaNarrow, StoresHalfOfASymmetricMatrix) {
  Context ctx(Backend::host);
  Csr<double> const plain = generate(ElasticityParams{.n = 12, .coefficient = Coefficient::random});
  Format const& dia = formats().at("dia");
  auto const bytes_an_entry = [&](Csr<double> const& a, Real values) {
    auto const A = dia.factory.with({.values = values}, dia, formats())->build(ctx, a);
    auto const narrow = std::dynamic_pointer_cast<Rescaled<double> const>(A);
    double const vectors = 16.0 * a.rows;
    return (narrow->scaled()->cost(1).bytes - vectors) / double(a.entries());
  };
  auto const d = [](Index i) { return (7 * (i / 3)) % 33 - 16; };
  auto const spread = times(plain, [&](Index i, Index j) { return d(i) + d(j); });
  double const bf16 = bytes_an_entry(plain, Real::bf16);
  EXPECT_LT(bf16, 1.7);  // of both halves more than 3
  EXPECT_EQ(bytes_an_entry(plain, Real::f16), bf16);
  EXPECT_EQ(bytes_an_entry(spread, Real::f16), bf16);
  EXPECT_EQ(bytes_an_entry(spread, Real::bf16), bf16);
}

}  // namespace
}  // namespace tcsolve::test
