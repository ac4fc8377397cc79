// SPDX-License-Identifier: Apache-2.0
/// The host's products of formats that go by rows give, row for row, the bits of a plain loop:
/// whatever path a row takes (rows that end early, the last slice, 32-bit columns, long rows,
/// diagonals added in groups), for any number of columns and any strides. What all formats compute
/// is in operator_contract.cpp.
#include <tcsolve/io/generate/generators.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// A format whose products add the entries of a row one by one, in storage order: those that a
/// persistent loop can take.
using HostProductCase = std::variant<FormatUnderTest<double> const*, FormatUnderTest<float> const*>;
std::vector<HostProductCase> by_rows() {
  std::vector<HostProductCase> cases;
  auto const add = [&](auto const& list) {
    for (auto const& format : list)
      if (format.format->can.persistent) cases.push_back(&format);
  };
  add(formats_under_test<double>());
  add(formats_under_test<float>());
  return cases;
}
std::string name_of(HostProductCase const& c) {
  return std::visit([](auto const* format) { return format->name; }, c);
}

/// alpha A x + beta y, row by row in storage order, each operation rounded by itself; T is the type
/// of the vectors, Sum that of the sums.
template <class T, class Sum>
std::vector<double> plain(Csr<double> const& a, T alpha, std::vector<double> const& x, T beta,
                          std::vector<double> const& y, Index k) {
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

::testing::AssertionResult same_bits(std::vector<double> const& got,
                                     std::vector<double> const& expected) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::bit_cast<std::uint64_t>(got[i]) != std::bit_cast<std::uint64_t>(expected[i]) &&
        !(std::isnan(got[i]) && std::isnan(expected[i])))
      return ::testing::AssertionFailure()
             << "element " << i << " is " << got[i] << ", expected " << expected[i];
  return ::testing::AssertionSuccess();
}

class HostProduct : public ::testing::TestWithParam<HostProductCase> {
 protected:
  /// f(A, a, plain) for each matrix that the format takes, a as it is stored.
  template <class F>
  void each(F const& f);
  Context ctx{Backend::host};
};
INSTANTIATE_TEST_SUITE_P(Formats, HostProduct, ::testing::ValuesIn(by_rows()),
                         [](auto const& info) { return name_of(info.param); });

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

template <class F>
void HostProduct::each(F const& f) {
  std::size_t made = 0;
  auto const with = [&]<class T>(FormatUnderTest<T> const& format) {
    for (Named const& m : matrices()) {
      SCOPED_TRACE(m.name);
      OperatorPtr<T> A;
      try {
        A = format.make(ctx, m.matrix);
      } catch (MatrixError const&) {
        EXPECT_TRUE(format.format->converted) << format.name << " holds every matrix";
        continue;
      }
      ++made;
      Csr<double> const a = rounded(format.stored, m.matrix);
      if (A->traits().precision.accumulate == Real::f32)
        f(*A, a, &plain<T, float>);
      else
        f(*A, a, &plain<T, double>);
      if (HasFatalFailure()) return;
    }
  };
  std::visit([&](auto const* format) { with(*format); }, GetParam());
  EXPECT_GE(made, matrices().size() / 2);
}

TEST_P(HostProduct, HasTheBitsOfAPlainLoop) {
  std::size_t turn = 0;
  each([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a, auto const& plain) {
    for (Index k : {1, 3, 33})
      for (Layout layout : {Layout::row_major, Layout::col_major})
        for (Index pad : {0, 5}) {
          Pair p = pairs[turn++ % std::size(pairs)];
          SCOPED_TRACE(cat("k ", k, ", layout ", int(layout), ", padding ", pad, ", alpha ",
                           p.alpha, ", beta ", p.beta));
          auto x = rounded<T>(random_values(std::size_t(a.cols) * k, turn));
          auto y = rounded<T>(random_values(std::size_t(a.rows) * k, turn + 1));
          auto alpha = T(p.alpha), beta = T(p.beta);
          auto expected = plain(a, alpha, x, beta, y, k);
          if (p.beta == 0) y.assign(y.size(), nan);  // written, never read
          Guarded<T> gx(ctx, a.cols, k, layout, pad, x), gy(ctx, a.rows, k, layout, pad, y);
          A.apply(ctx, alpha, gx.in(), beta, gy.view());
          ASSERT_TRUE(same_bits(gy.get(), expected));
          ASSERT_TRUE(gy.untouched());
          ASSERT_TRUE(gx.unchanged());
        }
  });
}

TEST_P(HostProduct, WithTheInnerProductTheBitsAreTheSame) {
  each([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a, auto const& plain) {
    if (a.rows != a.cols) return;
    auto x = rounded<T>(random_values(a.cols, 81));
    auto expected = plain(a, T(0.7), x, T(0), std::vector<double>(a.rows), 1);
    Guarded<T> gx(ctx, x), gy(ctx, std::vector<double>(a.rows, nan));
    There<double> sigma(ctx, nan);
    A.apply_dot(ctx, T(0.7), gx.in(), gy.view(), sigma.data());
    ASSERT_TRUE(same_bits(gy.get(), expected));
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
  });
}

/// Padding refers to a column of its slice: an infinite x there must not get into rows that do not.
TEST_P(HostProduct, InfinityReachesOnlyRowsThatReferToIt) {
  each([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a, auto const& plain) {
    if (a.entries() == 0) return;
    for (Index k : {1, 3})
      for (double poison : {inf, nan})
        for (Index hit : {a.columns.front(), a.columns[a.columns.size() / 2], a.columns.back()}) {
          auto x = rounded<T>(random_values(std::size_t(a.cols) * k, 91));
          x[std::size_t(hit) * k] = poison;
          std::vector<double> y(std::size_t(a.rows) * k, 1);
          Guarded<T> gx(ctx, a.cols, k, Layout::row_major, 0, x),
              gy(ctx, a.rows, k, Layout::row_major, 0, y);
          A.apply(ctx, T(1), gx.in(), T(1), gy.view());
          auto got = gy.get();
          ASSERT_TRUE(same_bits(got, plain(a, T(1), x, T(1), y, k)));
          for (Index i = 0; i < a.rows; ++i) {
            auto columns = a.row_columns(i);
            bool refers = std::find(columns.begin(), columns.end(), hit) != columns.end();
            for (Index c = 0; c < k; ++c)
              ASSERT_EQ(std::isfinite(got[std::size_t(i) * k + c]), !refers || c > 0)
                  << "row " << i;
          }
        }
  });
}

}  // namespace
}  // namespace tcsolve::test
