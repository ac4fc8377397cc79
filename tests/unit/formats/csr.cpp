// SPDX-License-Identifier: Apache-2.0
/// A caller's own arrays are copied, or go into a CSR operator without a copy where he says so, and
/// what cannot be a matrix is an error.
#include <tcsolve/formats/csr/operator.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class OperatorsCsr : public BackendTest<P> {
 public:
  using T = typename P::Value;
};
TYPED_TEST_SUITE(OperatorsCsr, RealsOnBoth, Label);

/// Products do not depend on whether the norm is taken; long rows are found either way.
TYPED_TEST(OperatorsCsr, NormsMayBeLeftOut) {
  using T = typename TestFixture::T;
  Context& ctx = this->ctx();
  Csr<double> const a = rounded<T>(mixed_rows(300, 900, 3));
  Csr<double> twice = a;
  for (double& v : twice.values) v *= 2;
  double norm = 0;
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) sum += std::abs(a.values[k]);
    norm = std::max(norm, sum);
  }
  Csr<T> const first = converted<T>(a), second = converted<T>(twice);
  CsrOperator<T> with(ctx, CsrStorage<T>(ctx, first.view(), Arrays::copied)),
      without(ctx, CsrStorage<T>(ctx, first.view(), Arrays::copied), CsrNorm::left_out);
  auto const x = rounded<T>(random_values(a.cols, 1)), y0 = rounded<T>(random_values(a.rows, 2));
  for (int const times : {1, 2}) {
    if (times == 2)
      with.update_values(ctx, second.view()), without.update_values(ctx, second.view());
    EXPECT_NEAR(with.norm_estimate(), times * norm, 1e-12 * norm);
    EXPECT_TRUE(std::isnan(without.norm_estimate()));
    Guarded<T> gx(ctx, x), y(ctx, y0), z(ctx, y0);
    with.apply(ctx, T(1), gx.in(), T(0), y.view());
    without.apply(ctx, T(1), gx.in(), T(0), z.view());
    EXPECT_EQ(y.get(), z.get());
  }
}

/// The caller's arrays in the Context's space, with offsets of O.
template <class S, class O>
struct Caller {
  Array<O> offsets;
  Array<std::int32_t> columns;
  Array<S> values;
  CsrView<S> view;
  Caller(Context& ctx, Csr<double> const& a) {
    std::vector<O> o(a.offsets.begin(), a.offsets.end());
    Csr<S> s = converted<S>(a);
    offsets = to_space(ctx, o.data(), o.size());
    columns = to_space(ctx, s.columns.data(), s.columns.size());
    values = to_space(ctx, s.values.data(), s.values.size());
    view = {a.rows,         a.cols,        a.entries(), offsets.data(),
            columns.data(), values.data(), ctx.space()};
  }
};

template <class T, class S, class O>
void check(Context& ctx, Csr<double> const& matrix) {
  Caller<S, O> caller(ctx, matrix);
  CsrOperator<T, S> A(ctx, caller.view, Arrays::borrowed);
  EXPECT_EQ(A.view().values, caller.values.data());
  EXPECT_EQ(A.view().columns, caller.columns.data());
  EXPECT_EQ(A.view().offsets.data, caller.offsets.data());
  EXPECT_EQ(A.view().offsets.wide, sizeof(O) == 8);
  Csr<double> a = rounded<S>(matrix);
  for (Op op : {Op::none, Op::transpose})
    for (Index k : {1, 5}) {
      Index domain = op == Op::none ? a.cols : a.rows, range = op == Op::none ? a.rows : a.cols;
      auto x = rounded<T>(random_values(domain * k, 1)),
           y0 = rounded<T>(random_values(range * k, 2));
      Guarded<T> gx(ctx, domain, k, Layout::row_major, 0, x),
          y(ctx, range, k, Layout::row_major, 0, y0);
      A.apply(ctx, T(2), gx.in(), T(-1), y.view(), op);
      EXPECT_TRUE(
          within(A.traits().precision, real_of<T>, exact_apply(a, op, 2, x, -1, y0, k), y.get()));
      EXPECT_TRUE(y.untouched());
    }
  double offset = sizeof(O);
  EXPECT_DOUBLE_EQ(A.cost(1).bytes, a.entries() * (sizeof(S) + 4.0) + offset * (a.rows + 1) +
                                        sizeof(T) * (double(a.rows) + a.cols));
}

