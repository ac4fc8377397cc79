// SPDX-License-Identifier: Apache-2.0
/// The residual that decides, of every format, against sums in 113 bits: rows that cancel to the
/// last digit, rows that are shared, rows without entries.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/operators/function_operator.hpp>

#include "tests/support/formats.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

__extension__ typedef __float128 Quad;

constexpr double u = 0x1p-53;

Quad size_of(Quad v) { return v < 0 ? -v : v; }

/// b - A x, and for each row what its terms add up to without their signs.
struct Reference {
  std::vector<Quad> r, size;
  Reference(Csr<double> const& a, std::vector<double> const& b, std::vector<double> const& x) {
    for (Index i = 0; i < a.rows; ++i) {
      Quad sum = b[i], sizes = size_of(b[i]);
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        Quad const term = Quad(a.values[k]) * Quad(x[a.columns[k]]);
        sum -= term, sizes += size_of(term);
      }
      r.push_back(sum), size.push_back(sizes);
    }
  }
  /// Ogita, Rump and Oishi 2005, proposition 5.5, and what 113 bits leave out.
  Quad bound(Csr<double> const& a, Index i) const {
    Quad const m = Quad(a.offsets[i + 1] - a.offsets[i]) + 4;
    return 1.01 * u * size_of(r[i]) + 2 * m * m * Quad(u) * Quad(u) * size[i] + 0x1p-1070;
  }
};

/// b so near to A x that what is left of it is the rounding of b.
std::vector<double> nearly(Csr<double> const& a, std::vector<double> const& x) {
  Reference const all(a, std::vector<double>(a.rows, 0.0), x);
  std::vector<double> b;
  for (Quad r : all.r) b.push_back(static_cast<double>(-r));
  return b;
}

/// Values of 20 orders of magnitude.
Csr<double> spread(Csr<double> a, std::uint64_t seed) {
  std::vector<double> const exponents = random_values(a.values.size(), seed, -10, 10);
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    if (!std::isfinite(a.values[k]) || std::abs(a.values[k]) > 1e100) a.values[k] = 3;
    a.values[k] *= std::pow(10.0, exponents[k]);
  }
  return a;
}

