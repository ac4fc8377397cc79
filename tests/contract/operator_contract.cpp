// SPDX-License-Identifier: Apache-2.0
/// What every operator of tests/support/formats.cpp computes, on every backend, for every matrix of
/// adversarial(), against long double within the bound of STYLE section 11.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/bounds.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

class OperatorContract : public FormatTest {
 public:
  /// f(A, a): the operator, and the matrix as it is stored. A matrix beyond the range of the type
  /// that values are stored in is refused.
  template <class G>
  void for_each_matrix(G const& f) {
    with_format([&](auto const& format) {
      for (Named const& m : adversarial()) {
        SCOPED_TRACE(m.name);
        Csr<double> stored = rounded(format.stored, m.matrix);
        bool fits = true;
        for (double v : stored.values) fits = fits && std::isfinite(v);
        if (!fits) {
          std::string text = message_of<MatrixError>([&] { format.make(ctx(), m.matrix); });
          EXPECT_NE(text.find("row"), std::string::npos) << text;
          EXPECT_NE(text.find("column"), std::string::npos) << text;
          continue;
        }
        f(*format.make(ctx(), m.matrix), stored);
        if (HasFatalFailure()) return;
      }
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, OperatorContract, ::testing::ValuesIn(format_cases()),
                         case_label);

template <class T>
std::vector<double> values_of(std::size_t n, std::uint64_t seed) {
  return rounded<T>(random_values(n, seed));
}

struct Pair {
  double alpha, beta;
};
/// 0, 1, -1 and values that float represents only after rounding.
constexpr Pair pairs[] = {{1, 0},     {0.7, -1.3}, {-1, 1}, {0, 1},
                          {-2.25, 0}, {1e-3, 1e3}, {0, 0},  {1.5, -1}};

/// One product, all checks.
template <class T>
void check_product(Context& ctx, LinearOperator<T> const& A, Csr<double> const& a, Op op, Pair p,
                   Index k, Layout x_layout, Layout y_layout, Index pad, std::uint64_t seed) {
  SCOPED_TRACE(cat("op ", int(op), ", alpha ", p.alpha, ", beta ", p.beta, ", k ", k, ", layouts ",
                   int(x_layout), int(y_layout), ", padding ", pad));
  Index domain = op == Op::none ? a.cols : a.rows, range = op == Op::none ? a.rows : a.cols;
  auto x = rounded<T>(random_values(static_cast<std::size_t>(domain) * k, seed));
  auto y0 = rounded<T>(random_values(static_cast<std::size_t>(range) * k, seed + 1));
  if (p.beta == 0) y0.assign(y0.size(), nan);  // written, never read
  Guarded<T> gx(ctx, domain, k, x_layout, pad, x), gy(ctx, range, k, y_layout, pad, y0);
  T alpha = T(p.alpha), beta = T(p.beta);
  A.apply(ctx, alpha, gx.in(), beta, gy.view(), op);
  ctx.synchronize();
  Exact e = exact_apply(a, op, alpha, x, beta, y0, k);
  ASSERT_TRUE(within(A.traits().precision, real_of<T>, e, gy.get()));
  ASSERT_TRUE(gy.untouched());
  ASSERT_TRUE(gx.unchanged());
}

constexpr Index block_sizes[] = {1, 7, 8, 9, 24, 33};

template <class T>
void check_all_products(Context& ctx, LinearOperator<T> const& A, Csr<double> const& a, Op op) {
  std::size_t turn = 0;
  for (Index k : block_sizes)
    for (Layout layout : {Layout::row_major, Layout::col_major})
      for (Index pad : {0, 3, 8})
        for (int repeat = 0; repeat < (k == 1 ? 4 : 2); ++repeat, ++turn) {
          check_product(ctx, A, a, op, pairs[turn % 8], k, layout, layout, pad, turn);
          if (::testing::Test::HasFatalFailure()) return;
        }
}

TEST_P(OperatorContract, MatchesLongDoubleWithinBound) {
  for_each_matrix([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a) {
    EXPECT_EQ(A.rows(), a.rows);
    EXPECT_EQ(A.cols(), a.cols);
    check_all_products(ctx(), A, a, Op::none);
  });
}

TEST_P(OperatorContract, TransposeMatchesLongDoubleWithinBound) {
  for_each_matrix([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a) {
    if (A.traits().transpose)
      check_all_products(ctx(), A, a, Op::transpose);
    else
      EXPECT_THROW(check_product(ctx(), A, a, Op::transpose, {1, 0}, 1, Layout::row_major,
                                 Layout::row_major, 0, 1),
                   Unsupported);
  });
}

TEST_P(OperatorContract, LayoutsOfXAndYMayDiffer) {
  for_each_matrix([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a) {
    for (Index k : {1, 9})
      for (Layout x : {Layout::row_major, Layout::col_major}) {
        Layout y = x == Layout::row_major ? Layout::col_major : Layout::row_major;
        check_product(ctx(), A, a, Op::none, {0.7, -1.3}, k, x, y, 2, 5);
        if (::testing::Test::HasFatalFailure()) return;
      }
  });
}

TEST_P(OperatorContract, NoColumnsIsNothingToDo) {
  for_each_matrix([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a) {
    check_product(ctx(), A, a, Op::none, {1, 0}, 0, Layout::row_major, Layout::row_major, 4, 1);
  });
}

TEST_P(OperatorContract, ShortFormIsAlphaOneBetaZero) {
  for_each_matrix([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a) {
    auto x = values_of<T>(a.cols, 3);
    Guarded<T> gx(ctx(), x), y(ctx(), std::vector<double>(a.rows, nan));
    A.apply(ctx(), gx.in(), y.view());
    EXPECT_TRUE(within(A.traits().precision, real_of<T>, exact_apply(a, Op::none, 1, x, 0, {}, 1),
                       y.get()));
    EXPECT_TRUE(y.untouched());
  });
}

TEST_P(OperatorContract, IsLinear) {  // A (s x + t z) = s A x + t A z
  for_each_matrix([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a) {
    double s = rounded<T>(1.7), t = rounded<T>(-0.3);
    auto x = values_of<T>(a.cols, 21), z = values_of<T>(a.cols, 22);
    std::vector<double> w(x.size());
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = s * x[i] + t * z[i];
    Guarded<T> gx(ctx(), x), gz(ctx(), z), gw(ctx(), w);
    std::vector<double> unset(a.rows, nan);
    Guarded<T> left(ctx(), unset), right(ctx(), unset);
    A.apply(ctx(), gw.in(), left.view());
    A.apply(ctx(), T(s), gx.in(), T(0), right.view());
    A.apply(ctx(), T(t), gz.in(), T(1), right.view());
    Exact ex = exact_apply(a, Op::none, s, x, 0, {}, 1),
          ez = exact_apply(a, Op::none, t, z, 0, {}, 1);
    auto l = left.get(), r = right.get();
    for (Index i = 0; i < a.rows; ++i) {
      long double g =
          growth(A.traits().precision, real_of<T>, ex.length[i]) + 3 * roundoff(real_of<T>);
      EXPECT_LE(std::abs(l[i] - r[i]), 3 * g * (ex.magnitude[i] + ez.magnitude[i]) +
                                           3 * underflow(real_of<T>, ex.length[i]));
    }
  });
}

TEST_P(OperatorContract, TransposeIsTheAdjoint) {  // <A x, y> = <x, A^T y>
  for_each_matrix([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a) {
    if (!A.traits().transpose) return;
    auto x = values_of<T>(a.cols, 31), y = values_of<T>(a.rows, 32);
    Guarded<T> gx(ctx(), x), gy(ctx(), y);
    Guarded<T> Ax(ctx(), std::vector<double>(a.rows, nan));
    Guarded<T> Aty(ctx(), std::vector<double>(a.cols, nan));
    A.apply(ctx(), gx.in(), Ax.view());
    A.apply(ctx(), T(1), gy.in(), T(0), Aty.view(), Op::transpose);
    Exact ex = exact_apply(a, Op::none, 1, x, 0, {}, 1),
          ey = exact_apply(a, Op::transpose, 1, y, 0, {}, 1);
    long double left = 0, right = 0, allowed = 0;
    auto ax = Ax.get(), aty = Aty.get();
    Precision p = A.traits().precision;
    for (Index i = 0; i < a.rows; ++i) {
      left += static_cast<long double>(ax[i]) * y[i];
      allowed += (growth(p, real_of<T>, ex.length[i]) * ex.magnitude[i] +
                  underflow(real_of<T>, ex.length[i])) *
                 std::abs(y[i]);
    }
    for (Index j = 0; j < a.cols; ++j) {
      right += static_cast<long double>(aty[j]) * x[j];
      allowed += (growth(p, real_of<T>, ey.length[j]) * ey.magnitude[j] +
                  underflow(real_of<T>, ey.length[j])) *
                 std::abs(x[j]);
    }
    EXPECT_LE(std::abs(left - right), 1.01L * allowed);
  });
}

TEST_P(OperatorContract, SameBitsOnEveryRun) {
  for_each_matrix([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a) {
    for (Index k : {1, 8})
      for (Op op : {Op::none, Op::transpose}) {
        if (op == Op::transpose && !A.traits().transpose) continue;
        Index domain = op == Op::none ? a.cols : a.rows, range = op == Op::none ? a.rows : a.cols;
        Guarded<T> x(ctx(), domain, k, Layout::row_major, 0, values_of<T>(domain * k, 41));
        std::vector<double> first;
        for (int run = 0; run < 3; ++run) {
          Guarded<T> y(ctx(), range, k, Layout::row_major, 0, std::vector<double>(range * k, 0.5));
          A.apply(ctx(), T(1.1), x.in(), T(0.3), y.view(), op);
          if (run == 0) first = y.get();
          auto now = y.get();
          ASSERT_TRUE(now.empty() || std::memcmp(now.data(), first.data(), now.size() * 8) == 0);
        }
      }
  });
}

TEST_P(OperatorContract, InfinityReachesOnlyRowsThatReferToIt) {
  for_each_matrix([&]<class T>(LinearOperator<T> const& A, Csr<double> const& a) {
    if (!A.traits().isolates_nonfinite || a.cols == 0) return;
    auto x = values_of<T>(a.cols, 51);
    for (Index hit : {Index{0}, a.cols / 2, a.cols - 1})
      for (double poison : {inf, nan})
        for (Index k : {1, 8}) {
          std::vector<double> block;
          for (Index j = 0; j < a.cols; ++j)
            for (Index c = 0; c < k; ++c) block.push_back(j == hit && c == k - 1 ? poison : x[j]);
          Guarded<T> gx(ctx(), a.cols, k, Layout::row_major, 0, block);
          Guarded<T> y(ctx(), a.rows, k, Layout::row_major, 0,
                       std::vector<double>(a.rows * k, 1.0));
          A.apply(ctx(), T(1), gx.in(), T(1), y.view());
          auto got = y.get();
          for (Index i = 0; i < a.rows; ++i) {
            bool refers = false;
            for (Index j : a.row_columns(i)) refers = refers || j == hit;
            for (Index c = 0; c < k; ++c)
              ASSERT_EQ(std::isfinite(got[i * k + c]), !(refers && c == k - 1))
                  << "row " << i << ", column " << c << ", poison in x[" << hit << "]";
          }
        }
  });
}

}  // namespace
}  // namespace tcsolve::test