TYPED_TEST(OperatorsCsr, CallersArraysAreViewedWithoutACopy) {
  using T = typename TestFixture::T;
  for (Csr<double> const& a :
       {mixed_rows(300, 280, 1), random_matrix(20, 90, 7, 2), random_matrix(90, 20, 7, 3)}) {
    check<T, T, std::int32_t>(this->ctx(), a);
    check<T, T, std::int64_t>(this->ctx(), a);
    check<T, float, std::int32_t>(this->ctx(), a);
    check<T, half, std::int64_t>(this->ctx(), a);
    check<T, bfloat16, std::int32_t>(this->ctx(), a);
  }
}

TYPED_TEST(OperatorsCsr, NewValuesInTheCallersArraysCount) {
  using T = typename TestFixture::T;
  Csr<double> a{2, 2, {0, 1, 2}, {0, 1}, {3, 4}};
  Caller<T, std::int32_t> caller(this->ctx(), a);
  CsrOperator<T> A(this->ctx(), caller.view, Arrays::borrowed);
  Guarded<T> x(this->ctx(), {1, 1}), y(this->ctx(), {0, 0});
  A.apply(this->ctx(), x.in(), y.view());
  EXPECT_EQ(y.get(), (std::vector<double>{3, 4}));
  std::vector<T> values{5, 6};
  copy_bytes(this->ctx(), caller.values.data(), this->ctx().space(), values.data(), Space::host,
             2 * sizeof(T));
  A.apply(this->ctx(), x.in(), y.view());
  EXPECT_EQ(y.get(), (std::vector<double>{5, 6}));
}

TYPED_TEST(OperatorsCsr, AHostMatrixIsBorrowedOrCopiedToTheDevice) {
  using T = typename TestFixture::T;
  Csr<T> a = converted<T>(dominant(30, 4, 1));
  CsrOperator<T> A(this->ctx(), a.view(), Arrays::borrowed);
  EXPECT_EQ(A.view().space, this->ctx().space());
  EXPECT_EQ(A.view().values == a.values.data(), this->ctx().space() == Space::host);
  EXPECT_EQ(to_host(this->ctx(), A.view()), a);
}

/// On the host as on the device: what is not said to be borrowed may go.
TYPED_TEST(OperatorsCsr, ACopyOutlivesItsSource) {
  using T = typename TestFixture::T;
  Csr<T> const a = converted<T>(dominant(30, 4, 1));
  auto const of = [&]<class O>(O) {
    Caller<T, O> const caller(this->ctx(), dominant(30, 4, 1));
    auto A = std::make_shared<CsrOperator<T>>(this->ctx(), caller.view);
    EXPECT_NE(A->view().values, caller.view.values);
    EXPECT_NE(A->view().columns, caller.view.columns);
    EXPECT_NE(A->view().offsets.data, caller.view.offsets.data);
    EXPECT_EQ(A->view().offsets.wide, sizeof(O) == 8);
    return A;
  };
  EXPECT_EQ(to_host(this->ctx(), of(std::int32_t{})->view()), a);
  EXPECT_EQ(to_host(this->ctx(), of(std::int64_t{})->view()), a);
  std::shared_ptr<CsrOperator<T>> A;
  {
    Csr<T> const host = a;
    A = std::make_shared<CsrOperator<T>>(this->ctx(), host.view());
    EXPECT_NE(A->view().values, host.values.data());
  }
  EXPECT_EQ(to_host(this->ctx(), A->view()), a);
}

