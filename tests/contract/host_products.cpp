// SPDX-License-Identifier: Apache-2.0
/// The host's products of CSR, SELL and DIA give, row for row, the bits of a plain loop: whatever
/// path a slice takes (rows that end early, the last slice, 32-bit columns, long rows) or a row
/// whose diagonals are added in groups, for any number of columns and any strides. What they
/// compute is in operator_contract.cpp with all other formats.
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/dia/operator.hpp>
#include <tcsolve/formats/sell/operator.hpp>
#include <tcsolve/io/generators.hpp>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// The type of the vectors, of the stored values and of the sums.
template <template <class, class> class Operator, class T, class S, class Sum>
struct Product {
  using Vector = T;
  using Stored = S;
  using Accumulated = Sum;
  static constexpr bool dia = std::is_same_v<Operator<T, S>, DiaOperator<T, S>>;
  static constexpr bool csr = std::is_same_v<Operator<T, S>, CsrOperator<T, S>>;
  /// Null where diagonals do not pay.
  static OperatorPtr<T> make(Context& ctx, Csr<S> const& a) {
    try {
      if constexpr (csr)
        return std::make_shared<CsrOperator<T, S>>(ctx, a);
      else
        return std::make_shared<Operator<T, S>>(ctx, a.view());
    } catch (MatrixError const&) {
      if (!dia) throw;
      return nullptr;
    }
  }
  static std::string label() {
    return cat(csr ? "csr_" : dia ? "dia_" : "sell_", type_name<T>, "_", type_name<S>);
  }
};

template <class P>
class HostProduct : public ::testing::Test {
 public:
  using T = typename P::Vector;
  using S = typename P::Stored;
  using Sum = typename P::Accumulated;

  /// alpha A x + beta y, row by row in storage order, each operation rounded by itself.
  static std::vector<double> plain(Csr<S> const& a, Sum alpha, std::vector<double> const& x,
                                   Sum beta, std::vector<double> const& y, Index k) {
    std::vector<double> result(y.size());
    for (Index i = 0; i < a.rows; ++i)
      for (Index c = 0; c < k; ++c) {
        Sum sum = 0;
        for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
          Sum volatile product = Sum(a.values[e]) * Sum(x[std::size_t(a.columns[e]) * k + c]);
          sum += product;  // volatile: no FMA, whatever the flags
        }
        std::size_t at = std::size_t(i) * k + c;
        Sum volatile left = alpha * sum, right = beta == 0 ? Sum(0) : beta * Sum(y[at]);
        result[at] = double(T(beta == 0 ? Sum(left) : left + right));
      }
    return result;
  }

  static ::testing::AssertionResult same_bits(std::vector<double> const& got,
                                              std::vector<double> const& expected) {
    for (std::size_t i = 0; i < got.size(); ++i)
      if (std::bit_cast<std::uint64_t>(got[i]) != std::bit_cast<std::uint64_t>(expected[i]) &&
          !(std::isnan(got[i]) && std::isnan(expected[i])))
        return ::testing::AssertionFailure()
               << "element " << i << " is " << got[i] << ", expected " << expected[i];
    return ::testing::AssertionSuccess();
  }
};
using Products = ::testing::Types<
    Product<SellOperator, double, double, double>, Product<SellOperator, double, float, double>,
    Product<SellOperator, double, half, double>, Product<SellOperator, float, float, float>,
    Product<SellOperator, float, half, float>, Product<SellOperator, double, bfloat16, double>,
    Product<SellOperator, float, bfloat16, float>, Product<CsrOperator, double, double, double>,
    Product<CsrOperator, double, float, double>, Product<CsrOperator, float, float, double>,
    Product<DiaOperator, double, double, double>, Product<DiaOperator, double, half, double>,
    Product<DiaOperator, float, float, float>, Product<DiaOperator, float, bfloat16, float>>;
TYPED_TEST_SUITE(HostProduct, Products, Label);

/// adversarial(), and what makes slices take each path; the larger ones are shared among threads.
std::vector<Named> const& matrices() {
  static std::vector<Named> const list = [] {
    std::vector<Named> all;
    for (Named const& m : adversarial())
      if (m.name.find("values") == std::string::npos) all.push_back(m);
    // Blocks of steps: rows of up to 300 entries, some empty, the last slice not full.
    all.push_back({"long rows", random_matrix(32 * 9 + 5, 400, 300, 71)});
    all.push_back({"short rows", random_matrix(32 * 300 + 31, 500, 9, 72)});
    all.push_back({"rows as long as their neighbours", generate(Poisson27Params{.n = 21})});
    Csr<double> far = random_matrix(32 * 5 + 1, 200000, 6, 73);  // 32-bit columns
    for (Index i = 32; i < 64; ++i)  // one narrow slice, far to the right
      for (Offset k = far.offsets[i]; k < far.offsets[i + 1]; ++k)
        far.columns[k] = 190000 + static_cast<Index>(k - far.offsets[i]);
    all.push_back({"far columns", far});
    return all;
  }();
  return list;
}

