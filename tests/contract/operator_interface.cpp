// SPDX-License-Identifier: Apache-2.0
/// The rest of the operator's interface: fused forms, cost, recording, and the errors a caller
/// sees.
#include <cmath>
#include <limits>

#include "tests/support/bounds.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using OperatorInterface = FormatTest;
INSTANTIATE_TEST_SUITE_P(Formats, OperatorInterface, ::testing::ValuesIn(format_cases()),
                         case_label);

template <class T>
struct Made {
  OperatorPtr<T> A;
  Csr<double> a;  // as stored
};
template <class T>
Made<T> make(Context& ctx, FormatUnderTest<T> const& format, Csr<double> const& a) {
  return {format.make(ctx, a), rounded(format.stored, a)};
}

std::vector<Csr<double>> squares() {
  std::vector<Csr<double>> list;
  for (Named const& m : adversarial())
    if (m.matrix.rows == m.matrix.cols && m.name.find("values") == std::string::npos)
      list.push_back(m.matrix);
  list.push_back(banded(5000, 20, 6, 77));  // several partial sums
  return list;
}

TEST_P(OperatorInterface, ApplyDotIsApplyThenDot) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    for (Csr<double> const& matrix : squares()) {
      SCOPED_TRACE(cat(matrix.rows, " rows"));
      auto [A, a] = make(ctx(), format, matrix);
      auto x = rounded<T>(random_values(a.cols, 3));
      Guarded<T> gx(ctx(), x);
      Guarded<T> y(ctx(), std::vector<double>(a.rows, nan)), separate(ctx(), y.get());
      There<double> sigma(ctx(), nan);
      A->apply_dot(ctx(), gx.in(), y.view(), sigma.data());
      A->apply(ctx(), gx.in(), separate.view());
      auto got = y.get();
      EXPECT_EQ(got, separate.get());
      EXPECT_TRUE(y.untouched());
      EXPECT_TRUE(gx.unchanged());
      long double exact = 0, magnitude = 0;
      for (Index i = 0; i < a.rows; ++i) {
        long double term = static_cast<long double>(x[i]) * got[i];
        exact += term;
        magnitude += std::abs(term);
      }
      EXPECT_LE(std::abs(sigma.get() - exact), sum_bound(x.size(), magnitude));
    }
  });
}

TEST_P(OperatorInterface, ApplyDotRefusesWhatHasNoInnerProduct) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    auto [A, a] = make(ctx(), format, random_matrix(4, 6, 3, 5));
    Guarded<T> x(ctx(), std::vector<double>(6, 1)), y(ctx(), std::vector<double>(4, 1));
    There<double> sigma(ctx(), 0.0);
    std::string text =
        message_of<ShapeError>([&, A = A] { A->apply_dot(ctx(), x.in(), y.view(), sigma.data()); });
    EXPECT_NE(text.find("4 x 6"), std::string::npos) << text;

    auto [B, b] = make(ctx(), format, random_matrix(5, 5, 3, 6));
    std::vector<double> ones(10, 1);
    Guarded<T> x2(ctx(), 5, 2, Layout::row_major, 0, ones),
        y2(ctx(), 5, 2, Layout::row_major, 0, ones);
    text = message_of<ShapeError>(
        [&, B = B] { B->apply_dot(ctx(), x2.in(), y2.view(), sigma.data()); });
    EXPECT_NE(text.find("2"), std::string::npos) << text;
    // One column whose entries are not adjacent.
    Guarded<T> x3(ctx(), 5, 1, Layout::row_major, 1, ones),
        y3(ctx(), 5, 1, Layout::row_major, 0, ones);
    EXPECT_THROW(B->apply_dot(ctx(), x3.in(), y3.view(), sigma.data()), ShapeError);
    EXPECT_TRUE(y.unchanged() && y2.unchanged() && y3.unchanged());
  });
}