/// One row of so many entries among short ones.
Csr<double> with_long_row(Index rows, Index cols, Index length) {
  Csr<double> a{rows, cols, {0}, {}, {}};
  std::vector<double> const values = random_values(std::size_t(length) + 3 * rows, 71);
  for (Index i = 0; i < rows; ++i) {
    Index const count = i == rows / 2 ? length : i % 4, step = cols / std::max<Index>(count, 1);
    for (Index j = 0; j < count; ++j) {
      a.columns.push_back(j * step);
      a.values.push_back(values[a.values.size()]);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

std::vector<Named> matrices() {
  std::vector<Named> list;
  for (Named const& m : adversarial()) list.push_back({m.name, spread(m.matrix, 1)});
  list.push_back({"banded", spread(banded(300, 9, 12, 2), 2)});
  list.push_back({"mixed", spread(mixed_rows(120, 300, 3), 3)});
  list.push_back({"long rows", spread(mixed_rows(61, 2000, 5), 4)});
  list.push_back({"a row of 513", spread(with_long_row(9, 600, 513), 5)});
  list.push_back({"a row of 512", spread(with_long_row(9, 600, 512), 6)});
  list.push_back({"blocks in pieces", spread(with_long_row(20, 15000, 5000), 7)});
  // 1e20 and -1e20 meet with small entries between them.
  Csr<double> meet{
      3, 5, {0, 5, 5, 8}, {0, 1, 2, 3, 4, 0, 2, 4}, {1e20, 1, -1e20, 3e4, 1e-3, 1e16, 1, -1e16}};
  list.push_back({"1e20", meet});
  return list;
}

class ExactResidualOf : public FormatTest {
 protected:
  /// The matrix as the format holds it; none where it refuses it.
  OperatorPtr<double> made(Csr<double> const& a) {
    try {
      return std::get<FormatUnderTest<double> const*>(GetParam().format)->make(ctx(), a);
    } catch (MatrixError const&) { return nullptr; }
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, ExactResidualOf, ::testing::ValuesIn(fp64_format_cases()),
                         case_label);

std::vector<double> residual_of(Context& ctx, LinearOperator<double> const& A,
                                std::vector<double> const& b, std::vector<double> const& x) {
  There<double> there_b(ctx, b), there_x(ctx, x);
  There<double> r(ctx, std::vector<double>(b.size(), std::numeric_limits<double>::quiet_NaN()));
  A.exact_residual(ctx, there_b.in(), there_x.in(), r.view());
  return r.all();
}

void expect_exact(Csr<double> const& a, std::vector<double> const& b, std::vector<double> const& x,
                  std::vector<double> const& r) {
  Reference const reference(a, b, x);
  for (Index i = 0; i < a.rows; ++i)
    ASSERT_LE(double(size_of(reference.r[i] - Quad(r[i]))), double(reference.bound(a, i)))
        << "row " << i << " of " << a.offsets[i + 1] - a.offsets[i] << " entries: " << r[i]
        << " instead of " << double(reference.r[i]);
}

TEST_P(ExactResidualOf, RowsThatCancel) {
  int tried = 0, better = 0;
  for (Named const& m : matrices()) {
    SCOPED_TRACE(m.name);
    Csr<double> const& a = m.matrix;
    auto A = made(a);
    if (!A) continue;
    ++tried;
    ASSERT_TRUE(A->sums_exactly());
    std::vector<double> const x = random_values(a.cols, 8), b = nearly(a, x);
    std::vector<double> const r = residual_of(ctx(), *A, b, x);
    expect_exact(a, b, x, r);
    EXPECT_EQ(r, residual_of(ctx(), *A, b, x)) << "not the same bits again";

    There<double> in_place(ctx(), b), there_x(ctx(), x);
    A->exact_residual(ctx(), in_place.in(), there_x.in(), in_place.view());
    EXPECT_EQ(r, in_place.all()) << "in the place of b";

    There<double> there_b(ctx(), b), plain(ctx(), b);
    A->residual(ctx(), there_b.in(), there_x.in(), plain.view());
    Reference const reference(a, b, x);
    std::vector<double> const rounded = plain.all();
    for (Index i = 0; i < a.rows; ++i)
      better += size_of(reference.r[i] - Quad(rounded[i])) > reference.bound(a, i);
  }
  EXPECT_GE(tried, 10);
  EXPECT_GE(better, 100) << "a plain sum would have done";
}

TEST_P(ExactResidualOf, TheExampleWhereAPlainSumIsZero) {
  for (auto const& columns : {std::array{0, 1, 2}, std::array{0, 2, 1}}) {
    Csr<double> a{3, 3, {0, 3, 4, 5}, {0, 1, 2, columns[1], columns[2]}, {}};
    a.values = {1e16, columns[1] == 1 ? 1.0 : -1e16, columns[1] == 1 ? -1e16 : 1.0, 1, 1};
    auto A = made(a);
    ASSERT_TRUE(A);
    EXPECT_EQ(residual_of(ctx(), *A, {0, 1, 1}, {1, 1, 1}), (std::vector<double>{-1, 0, 0}));
  }
}

TEST_P(ExactResidualOf, ARowOfAHundredThousand) {
  Csr<double> const a = spread(with_long_row(5, 240001, 120000), 9);
  auto A = made(a);
  if (!A) GTEST_SKIP() << "the format refuses the matrix";
  std::vector<double> const x = random_values(a.cols, 10), b = nearly(a, x);
  expect_exact(a, b, x, residual_of(ctx(), *A, b, x));
}

TEST_P(ExactResidualOf, InfinityReachesOnlyRowsThatReferToIt) {
  for (Named const& m : {Named{"mixed", mixed_rows(120, 300, 3)},
                         {"banded", banded(90, 5, 6, 4)},
                         {"long", with_long_row(20, 15000, 5000)}}) {
    SCOPED_TRACE(m.name);
    Csr<double> const& a = m.matrix;
    auto A = made(a);
    if (!A) continue;
    std::vector<double> const x = random_values(a.cols, 12), b = random_values(a.rows, 13);
    std::vector<double> const finite = residual_of(ctx(), *A, b, x);
    for (Index column : {Index{0}, a.columns[a.columns.size() / 2]}) {
      std::vector<double> infinite = x;
      infinite[column] = std::numeric_limits<double>::infinity();
      std::vector<double> const r = residual_of(ctx(), *A, b, infinite);
      for (Index i = 0; i < a.rows; ++i) {
        bool const refers = std::ranges::count(a.row_columns(i), column) > 0;
        EXPECT_EQ(std::isfinite(r[i]), !refers) << "row " << i;
        if (!refers) { EXPECT_EQ(r[i], finite[i]); }
      }
    }
  }
}

template <class P>
class ExactResidual : public BackendTest<P> {};
TYPED_TEST_SUITE(ExactResidual, DoubleOnBoth, Label);

/// The entries of a and b in one matrix, both n x n.
Csr<double> sum_of(Csr<double> const& a, Csr<double> const& b) {
  Csr<double> out{a.rows, a.cols, {0}, {}, {}};
  for (Index i = 0; i < a.rows; ++i) {
    for (Csr<double> const* m : {&a, &b})
      for (Offset k = m->offsets[i]; k < m->offsets[i + 1]; ++k)
        out.columns.push_back(m->columns[k]), out.values.push_back(m->values[k]);
    out.offsets.push_back(out.entries());
  }
  return out;
}

TYPED_TEST(ExactResidual, OfOperatorsMadeOfOperators) {
  Context& ctx = this->ctx();
  Csr<double> const a = spread(banded(80, 6, 7, 21), 21),
                    b = spread(random_matrix(80, 80, 9, 22), 22);
  auto A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(a));
  CsrStorage<double> const b_there(ctx, b.view());
  OperatorPtr<double> const B = converted_format().make<double>(ctx, b_there.view());
  std::vector<double> const x = random_values(80, 23);
  auto check = [&](LinearOperator<double> const& op, Csr<double> const& entries) {
    SCOPED_TRACE(op.name());
    ASSERT_TRUE(op.sums_exactly());
    std::vector<double> const rhs = nearly(entries, x);
    expect_exact(entries, rhs, x, residual_of(ctx, op, rhs, x));
  };
  check(Sum<double>(A, B), sum_of(a, b));
  Csr<double> shift{80, 80, {0}, {}, {}}, scaled = a;
  for (Index i = 0; i < 80; ++i) {
    shift.columns.push_back(i), shift.values.push_back(-1.7e5);
    shift.offsets.push_back(i + 1);
  }
  check(Shifted<double>(A, -1.7e5), sum_of(a, shift));
  for (double& v : scaled.values) v *= -0x1p+40;
  check(Scaled<double>(-0x1p+40, A), scaled);
  check(Sum<double>(std::make_shared<Scaled<double>>(-0x1p+40, A), B), sum_of(scaled, b));
  for (double& v : shift.values) v = 1;
  check(Identity<double>(80), shift);
}

TYPED_TEST(ExactResidual, OfOperatorsThatCannotIsThePlainOne) {
  Context& ctx = this->ctx();
  Csr<double> const a = spread(banded(80, 6, 7, 21), 21);
  auto A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(a));
  std::vector<double> const x = random_values(80, 23), b = nearly(a, x);
  FunctionOperator<double> const f(
      80, 80, [A](Context& c, In<double> from, Out<double> to) { A->apply(c, from, to); });
  Scaled<double> const third(1.0 / 3, A);
  OperatorPtr<double> const narrow =
      std::make_shared<CsrOperator<double, float>>(ctx, converted<float>(banded(80, 6, 7, 21)));
  for (LinearOperator<double> const* op :
       {static_cast<LinearOperator<double> const*>(&f),
        static_cast<LinearOperator<double> const*>(&third), narrow.get()}) {
    SCOPED_TRACE(op->name());
    EXPECT_FALSE(op->sums_exactly());
    There<double> there_b(ctx, b), there_x(ctx, x), plain(ctx, b);
    op->residual(ctx, there_b.in(), there_x.in(), plain.view());
    EXPECT_EQ(residual_of(ctx, *op, b, x), plain.all());
  }
}

TYPED_TEST(ExactResidual, ChecksItsVectors) {
  Context& ctx = this->ctx();
  auto A = std::make_shared<CsrOperator<double>>(ctx, banded(80, 6, 7, 21));
  There<double> whole(ctx, std::vector<double>(80)), r(ctx, std::vector<double>(80));
  There<double> part(ctx, std::vector<double>(79));
  EXPECT_THROW(A->exact_residual(ctx, part.in(), whole.in(), r.view()), ShapeError);
  EXPECT_THROW(A->exact_residual(ctx, whole.in(), part.in(), r.view()), ShapeError);
  EXPECT_THROW(A->exact_residual(ctx, whole.in(), r.in(), r.view()), ShapeError);
}

}  // namespace
}  // namespace tcsolve::test