struct Pair {
  double alpha, beta;
};
constexpr Pair pairs[] = {{1, 0}, {0.7, -1.3}, {-2.25, 0}, {1, 1}, {0, 1}};

TYPED_TEST(HostProduct, HasTheBitsOfAPlainLoop) {
  using Test = HostProduct<TypeParam>;
  using T = typename Test::T;
  Context ctx(Backend::host);
  std::size_t turn = 0, made = 0;
  for (Named const& m : matrices()) {
    SCOPED_TRACE(m.name);
    auto a = converted<typename Test::S>(m.matrix);
    auto A = TypeParam::make(ctx, a);
    if (!A) continue;
    ++made;
    for (Index k : {1, 3, 33})
      for (Layout layout : {Layout::row_major, Layout::col_major})
        for (Index pad : {0, 5}) {
          Pair p = pairs[turn++ % std::size(pairs)];
          SCOPED_TRACE(cat("k ", k, ", layout ", int(layout), ", padding ", pad, ", alpha ",
                           p.alpha, ", beta ", p.beta));
          auto x = rounded<T>(random_values(std::size_t(a.cols) * k, turn));
          auto y = rounded<T>(random_values(std::size_t(a.rows) * k, turn + 1));
          auto alpha = T(p.alpha), beta = T(p.beta);
          auto expected = Test::plain(a, alpha, x, beta, y, k);
          if (p.beta == 0) y.assign(y.size(), nan);  // written, never read
          Guarded<T> gx(ctx, a.cols, k, layout, pad, x), gy(ctx, a.rows, k, layout, pad, y);
          A->apply(ctx, alpha, gx.in(), beta, gy.view());
          ASSERT_TRUE(Test::same_bits(gy.get(), expected));
          ASSERT_TRUE(gy.untouched());
          ASSERT_TRUE(gx.unchanged());
        }
  }
  EXPECT_GE(made, matrices().size() / 2);
}

TYPED_TEST(HostProduct, WithTheInnerProductTheBitsAreTheSame) {
  using Test = HostProduct<TypeParam>;
  using T = typename Test::T;
  Context ctx(Backend::host);
  for (Named const& m : matrices()) {
    if (m.matrix.rows != m.matrix.cols) continue;
    SCOPED_TRACE(m.name);
    auto a = converted<typename Test::S>(m.matrix);
    auto const A = TypeParam::make(ctx, a);
    if (!A) continue;
    auto x = rounded<T>(random_values(a.cols, 81));
    auto expected = Test::plain(a, T(0.7), x, 0, std::vector<double>(a.rows), 1);
    Guarded<T> gx(ctx, x), gy(ctx, std::vector<double>(a.rows, nan));
    There<double> sigma(ctx, nan);
    A->apply_dot(ctx, T(0.7), gx.in(), gy.view(), sigma.data());
    ASSERT_TRUE(Test::same_bits(gy.get(), expected));
    double sum = 0;  // chunks of 4096, added in order (kernels/operation.hpp)
    for (Index begin = 0; begin < a.rows; begin += 4096) {
      double part = 0;
      for (Index i = begin; i < std::min(begin + 4096, a.rows); ++i) {
        double volatile product = x[i] * expected[i];
        part += product;
      }
      sum += part;
    }
    EXPECT_NEAR(sigma.get(), sum, 1e-12 * std::abs(sum));
  }
}

/// Padding refers to a column of its slice: an infinite x there must not get into rows that do not.
TYPED_TEST(HostProduct, InfinityReachesOnlyRowsThatReferToIt) {
  using Test = HostProduct<TypeParam>;
  using T = typename Test::T;
  Context ctx(Backend::host);
  for (Named const& m : matrices()) {
    SCOPED_TRACE(m.name);
    auto a = converted<typename Test::S>(m.matrix);
    if (a.entries() == 0) continue;
    auto A = TypeParam::make(ctx, a);
    if (!A) continue;
    for (Index k : {1, 3})
      for (double poison : {inf, nan})
        for (Index hit : {a.columns.front(), a.columns[a.columns.size() / 2], a.columns.back()}) {
          auto x = rounded<T>(random_values(std::size_t(a.cols) * k, 91));
          x[std::size_t(hit) * k] = poison;
          std::vector<double> y(std::size_t(a.rows) * k, 1);
          Guarded<T> gx(ctx, a.cols, k, Layout::row_major, 0, x),
              gy(ctx, a.rows, k, Layout::row_major, 0, y);
          A->apply(ctx, T(1), gx.in(), T(1), gy.view());
          auto got = gy.get();
          ASSERT_TRUE(Test::same_bits(got, Test::plain(a, 1, x, 1, y, k)));
          for (Index i = 0; i < a.rows; ++i) {
            auto columns = a.row_columns(i);
            bool refers = std::find(columns.begin(), columns.end(), hit) != columns.end();
            for (Index c = 0; c < k; ++c)
              ASSERT_EQ(std::isfinite(got[std::size_t(i) * k + c]), !refers || c > 0)
                  << "row " << i;
          }
        }
  }
}

}  // namespace
}  // namespace tcsolve::test