/// Y of apply() to the bit, G of long double within the bound, and both to the bit once more.
/// Blocks with a fused form in some format, and blocks that have none.
TEST_P(OperatorInterface, ApplyGramIsApplyThenGram) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    if constexpr (std::is_same_v<T, double>) {
      for (Csr<double> const& matrix : squares())
        for (auto [k, pad] :
             {std::pair<Index, Index>{1, 0}, {5, 2}, {8, 0}, {8, 1}, {16, 8}, {17, 0}}) {
          SCOPED_TRACE(cat(matrix.rows, " rows, ", k, " columns, padding ", pad));
          auto [A, a] = make(ctx(), format, matrix);
          Index const n = a.rows;
          std::size_t const size = std::size_t(n) * k;
          auto const X = random_values(size, 3);
          std::vector<double> const unset(size, nan), none(std::size_t(k) * k, nan);
          Guarded<T> x(ctx(), n, k, Layout::row_major, pad, X);
          Guarded<T> y(ctx(), n, k, Layout::row_major, pad, unset),
              separate(ctx(), n, k, Layout::row_major, pad, unset);
          There<double> G(ctx(), none), again(ctx(), none);
          A->apply_gram(ctx(), -1.5, x.in(), y.view(), G.data());
          A->apply(ctx(), -1.5, x.in(), 0, separate.view());
          auto const Y = y.get(), found = G.all();
          ASSERT_EQ(Y, separate.get());
          ASSERT_TRUE(y.untouched());
          ASSERT_TRUE(x.unchanged());
          for (Index i = 0; i < k; ++i)
            for (Index j = 0; j < k; ++j) {
              long double exact = 0, magnitude = 0;
              for (Index r = 0; r < n; ++r) {
                long double const term =
                    static_cast<long double>(X[std::size_t(r) * k + i]) * Y[std::size_t(r) * k + j];
                exact += term, magnitude += std::abs(term);
              }
              ASSERT_LE(std::abs(found[std::size_t(i) * k + j] - exact), sum_bound(n, magnitude))
                  << i << ", " << j;
            }
          A->apply_gram(ctx(), -1.5, x.in(), y.view(), again.data());
          ASSERT_EQ(y.get(), Y);
          ASSERT_EQ(again.all(), found);
        }
    }
  });
}

TEST_P(OperatorInterface, ApplyGramRefusesOtherBlocks) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    auto [A, a] = make(ctx(), format, random_matrix(4, 6, 3, 5));
    auto [B, b] = make(ctx(), format, random_matrix(5, 5, 3, 6));
    using enum Layout;
    std::vector<double> const ones(5 * 65, 1);
    auto const block = [&](Index n, Index k, Layout layout) {
      return Guarded<T>(ctx(), n, k, layout, 0, ones);
    };
    There<double> G(ctx(), std::vector<double>(65 * 65, 7.0));
    auto const refuses = [&](auto error, LinearOperator<T> const& op, Guarded<T> x, Guarded<T> y,
                             std::string const& words) {
      std::string const text =
          message_of<decltype(error)>([&] { op.apply_gram(ctx(), x.in(), y.view(), G.data()); });
      EXPECT_NE(text.find(words), std::string::npos) << text << " lacks " << words;
      EXPECT_TRUE(y.unchanged());
    };
    refuses(ShapeError(""), *A, block(6, 2, row_major), block(4, 2, row_major), "4 x 6");
    refuses(ShapeError(""), *B, block(5, 2, row_major), block(5, 3, row_major), "columns");
    if (!std::is_same_v<T, double>)
      return refuses(Unsupported(""), *B, block(5, 2, row_major), block(5, 2, row_major), "FP64");
    refuses(Unsupported(""), *B, block(5, 65, row_major), block(5, 65, row_major), "65");
    refuses(Unsupported(""), *B, block(5, 2, row_major), block(5, 2, col_major), "column-major");
    refuses(Unsupported(""), *B, block(5, 2, col_major), block(5, 2, row_major), "column-major");
    EXPECT_EQ(G.get(), 7.0);
  });
}