TYPED_TEST(OperatorsCsr, WhatIsNoMatrixIsAnError) {
  using T = typename TestFixture::T;
  Csr<T> const good = converted<T>(dominant(5, 3, 1));
  auto const message = [&](auto const& spoil) -> std::string {
    Csr<T> a = good;
    CsrView<T> view = a.view();
    spoil(a, view);
    for (Arrays arrays : {Arrays::copied, Arrays::borrowed}) try {
        CsrOperator<T> const A(this->ctx(), view, arrays);
        return "";
      } catch (MatrixError const& e) {
        if (arrays == Arrays::borrowed) return e.what();
      }
    return "";
  };
  EXPECT_THAT(message([](Csr<T>& a, CsrView<T>&) {
                for (Index& column : a.columns) ++column;  // Fortran's
              }),
              testing::HasSubstr("is outside [1, 5]"));
  EXPECT_THAT(message([](Csr<T>& a, CsrView<T>&) { a.columns[0] = -1; }),
              testing::HasSubstr("CSR row 1: column 0 is outside [1, 5]"));
  EXPECT_THAT(message([](Csr<T>& a, CsrView<T>&) { a.columns.back() = 1000000000; }),
              testing::HasSubstr("CSR row 5: column 1000000001 is outside"));
  EXPECT_THAT(message([](Csr<T>&, CsrView<T>& view) { view.entries /= 2; }),
              testing::HasSubstr("they must ascend to"));
  EXPECT_THAT(message([](Csr<T>&, CsrView<T>& view) { ++view.entries; }),
              testing::HasSubstr("the last offset is"));
  EXPECT_THAT(message([](Csr<T>&, CsrView<T>& view) { view.columns = nullptr; }),
              testing::HasSubstr("null arrays"));
  EXPECT_THAT(message([](Csr<T>&, CsrView<T>& view) { view.values = nullptr; }),
              testing::HasSubstr("null arrays"));
  EXPECT_THAT(message([](Csr<T>& a, CsrView<T>& view) {
                Csr<T> const there = std::move(a);
                a.rows = there.rows;
                view = a.view();
              }),
              testing::HasSubstr("moved from"));
  EXPECT_EQ(message([](Csr<T>& a, CsrView<T>&) { std::swap(a.columns[0], a.columns[1]); }), "")
      << "a product needs no order";
}

TEST(CsrFrom, TakesOtherIntegersAndBases) {
  std::vector<double> const values{4, 1, 3};
  Csr<double> const a{2, 3, {0, 2, 3}, {0, 2, 1}, {4, 1, 3}};
  EXPECT_EQ(csr_from(std::vector<std::size_t>{0, 2, 3}, std::vector<unsigned>{0, 2, 1}, values, 3),
            a);
  EXPECT_EQ(
      csr_from(std::vector<long long>{1, 3, 4}, std::vector<long long>{1, 3, 2}, values, 3, 1), a);
  EXPECT_EQ(csr_from(std::vector<int>{0}, std::vector<int>{}, std::vector<float>{}, 7).cols, 7);
  auto const message = [&](auto const& offsets, auto const& columns, int base) -> std::string {
    try {
      csr_from(offsets, columns, values, 3, base);
    } catch (MatrixError const& e) { return e.what(); }
    return "";
  };
  using Wide = std::vector<std::int64_t>;
  EXPECT_THAT(message(Wide{0, 2, 3}, Wide{0, 2, 1}, 1), testing::HasSubstr("offsets[0] is -1"));
  EXPECT_THAT(message(Wide{0, 2, 3}, Wide{0, std::int64_t{1} << 32, 1}, 0),
              testing::HasSubstr("row 1: column 0 is outside"));
  EXPECT_THAT(message(Wide{0, 2, 3}, std::vector<std::size_t>{0, std::size_t(-1), 1}, 0),
              testing::HasSubstr("row 1"));
  EXPECT_THAT(message(Wide{}, Wide{0, 2, 1}, 0), testing::HasSubstr("offsets are empty"));
  EXPECT_THAT(message(Wide{0, 2, 3}, Wide{0, 2}, 0), testing::HasSubstr("2 columns and 3 values"));
}

TYPED_TEST(OperatorsCsr, OwnedMatrixOutlivesItsSource) {
  using T = typename TestFixture::T;
  OperatorPtr<T> A;
  Csr<double> a = dominant(100, 5, 2);
  {
    Csr<T> temporary = converted<T>(a);
    A = std::make_shared<CsrOperator<T>>(this->ctx(), std::move(temporary));
  }
  auto x = rounded<T>(random_values(100, 1));
  Guarded<T> gx(this->ctx(), x), y(this->ctx(), std::vector<double>(100, 0));
  A->apply(this->ctx(), gx.in(), y.view());
  EXPECT_TRUE(within(A->traits().precision, real_of<T>,
                     exact_apply(rounded<T>(a), Op::none, 1, x, 0, {}, 1), y.get()));
}

TEST(OperatorsCsrHost, DeviceArraysNeedADeviceContext) {
  Context ctx(Backend::host);
  Csr<double> a = dominant(3, 2, 1);
  CsrView<double> view = a.view();
  view.space = Space::cuda;
  std::string text = message_of<ShapeError>([&] { CsrOperator<double> A(ctx, view); });
  EXPECT_NE(text.find("device"), std::string::npos) << text;
}

}  // namespace
}  // namespace tcsolve::test
