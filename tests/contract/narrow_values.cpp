// SPDX-License-Identifier: Apache-2.0
/// Narrow values in every format, by the factory that a config names: matrices beyond the range of
/// the type are scaled by powers of two and multiply as what was stored with the scaling undone;
/// new values are those of a new operator.
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/scaled.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/operators/rescaled.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/bounds.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/new_values.hpp"
#include "tests/support/powers_of_two.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

/// One pattern, which all formats take: what fits, what takes a shift, a symmetric scaling, rows,
/// and rows with columns.
std::vector<Named> matrices() {
  Csr<double> const spd = generate(Poisson27Params{.n = 6, .coefficient = Coefficient::random});
  auto const d = [](Index i) { return (7 * i) % 33 - 16; };  // ten decades of a_ii
  return {
      {"plain", spd},
      {"far away", times(spd, [](Index, Index) { return 40; })},
      {"symmetric", times(spd, [&](Index i, Index j) { return d(i) + d(j); })},
      {"tiny couplings", times(spd, [](Index i, Index j) { return (i + j) % 5 == 2 ? -50 : 0; })},
      {"rows", times(spd, [&](Index i, Index) { return d(i); })},
      {"columns", times(spd, [&](Index, Index j) { return 40 - 2 * d(j); })},
      {"both", times(spd, [&](Index i, Index j) { return d(i) - 2 * d(j); })},
      {"plain again", spd}};
}

/// What is stored of a, with its powers of two undone: by the walk that
/// tests/unit/matrix/narrow.cpp checks.
Csr<double> stored(Real values, Csr<double> const& a) {
  return with_stored_type(values, [&]<class S>() {
    if constexpr (std::is_same_v<S, double>) {
      return a;
    } else {
      ScaledCsr<S> const s = scaled<S>(a, Scaling::powers_of_two);
      return times(widened(s.matrix), [&](Index i, Index j) {
        return -(s.shift + (s.rows.empty() ? 0 : s.rows[i]) + (s.cols.empty() ? 0 : s.cols[j]));
      });
    }
  });
}

struct NarrowCase {
  Backend backend;
  Format const* format;
  Real values, vectors;
};
std::vector<NarrowCase> cases() {
  std::vector<NarrowCase> all;
  for (Backend const backend : backends())
    for (Format const& format : tested_formats())
      for (Real const values : {Real::f32, Real::f16, Real::bf16})
        for (Real const vectors : {Real::f64, Real::f32})
          all.push_back({backend, &format, values, vectors});
  return all;
}

class NarrowValues : public ::testing::TestWithParam<NarrowCase> {
 protected:
  void SetUp() override { open_context(GetParam().backend, ctx_); }
  Context& ctx() { return *ctx_; }
  OperatorPtr<double> make(Csr<double> const& a, Scaling scale = Scaling::powers_of_two,
                           KeptDiagonal diagonal = KeptDiagonal::stored) {
    NarrowCase const& c = GetParam();
    auto const factory = c.format->factory.with(
        {.values = c.values, .scale = scale, .diagonal = diagonal}, *c.format, tested_formats());
    return factory->build(ctx(), a, {.vectors = c.vectors});
  }
  /// Values of the type that vectors have.
  std::vector<double> in_type(std::vector<double> const& v) {
    return GetParam().vectors == Real::f64 ? v : rounded<float>(v);
  }
  void gives(OperatorPtr<double> const& A, CsrView<double> const& a) {
    std::const_pointer_cast<LinearOperator<double>>(A)->update_values(ctx(), a);
  }

 private:
  std::unique_ptr<Context> ctx_;
};
INSTANTIATE_TEST_SUITE_P(Formats, NarrowValues, ::testing::ValuesIn(cases()), [](auto const& info) {
  NarrowCase const& c = info.param;
  return cat(label(c.backend), "_", c.format->name, "_", name(c.values), "_", name(c.vectors));
});