TEST_P(OperatorInterface, Residual) {  // r = b - A x
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    for (auto const& matrix :
         {dominant(100, 7, 1), random_matrix(40, 70, 9, 2), random_matrix(70, 40, 9, 3),
          Csr<double>{3, 0, {0, 0, 0, 0}, {}, {}}}) {
      auto [A, a] = make(ctx(), format, matrix);
      auto b = rounded<T>(random_values(a.rows, 4)), x = rounded<T>(random_values(a.cols, 5));
      Guarded<T> gb(ctx(), b), gx(ctx(), x), r(ctx(), std::vector<double>(a.rows, nan));
      A->residual(ctx(), gb.in(), gx.in(), r.view());
      EXPECT_TRUE(within(A->traits().precision, real_of<T>,
                         exact_apply(a, Op::none, -1, x, 1, b, 1), r.get()));
      EXPECT_TRUE(r.untouched());
      EXPECT_TRUE(gb.unchanged());
      EXPECT_TRUE(gx.unchanged());
    }
  });
}

TEST_P(OperatorInterface, ResidualChecksAllThreeVectorsFirst) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    auto [A, a] = make(ctx(), format, random_matrix(4, 6, 3, 5));
    auto vector = [&](Index n) { return Guarded<T>(ctx(), std::vector<double>(n, 1)); };
    auto says = [&, &A = A](Guarded<T>& b, Guarded<T>& x, Guarded<T>& r, std::string const& words) {
      std::string text =
          message_of<ShapeError>([&, A = A] { A->residual(ctx(), b.in(), x.in(), r.view()); });
      EXPECT_NE(text.find("4 x 6"), std::string::npos) << text;
      EXPECT_NE(text.find(words), std::string::npos) << text;
      EXPECT_TRUE(r.unchanged()) << "an error must leave r alone";
    };
    auto four = vector(4), six = vector(6), r4 = vector(4), three = vector(3), r9 = vector(9);
    says(three, six, r4, "b has 3 rows");
    says(four, four, r4, "x has 4 rows");
    says(four, six, r9, "r has 9 rows");
    EXPECT_THROW(
        A->residual(ctx(),
                    MultiView<T const>{four.data(), 4, 1, 1, Layout::row_major,
                                       ctx().space() == Space::host ? Space::cuda : Space::host},
                    six.in(), r4.view()),
        ShapeError);
    EXPECT_TRUE(r4.unchanged());
  });
}

TEST_P(OperatorInterface, ErrorsNameBothQuantities) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    auto [A, a] = make(ctx(), format, random_matrix(4, 6, 3, 5));
    std::vector<double> ones(64, 1);
    auto block = [&](Index n, Index k) {
      return Guarded<T>(ctx(), n, k, Layout::row_major, 0, ones);
    };
    auto says = [&, &A = A](MultiView<T> x, MultiView<T> y, Op op, std::vector<std::string> words) {
      std::string text =
          message_of<ShapeError>([&, A = A] { A->apply(ctx(), T(1), x, T(0), y, op); });
      for (auto const& word : words)
        EXPECT_NE(text.find(word), std::string::npos) << text << " lacks " << word;
    };
    auto x = block(6, 1), y = block(4, 1), wrong = block(5, 1), x2 = block(6, 2), y3 = block(4, 3);
    says(wrong.view(), y.view(), Op::none, {A->name(), "4 x 6", "x has 5 rows"});
    says(x.view(), wrong.view(), Op::none, {A->name(), "4 x 6", "y has 5 rows"});
    says(x2.view(), y3.view(), Op::none, {"x has 2 columns", "y has 3"});
    if (A->traits().transpose) {
      says(x.view(), y.view(), Op::transpose, {"transposed", "6 x 4", "x has 6 rows"});
      says(y.view(), wrong.view(), Op::transpose, {"transposed", "6 x 4", "y has 5 rows"});
    }
    Space other = ctx().space() == Space::host ? Space::cuda : Space::host;
    MultiView<T> elsewhere = x.view();
    elsewhere.space = other;
    says(elsewhere, y.view(), Op::none, {cat("x is in ", name(other)), name(ctx().space())});
    elsewhere = y.view();
    elsewhere.space = other;
    says(x.view(), elsewhere, Op::none, {cat("y in ", name(other)), name(ctx().space())});
    // y begins inside x; and the first element of y is the last of x.
    auto both = block(20, 1);
    for (Index shift : {0, 2, 5})
      says(vector_view(both.data(), 6, ctx().space()),
           vector_view(both.data() + shift, 4, ctx().space()), Op::none, {"x and y overlap"});
    A->apply(ctx(), vector_view<T const>(both.data(), 6, ctx().space()),
             vector_view(both.data() + 6, 4, ctx().space()));  // neighbours do not overlap
    EXPECT_TRUE(x.unchanged() && y.unchanged() && wrong.unchanged() && y3.unchanged());
  });
}

TEST_P(OperatorInterface, CostIsTheCompulsoryTraffic) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    for (auto const& matrix :
         {random_matrix(30, 50, 9, 2), Csr<double>{0, 3, {0}, {}, {}}, mixed_rows(50, 40, 3)}) {
      auto [A, a] = make(ctx(), format, matrix);
      double const value = size_of(format.stored), entries = double(a.entries());
      double const stored = A->cost(0).bytes;
      // No format stores an entry in less than its value, and none of these matrices in a hundred
      // bytes more; what a row and a matrix as such need comes to a hundred bytes and to 8 KiB.
      EXPECT_GE(stored, value * entries);
      EXPECT_LE(stored, (100 + value) * entries + 100 * a.rows + 8192);
      for (Index k : {1, 8, 33}) {
        Cost cost = A->cost(k);
        double vectors = double(k) * (double(a.rows) + a.cols) * sizeof(T);
        EXPECT_DOUBLE_EQ(cost.flops, 2.0 * entries * k);
        EXPECT_DOUBLE_EQ(cost.bytes, stored + vectors);
        EXPECT_GE(cost.stored_per_entry, 1);
      }
    }
  });
}

TEST_P(OperatorInterface, TraitsNameTheirPrecision) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    auto [A, a] = make(ctx(), format, dominant(9, 3, 1));
    EXPECT_EQ(A->traits().precision.storage, format.stored);
    EXPECT_GE(size_of(A->traits().precision.accumulate), sizeof(float));
    EXPECT_LE(sizeof(T), 8u);
    EXPECT_TRUE(A->traits().fixed);
    EXPECT_FALSE(A->name().empty());
  });
}

TEST_P(OperatorInterface, NormEstimateIsTheLargestRowSum) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    for (auto const& matrix :
         {dominant(200, 9, 1), random_matrix(30, 50, 9, 2), Csr<double>{0, 3, {0}, {}, {}},
          Csr<double>{3, 0, {0, 0, 0, 0}, {}, {}}}) {
      auto [A, a] = make(ctx(), format, matrix);
      double largest = 0;
      for (Index i = 0; i < a.rows; ++i) {
        double sum = 0;
        for (double v : a.row_values(i)) sum += std::abs(v);
        largest = std::max(largest, sum);
      }
      double estimate = A->norm_estimate();
      if (!std::isnan(estimate)) EXPECT_NEAR(estimate, largest, 1e-12 * largest);
    }
  });
}

TEST_P(OperatorInterface, RecordedProductsRunWhenTheyAreCalled) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    auto [A, a] = make(ctx(), format, dominant(50, 5, 1));
    auto x = rounded<T>(random_values(50, 6));
    Guarded<T> gx(ctx(), x), y(ctx(), std::vector<double>(50, nan));
    There<double> sigma(ctx(), -7.0);
    Recording list = ctx().record([&, A = A](Context& c) {
      A->apply(c, gx.in(), y.view());
      A->apply(c, T(2), gx.in(), T(-1), y.view());
      A->apply_dot(c, gx.in(), y.view(), sigma.data());
    });
    EXPECT_TRUE(y.unchanged());
    EXPECT_EQ(sigma.get(), -7.0);
    ASSERT_GE(list.commands.size(), 3u);
    EXPECT_EQ(list.capturable(), A->traits().capturable);
    for (Command const& command : list.commands) command.call(ctx());
    EXPECT_TRUE(within(A->traits().precision, real_of<T>, exact_apply(a, Op::none, 1, x, 0, {}, 1),
                       y.get()));
    EXPECT_NE(sigma.get(), -7.0);
  });
}

}  // namespace
}  // namespace tcsolve::test