TEST_P(NarrowValues, MultiplyAsWhatIsStoredUnscaled) {
  for (auto const& [name, a] : matrices()) {
    SCOPED_TRACE(name);
    Csr<double> const b = stored(GetParam().values, a);
    OperatorPtr<double> const A = make(a);
    for (Index const k : {1, 3}) {
      auto const x = in_type(random_values(std::size_t(a.cols) * k, 3)),
                 y0 = in_type(random_values(std::size_t(a.rows) * k, 4));
      Guarded<double> gx(ctx(), a.cols, k, Layout::row_major, 1, x),
          gy(ctx(), a.rows, k, Layout::row_major, 1, y0);
      A->apply(ctx(), 0.5, gx.in(), -2, gy.view());
      Exact const e = exact_apply(b, Op::none, 0.5, x, -2, y0, k);
      EXPECT_TRUE(within(A->traits().precision, GetParam().vectors, e, gy.get()));
      EXPECT_TRUE(gx.unchanged());
      EXPECT_TRUE(gy.untouched());
    }
    double norm = 0;
    for (Index i = 0; i < b.rows; ++i) {
      double sum = 0;
      for (double v : b.row_values(i)) sum += std::abs(v);
      norm = std::max(norm, sum);
    }
    EXPECT_NEAR(A->norm_estimate() / norm, 1, GetParam().vectors == Real::f64 ? 1e-12 : 1e-5);
  }
}

TEST_P(NarrowValues, NewOnesAreScaledAnew) {
  auto const all = matrices();
  for (auto const& [first, a] : all) {
    OperatorPtr<double> const A = make(a);
    for (auto const& [next, b] : all) {
      SCOPED_TRACE(cat(first, ", then ", next));
      CsrStorage<double> const there(ctx(), b.view());
      gives(A, next == "rows" ? b.view() : there.view());
      expect_same_products<double>(ctx(), *A, *make(b));
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST_P(NarrowValues, AreRefusedWhereTheyAreNotToBeScaled) {
  if (GetParam().values != Real::f16) return;
  auto const all = matrices();
  EXPECT_NO_THROW(make(all[0].matrix, Scaling::refuse));
  std::string const text = message_of<MatrixError>([&] { make(all[1].matrix, Scaling::refuse); });
  EXPECT_NE(text.find("row 1, column 1"), std::string::npos) << text;
  EXPECT_NE(text.find("scale: powers_of_two"), std::string::npos) << text;
}

/// With row sums kept, A e is that of A: to the rounding of the vectors and of FP32 corrections. So
/// are products with more columns, the one that makes <x, A x>, and those with new values.
TEST_P(NarrowValues, KeepRowSums) {
  if (GetParam().values == Real::f32) return;
  bool const floats = GetParam().vectors == Real::f32;
  auto const all = matrices();
  OperatorPtr<double> const updated =
      make(all[3].matrix, Scaling::powers_of_two, KeptDiagonal::row_sums);
  for (std::size_t m : {0, 1}) {
    Csr<double> const& a = all[m].matrix;
    SCOPED_TRACE(all[m].name);
    OperatorPtr<double> const A = make(a, Scaling::powers_of_two, KeptDiagonal::row_sums);
    CsrStorage<double> const there(ctx(), a.view());
    gives(updated, there.view());
    expect_same_products<double>(ctx(), *updated, *A);
    std::vector<double> const ones(a.cols, 1.0);
    Guarded<double> x(ctx(), ones), y(ctx(), ones), z(ctx(), ones);
    There<double> sigma(ctx(), -1.0);
    A->apply(ctx(), 2, x.in(), 1, y.view());
    A->apply_dot(ctx(), x.in(), z.view(), sigma.data());
    auto const got = y.get(), dotted = z.get();
    double sum = 0;
    for (Index i = 0; i < a.rows; ++i) {
      long double exact = 0;
      double size = 0;
      for (double v : a.row_values(i)) exact += v, size += std::abs(v);
      double const bound = (floats ? 0x1p-18 : 0x1p-30) * size;
      EXPECT_NEAR(got[i], double(2 * exact + 1), 2 * bound + (floats ? 0x1p-23 : 0x1p-52));
      EXPECT_NEAR(dotted[i], double(exact), bound);
      sum += dotted[i];
    }
    EXPECT_NEAR(sigma.get() / sum, 1, 1e-4);
  }
}

}  // namespace
}  // namespace tcsolve::test
